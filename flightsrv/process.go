package flightsrv

import "runtime/metrics"

// process is what stats says of the server's process.
type process struct {
	Goroutines     uint64 `json:"goroutines"`
	AllocatedBytes uint64 `json:"allocated_bytes"` // on Go's heap since the start, freed or not
	HeapBytes      uint64 `json:"heap_bytes"`      // of objects on it, now
	Collections    uint64 `json:"collections"`     // of garbage since the start
}

func processNow() process {
	var p process
	read := []struct {
		name string
		to   *uint64
	}{
		{"/sched/goroutines:goroutines", &p.Goroutines},
		{"/gc/heap/allocs:bytes", &p.AllocatedBytes},
		{"/memory/classes/heap/objects:bytes", &p.HeapBytes},
		{"/gc/cycles/total:gc-cycles", &p.Collections},
	}
	samples := make([]metrics.Sample, len(read))
	for i, r := range read {
		samples[i].Name = r.name
	}
	metrics.Read(samples)
	for i, r := range read {
		*r.to = samples[i].Value.Uint64()
	}
	return p
}

// Package process reads the numbers of the server's process.
package process

import "runtime/metrics"

// Stats is the part of the action stats about the server's process.
type Stats struct {
	Goroutines     uint64 `json:"goroutines"`
	AllocatedBytes uint64 `json:"allocated_bytes"` // on Go's heap since the start, also what was freed
	HeapBytes      uint64 `json:"heap_bytes"`      // of the objects on it now
	Collections    uint64 `json:"collections"`     // garbage collections since the start
}

// Read returns the current numbers.
func Read() Stats {
	var p Stats
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

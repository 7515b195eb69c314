package model

import "github.com/vibeflight/vibeflight/integration/fleetsim/sample"

// Level is where the table of a read came from.
type Level int

// Levels, the fastest first. A read that waited for a parse or a fetch of another read has its level.
const (
	Mapped Level = iota
	Disk
	Fetched
	Parsed
	levels
)

// Result is what a run measured. Shares, bytes, latencies and utilisations are those after the warmup,
// parses those of the whole run.
type Result struct {
	Replicas  int     `json:"replicas"`
	Placement string  `json:"placement"`
	Reads     int     `json:"reads"`
	Seconds   float64 `json:"seconds"`    // simulated
	PerSecond float64 `json:"per_second"` // reads

	Hits      Hits    `json:"hits"`
	Distinct  int     `json:"distinct_files"`
	Parses    int     `json:"parses"`
	PerFile   float64 `json:"parses_per_file"`
	Fetches   int     `json:"fetches"`     // of whole tables from the shared cache
	Waits     int     `json:"lease_waits"` // tables that a replica waited for while another one parsed
	Takeovers int     `json:"takeovers"`
	Deaths    int     `json:"deaths"`
	Lost      int     `json:"lost_parses"` // by the death of the owner
	Retries   int     `json:"retries"`     // reads that were made again

	Bytes   Bytes   `json:"bytes"`
	Latency Latency `json:"latency_seconds"`
	Use     Use     `json:"utilisation"`
}

// Hits are the shares of the reads by level. Their sum is 1.
type Hits struct {
	Mapped float64 `json:"mapped"`
	Disk   float64 `json:"disk"`
	Shared float64 `json:"shared"`
	Parse  float64 `json:"parse"`
}

// Bytes are those that were moved.
type Bytes struct {
	Clients float64 `json:"replicas_to_clients"`
	Fetched float64 `json:"bucket_to_replicas"`
	Upload  float64 `json:"uploads"`
	Disk    float64 `json:"disk_reads"`
}

// Latency is that of reads, from the call to the last byte.
type Latency struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// Use is the share of each capacity that was used.
type Use struct {
	CPU     float64 `json:"cpu"` // mean of the replicas
	CPUMax  float64 `json:"cpu_max"`
	Bucket  float64 `json:"bucket"`
	Clients float64 `json:"client_cpu"`
	Busiest float64 `json:"busiest_reads"` // reads of the busiest replica in relation to the mean
	Present float64 `json:"mean_reads_in_progress"`
}

// counts are kept during a run.
type counts struct {
	started   float64 // time at which counting began
	levels    [levels]int
	latency   sample.Histogram
	bytes     Bytes
	present   float64 // integral of the number of reads in progress
	changed   float64 // time of the last change of that number
	perServer []int
	done      []float64 // work of each group at the start
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Package model simulates a fleet of replicas that share a catalog and a cache of parsed tables:
// which level of the caches answers each read, who parses, how many bytes move, and how long reads
// take. docs/explanation/fleet-simulation.md says what is modelled and what is not.
//
// Times are in seconds, sizes in bytes. GB is 10^9 bytes. A rate of 0 is no limit.
package model

import (
	"fmt"
	"math"
)

// Config describes a fleet, its files and its readers. The JSON names are those of figures.json.
type Config struct {
	Seed      uint64    `json:"seed"`
	Replicas  int       `json:"replicas"`
	Files     Files     `json:"files"`
	Reads     Reads     `json:"reads"`
	Client    Client    `json:"client"`
	Host      Host      `json:"host"`
	Replica   Replica   `json:"replica"`
	Costs     Costs     `json:"costs"`
	Shared    Bucket    `json:"shared"`
	Leases    Leases    `json:"leases"`
	Deaths    Deaths    `json:"deaths"`
	Placement Placement `json:"placement"`
}

// Files are the data files. A table is Ratio times as large as its data file.
type Files struct {
	Count  int       `json:"count"`
	Median float64   `json:"median_bytes"`
	Sigma  float64   `json:"sigma"` // deviation of the logarithm of the size
	Sizes  []float64 `json:"sizes,omitempty"`
	Ratio  float64   `json:"table_ratio"`
}

// Reads are what clients ask for. The popularity of files has a Zipf distribution; file 0 is the most
// popular one. With a Rate, reads arrive as a Poisson process. Without, each client reads again Think
// after its last read.
type Reads struct {
	Count    int     `json:"count"`
	Warmup   int     `json:"warmup"` // reads at the start that only fill the caches
	Zipf     float64 `json:"zipf"`
	Rate     float64 `json:"rate"`
	Clients  int     `json:"clients"`
	Think    float64 `json:"think_seconds"`
	Partial  float64 `json:"partial_share"`    // of the reads, that are for a part of a table
	Fraction float64 `json:"partial_fraction"` // of the table that such a read is for
	Info     bool    `json:"info"`             // whether GetFlightInfo precedes each DoGet
	Loads    bool    `json:"info_loads"`       // whether GetFlightInfo begins to load a table that is known
}

// Client is the clients' side: network, and CPU that receiving takes.
type Client struct {
	Link         float64 `json:"bytes_per_second"` // of each client
	RoundTrip    float64 `json:"round_trip_seconds"`
	CallSeconds  float64 `json:"cpu_call_seconds"`
	SecondsPerGB float64 `json:"cpu_seconds_per_gb"`
	Cores        float64 `json:"cores"`   // of all clients; 0 is no limit
	OnHost       bool    `json:"on_host"` // whether they and the store share the cores of the first host
}

// Host is the machines' limit. Clients and the store may share the cores of the first host.
type Host struct {
	Cores    float64 `json:"cores"`    // of each host; 0 is those that its replicas may use
	Replicas int     `json:"replicas"` // on each host
}

// Replica is what each replica has.
type Replica struct {
	Cores      float64 `json:"cores"`
	Slots      int     `json:"parse_slots"` // files that are parsed at a time
	Workers    int     `json:"workers"`     // threads of a parse
	Link       float64 `json:"bytes_per_second"`
	CacheBytes float64 `json:"cache_bytes"`
	Memory     float64 `json:"memory_bytes"` // for the pages of mapped tables
	Disk       float64 `json:"disk_bytes_per_second"`
}

// Costs is the CPU time of a replica.
type Costs struct {
	InfoSeconds       float64 `json:"info_seconds"`
	ReadSeconds       float64 `json:"read_seconds"` // of a DoGet, in addition to its bytes
	ReadSecondsPerGB  float64 `json:"read_seconds_per_gb"`
	OpenSeconds       float64 `json:"open_seconds"`         // when a table is mapped
	CheckSecondsPerGB float64 `json:"check_seconds_per_gb"` // when its bytes are used for the first time
	ParseSeconds      float64 `json:"parse_seconds"`
	ParseSecondsPerGB float64 `json:"parse_seconds_per_gb"` // of the data file
	SaveSeconds       float64 `json:"save_seconds"`
	SaveSecondsPerGB  float64 `json:"save_seconds_per_gb"`
	PutSeconds        float64 `json:"upload_seconds"`
	PutSecondsPerGB   float64 `json:"upload_seconds_per_gb"`
	FetchSeconds      float64 `json:"fetch_seconds"`
	FetchSecondsPerGB float64 `json:"fetch_seconds_per_gb"`
	StoreSeconds      float64 `json:"store_seconds"` // of the store's host, for a parse
}

// Bucket is the shared cache.
type Bucket struct {
	Enabled bool    `json:"enabled"`
	Full    bool    `json:"full"` // has all tables at the start
	Bytes   float64 `json:"bytes"`
	Latency float64 `json:"latency_seconds"`  // of a request
	Rate    float64 `json:"bytes_per_second"` // of all replicas together
	Link    float64 `json:"replica_bytes_per_second"`
	Footer  float64 `json:"footer_bytes"` // that each fetch of a part begins with
}

// Leases are those of the store. Without them each replica parses for itself.
type Leases struct {
	Enabled bool    `json:"enabled"`
	Acquire float64 `json:"statement_seconds"` // of each statement of the store
	PollMin float64 `json:"poll_min_seconds"`
	PollMax float64 `json:"poll_max_seconds"`
	Expiry  float64 `json:"expiry_seconds"`
	Renew   float64 `json:"renew_seconds"`
}

// Deaths are replicas that end without notice. Their calls are made again elsewhere.
type Deaths struct {
	PerHour   float64 `json:"per_replica_hour"`
	Restart   float64 `json:"restart_seconds"`
	KeepsDisk bool    `json:"keeps_disk"` // whether its folder of tables outlives a replica
	Retry     float64 `json:"retry_seconds"`
}

// Placement says which replica serves a read.
type Placement struct {
	Kind string `json:"kind"` // Random or Rendezvous
	// A replica is overloaded from Cap × the mean of the loads, plus Free calls. A Cap of 0 is no cap.
	Cap  float64 `json:"cap"`
	Free float64 `json:"free_calls"`
	// Of the calls that a replica has sent to each since the last announcement, the same with FreeSent.
	// They are not counted if it is 0.
	FreeSent float64 `json:"free_sent"`
	Age      float64 `json:"load_age_seconds"` // time between announcements of the load; 0: it is always known
	// Keepers prefers the replicas that have the table. They are known from one to two times Known
	// after the first of them got it.
	Keepers bool    `json:"keepers"`
	Known   float64 `json:"keepers_known_seconds"`
}

// Kinds of placement.
const (
	Random     = "random"     // the balancer's choice
	Rendezvous = "rendezvous" // the first replica of the file's order that is not overloaded
)

const maxReplicas = 1 << 14

// check reports the first value that makes no sense.
func (c *Config) check() error {
	for _, rule := range []struct {
		broken bool
		text   string
	}{
		{c.Replicas < 1 || c.Replicas > maxReplicas, fmt.Sprintf("replicas: not between 1 and %d", maxReplicas)},
		{c.Files.Count < 1 || c.Files.Count > math.MaxInt32, "files.count: not positive, or too large"},
		{c.Files.Ratio <= 0, "files.table_ratio: not positive"},
		{len(c.Files.Sizes) == 0 && c.Files.Median <= 0, "files.median_bytes: not positive"},
		{c.Reads.Count < 1 || c.Reads.Warmup >= c.Reads.Count, "reads.count: not more than reads.warmup"},
		{c.Reads.Rate <= 0 && c.Reads.Clients < 1, "reads: neither a rate nor clients"},
		{c.Reads.Partial > 0 && (c.Reads.Fraction <= 0 || c.Reads.Fraction > 1), "reads.partial_fraction: not a share"},
		{c.Replica.Cores <= 0, "replica.cores: not positive"},
		{c.Replica.Slots < 1 || c.Replica.Workers < 1, "replica: parse_slots or workers not positive"},
		{c.Client.OnHost && c.Host.Cores <= 0, "client.on_host: host.cores is not given"},
		{c.Leases.Enabled && c.Leases.PollMax < c.Leases.PollMin, "leases.poll_max_seconds: less than the minimum"},
		{c.Leases.Enabled && c.Leases.PollMax <= 0, "leases.poll_max_seconds: not positive"},
		{
			c.Placement.Kind != Random && c.Placement.Kind != Rendezvous,
			fmt.Sprintf("placement.kind: %q is not %s or %s", c.Placement.Kind, Random, Rendezvous),
		},
		{c.Placement.Cap != 0 && c.Placement.Cap < 1, "placement.cap: less than 1"},
	} {
		if rule.broken {
			return fmt.Errorf("%s", rule.text)
		}
	}
	return nil
}

// limit returns a rate, infinite if it is 0.
func limit(rate float64) float64 {
	if rate == 0 {
		return math.Inf(1)
	}
	return rate
}

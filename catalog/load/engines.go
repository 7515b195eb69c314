package load

import "github.com/vibeflight/vibeflight/readers"

// Engines chooses the engine that parses a file, on a GPU or on the CPU, and counts its work. It is
// safe for concurrent use.
type Engines interface {
	// For returns the engine for a file of a format and a size in bytes, or nil for the CPU engine.
	For(format string, bytes int64) readers.Engine
	// Stats returns the current numbers.
	Stats() EngineStats
}

// EngineStats are the numbers of the engines since the process began.
type EngineStats struct {
	// Choice describes the choice for people: "cpu", "auto: cuda from 112 MiB on".
	Choice  string                          `json:"choice"`
	Devices []DeviceStats                   `json:"devices"` // GPUs in use
	Formats map[string]readers.EngineCounts `json:"formats"` // by name, those that GPUs parse
}

// DeviceStats are the numbers of a GPU.
type DeviceStats struct {
	Name        string `json:"name"`
	Arch        string `json:"arch"` // "sm_90"
	MemoryBytes int64  `json:"memory_bytes"`
	UsedBytes   int64  `json:"used_bytes"`  // of that, by this process, now
	PeakBytes   int64  `json:"peak_bytes"`  // maximum of UsedBytes
	TableBytes  int64  `json:"table_bytes"` // in addition, for tables that clients read there, now
	Faults      int64  `json:"faults"`
	LastFault   string `json:"last_fault,omitempty"`
}

// Parser returns the parser for a file of a size in bytes.
func (c *Loader) Parser(f readers.Format, layout readers.Layout, bytes int64) readers.Parser {
	if c.Engines != nil {
		if e := c.Engines.For(f.Name, bytes); e != nil {
			return e.Parser(layout)
		}
	}
	return f.CPU(layout)
}

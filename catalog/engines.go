package catalog

import "github.com/vibeflight/vibeflight/readers"

// Engines says who parses a file, an engine on cards or the CPU engine, and what they did. Several
// goroutines ask.
type Engines interface {
	// For gives the engine for a file of a format, of so many bytes, or nil: it is the CPU
	// engine's.
	For(format string, bytes int64) readers.Engine
	// Stats gives the numbers of this moment.
	Stats() EngineStats
}

// EngineStats are the numbers of the engines since the process began.
type EngineStats struct {
	// who parses, for people: "cpu", "auto: cuda from 112 MiB on"
	Choice  string                          `json:"choice"`
	Devices []DeviceStats                   `json:"devices"` // cards in use
	Formats map[string]readers.EngineCounts `json:"formats"` // by name, those that cards parse
}

// DeviceStats are the numbers of a card.
type DeviceStats struct {
	Name        string `json:"name"` // lanes.CardName
	Arch        string `json:"arch"` // "sm_90"
	MemoryBytes int64  `json:"memory_bytes"`
	UsedBytes   int64  `json:"used_bytes"` // of that, by this process, now
	PeakBytes   int64  `json:"peak_bytes"` // the most it ever was
	Faults      int64  `json:"faults"`
	LastFault   string `json:"last_fault,omitempty"`
}

// parser is the engine that reads a file of so many bytes.
func (c *Catalog) parser(f readers.Format, layout readers.Layout, bytes int64) readers.Parser {
	if c.cfg.Engines != nil {
		if e := c.cfg.Engines.For(f.Name, bytes); e != nil {
			return e.Parser(layout)
		}
	}
	return f.CPU(layout)
}

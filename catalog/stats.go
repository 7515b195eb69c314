package catalog

import (
	"time"

	"github.com/vibeflight/vibeflight/catalog/lease"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/sharedcache"
	"github.com/vibeflight/vibeflight/catalog/store/shared"
	"github.com/vibeflight/vibeflight/catalog/tree"
)

// Stats are the catalog's numbers since it was opened.
type Stats struct {
	Roots         int     `json:"roots"`
	Entries       int     `json:"entries"`
	Tables        int     `json:"tables"`         // parsed and kept
	Bytes         int64   `json:"bytes"`          // of them, in memory or mapped
	HeldTables    int     `json:"held_tables"`    // of them, in use
	HeldBytes     int64   `json:"held_bytes"`     // of those
	BudgetBytes   int64   `json:"budget_bytes"`   // Config.MemoryBytes
	Hits          int64   `json:"hits"`           // calls that found a table
	Misses        int64   `json:"misses"`         // calls that began a parse
	Shared        int64   `json:"shared"`         // calls that joined one
	Evictions     int64   `json:"evictions"`      // for the budget
	Parsing       int     `json:"parsing"`        // under way
	Parses        int64   `json:"parses"`         // that ended, with or without an error
	ParseErrors   int64   `json:"parse_errors"`   // that were returned to a caller
	ParseSeconds  float64 `json:"parse_seconds"`  // all of them together
	MembersParsed int64   `json:"members_parsed"` // small files of datasets
	// files that clients are sending to have them parsed, which count nowhere else
	Sent             int     `json:"sent"`
	Scans            int64   `json:"scans"`             // walks over all folders
	ScanSeconds      float64 `json:"scan_seconds"`      // of the last one
	UnwatchedFolders int     `json:"unwatched_folders"` // that inotify does not watch

	Stores      []tree.StoreStats  `json:"stores,omitempty"`       // roots that are URLs
	Cache       *persist.Stats     `json:"cache,omitempty"`        // nil: no cache on disk
	SharedCache *sharedcache.Stats `json:"shared_cache,omitempty"` // nil: no Config.SharedCache
	Engines     *EngineStats       `json:"engines,omitempty"`      // nil: no Config.Engines
	Leases      *lease.Stats       `json:"leases,omitempty"`       // of parses; nil: no Config.Fleet
	// of the store that servers share; nil: no Config.Shared
	SharedStore *shared.Stats `json:"shared_store,omitempty"`
}

// Stats returns the current numbers.
func (c *Catalog) Stats() Stats {
	f, t := c.tree.Stats(), c.tables.Stats()
	s := Stats{
		Stores:        f.Stores,
		MembersParsed: c.datasets.Parsed(),
		Roots:         f.Roots, Entries: f.Entries, Sent: c.inbox.Sending(), Scans: f.Scans,
		ScanSeconds: f.ScanTime.Seconds(), UnwatchedFolders: f.Unwatched,
		Tables: t.Tables, Bytes: t.Bytes, HeldTables: t.HeldTables, HeldBytes: t.HeldBytes, BudgetBytes: t.Budget,
		Hits: t.Hits, Misses: t.Misses, Shared: t.Shared, Evictions: t.Evictions, Parsing: t.Parsing,
		Parses: t.Parses, ParseErrors: t.ParseErrors, ParseSeconds: t.ParseTime.Seconds(),
	}
	if e := c.cfg.Engines; e != nil {
		stats := e.Stats()
		s.Engines = &stats
	}
	if k := c.loader.Leases; k != nil {
		stats := k.Stats()
		s.Leases = &stats
	}
	if c.cfg.Shared != nil {
		stats := c.cfg.Shared.Stats()
		s.SharedStore = &stats
	}
	if c.archive.OnDisk() {
		s.Cache = c.archive.Stats()
		s.Cache.MappedTables, s.Cache.BytesChecked = t.Mapped, t.BytesChecked
		s.Cache.Parts, _ = c.loader.Parts()
	}
	if shared := c.archive.Shared(); shared != nil {
		s.SharedCache = shared.Stats()
	}
	return s
}

// Progress is what tells a catalog that is stuck from one that is busy.
type Progress struct {
	Scanning time.Duration // of the walk over the folders that is under way; 0: none
	Parsing  int           // parses that have a slot
	Full     bool          // no slot is free
	Work     int64         // changes whenever a parse reads or ends
}

// Progress returns the present progress. It waits for no file system.
func (c *Catalog) Progress() Progress {
	p := Progress{Scanning: c.tree.Scanning()}
	p.Parsing, p.Full, p.Work = c.tables.Activity()
	return p
}

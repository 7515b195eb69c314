package catalog

import "time"

// Stats are the catalog's numbers since it was opened.
type Stats struct {
	Roots        int     `json:"roots"`
	Entries      int     `json:"entries"`
	Tables       int     `json:"tables"`        // parsed and kept
	Bytes        int64   `json:"bytes"`         // of them, in memory or mapped
	HeldTables   int     `json:"held_tables"`   // of them, in use
	HeldBytes    int64   `json:"held_bytes"`    // of those
	BudgetBytes  int64   `json:"budget_bytes"`  // Config.MemoryBytes
	Hits         int64   `json:"hits"`          // askers who found a table
	Misses       int64   `json:"misses"`        // askers who began a parse
	Shared       int64   `json:"shared"`        // askers who joined one
	Evictions    int64   `json:"evictions"`     // for the budget
	Parsing      int     `json:"parsing"`       // under way
	Parses       int64   `json:"parses"`        // ended, well or not
	ParseErrors  int64   `json:"parse_errors"`  // that somebody was told of
	ParseSeconds float64 `json:"parse_seconds"` // all of them together
	// files that clients send to have them parsed, under way; they count nowhere else
	Sent             int     `json:"sent"`
	Scans            int64   `json:"scans"`             // looks at all folders
	ScanSeconds      float64 `json:"scan_seconds"`      // of the last one
	UnwatchedFolders int     `json:"unwatched_folders"` // followed by those looks alone

	Cache   *CacheStats  `json:"cache,omitempty"`   // nil: there is none on disk
	Engines *EngineStats `json:"engines,omitempty"` // nil: there is no Config.Engines
}

// CacheStats are the numbers of the tables on disk.
type CacheStats struct {
	Tables       int   `json:"tables"`
	Bytes        int64 `json:"bytes"`
	BudgetBytes  int64 `json:"budget_bytes"`  // Config.CacheBytes
	WritingBytes int64 `json:"writing_bytes"` // reserved for files that are being written
	MappedTables int   `json:"mapped_tables"` // open now
	BytesChecked int64 `json:"bytes_checked"` // read from the tables that are open, to compare sums and to search
	Loads        int64 `json:"loads"`         // tables opened instead of parsed
	Saves        int64 `json:"saves"`         // tables written
	SaveErrors   int64 `json:"save_errors"`   // that were not
	Extensions   int64 `json:"extensions"`    // parses of nothing but what was appended to a file
	Parts        int64 `json:"parts"`         // tickets for which a part of a file was parsed, whose table was lost
	Damaged      int64 `json:"damaged"`       // removed, because they were not what was written
	Evictions    int64 `json:"evictions"`     // for the budget
}

// Stats gives the numbers of this moment.
func (c *Catalog) Stats() Stats {
	s := Stats{
		Roots: len(c.roots), Entries: len(c.index.Load().names), Sent: len(c.sending), Scans: c.scans.Load(),
		ScanSeconds: time.Duration(c.scanTime.Load()).Seconds(), UnwatchedFolders: c.watch.unwatched(),
	}
	if e := c.cfg.Engines; e != nil {
		stats := e.Stats()
		s.Engines = &stats
	}
	if a := c.archive; a != nil { // before tables are locked: it may list a folder
		d := a.dir.Stats()
		s.Cache = &CacheStats{
			Tables: d.Tables, Bytes: d.Bytes, BudgetBytes: d.BudgetBytes, WritingBytes: d.WritingBytes,
			Loads: a.loads.Load(), Saves: a.saves.Load(), SaveErrors: a.saveErrors.Load(),
			Extensions: a.extensions.Load(), Parts: c.parts.Load(), Damaged: a.damaged.Load(), Evictions: d.Evictions,
		}
	}
	t := c.tables
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, same := range t.byName {
		for _, p := range same {
			if p.file != nil && s.Cache != nil {
				s.Cache.MappedTables++
				s.Cache.BytesChecked += p.file.BytesChecked()
			}
			s.Tables++
			s.Bytes += p.table.Bytes
			if p.pins > 0 {
				s.HeldTables++
				s.HeldBytes += p.table.Bytes
			}
		}
	}
	s.BudgetBytes, s.Parsing = t.budget, len(t.flights)
	s.Hits, s.Misses, s.Shared, s.Evictions = t.count.hits, t.count.misses, t.count.shared, t.count.evictions
	s.Parses, s.ParseErrors, s.ParseSeconds = t.count.parses, t.count.parseErrors, t.count.parseTime.Seconds()
	return s
}

package persist

// Stats are the numbers of the tables on disk. MappedTables, BytesChecked and Parts are those of
// the catalog.
type Stats struct {
	Tables       int   `json:"tables"`
	Bytes        int64 `json:"bytes"`
	BudgetBytes  int64 `json:"budget_bytes"`  // Config.CacheBytes
	WritingBytes int64 `json:"writing_bytes"` // reserved for files that are being written
	MappedTables int   `json:"mapped_tables"` // open now
	BytesChecked int64 `json:"bytes_checked"` // of open tables, read to compare sums and to search
	Loads        int64 `json:"loads"`         // tables that were opened instead of parsed
	Saves        int64 `json:"saves"`         // tables written
	SaveErrors   int64 `json:"save_errors"`   // that could not be written
	Extensions   int64 `json:"extensions"`    // parses of only the rows appended to a file
	Parts        int64 `json:"parts"`         // tickets for which a part of a file was parsed
	Damaged      int64 `json:"damaged"`       // tables that were removed because their bytes had changed
	Evictions    int64 `json:"evictions"`     // for the budget
	Fetched      int64 `json:"fetched"`       // tables that were fetched completely from the shared cache
}

// Stats returns the current numbers.
func (a *Archive) Stats() *Stats {
	d := a.dir.Stats()
	return &Stats{
		Tables: d.Tables, Bytes: d.Bytes, BudgetBytes: d.BudgetBytes, WritingBytes: d.WritingBytes,
		Loads: a.loads.Load(), Saves: a.saves.Load(), SaveErrors: a.saveErrors.Load(),
		Extensions: a.extensions.Load(), Damaged: a.damaged.Load(), Evictions: d.Evictions,
		Fetched: a.fetched.Load(),
	}
}

package catalog

import "time"

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

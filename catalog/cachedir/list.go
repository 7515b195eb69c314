package cachedir

import (
	"cmp"
	"slices"
	"time"
)

// Info is what is known of a table's file without opening it.
type Info struct {
	Key   Key
	Bytes int64
	Used  time.Time // last; to a minute, if it was another server that used it
	InUse bool      // by this Dir
}

// List gives the tables, the one used last first.
func (d *Dir) List() []Info {
	d.refresh()
	d.mu.Lock()
	defer d.mu.Unlock()
	infos := make([]Info, 0, len(d.index))
	for k, e := range d.index {
		if !e.missing {
			infos = append(infos, Info{k, e.bytes, time.Unix(0, e.used), e.holds > 0})
		}
	}
	slices.SortFunc(infos, func(a, b Info) int {
		return cmp.Or(b.Used.Compare(a.Used), slices.Compare(a.Key[:], b.Key[:]))
	})
	return infos
}

// Stats are the numbers of the folder, and of this Dir since it was opened.
type Stats struct {
	Tables       int   `json:"tables"`
	Bytes        int64 `json:"bytes"`         // of them
	HeldTables   int   `json:"held_tables"`   // in use by this Dir
	HeldBytes    int64 `json:"held_bytes"`    // of those, and of those removed meanwhile
	Writing      int   `json:"writing"`       // temporary files of this Dir
	WritingBytes int64 `json:"writing_bytes"` // reserved for them, and written by other servers
	BudgetBytes  int64 `json:"budget_bytes"`
	Hits         int64 `json:"hits"`          // Get gave a table
	Misses       int64 `json:"misses"`        // Get gave none
	Commits      int64 `json:"commits"`       // tables this Dir added
	Evictions    int64 `json:"evictions"`     // tables it removed for the budget or the disk
	EvictedBytes int64 `json:"evicted_bytes"` // of those
}

// Stats gives the numbers of this moment; what other servers did shows within seconds.
func (d *Dir) Stats() Stats {
	d.refresh()
	d.mu.Lock()
	defer d.mu.Unlock()
	s := Stats{
		Writing: len(d.temps), WritingBytes: d.others, BudgetBytes: d.budget, Hits: d.count.hits,
		Misses:  d.count.misses,
		Commits: d.count.commits, Evictions: d.count.evictions, EvictedBytes: d.count.evicted,
	}
	for _, e := range d.index {
		if !e.missing {
			s.Tables++
			s.Bytes += e.bytes
		}
		if e.holds > 0 {
			s.HeldTables++
			s.HeldBytes += e.bytes
		}
	}
	for t := range d.temps {
		s.WritingBytes += t.reserved
	}
	return s
}

// refresh lists the folder if that was not done for a while. Numbers of a while ago are better than
// none, so an error is only logged.
func (d *Dir) refresh() {
	d.mu.Lock()
	known := d.closed || d.fresh()
	d.mu.Unlock()
	if known {
		return
	}
	d.room.Lock()
	defer d.room.Unlock()
	if err := d.scan(); err != nil {
		d.log.Warn().Err(err).Msg("the cache folder cannot be listed")
	}
}

package cachedir

import (
	"cmp"
	"slices"
	"time"
)

// Info describes the file of a table without opening it.
type Info struct {
	Key   Key
	Bytes int64
	Used  time.Time // time of the last use, accurate to a minute for uses by other servers
	InUse bool      // by this Dir
}

// List returns the tables, the most recently used first.
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

// Keys returns the keys of the tables, in no order.
func (d *Dir) Keys() []Key {
	d.refresh()
	d.mu.Lock()
	defer d.mu.Unlock()
	keys := make([]Key, 0, len(d.index))
	for k, e := range d.index {
		if !e.missing {
			keys = append(keys, k)
		}
	}
	return keys
}

// Lists reports whether the table of a key was in the folder when that was last looked at.
func (d *Dir) Lists(k Key) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.index[k]
	return e != nil && !e.missing
}

// Stats describes the folder, and what this Dir did since it was opened.
type Stats struct {
	Tables     int   `json:"tables"`
	Bytes      int64 `json:"bytes"`       // size of all tables
	HeldTables int   `json:"held_tables"` // in use by this Dir
	// their size, including tables that were removed while in use
	HeldBytes    int64 `json:"held_bytes"`
	Writing      int   `json:"writing"`       // temporary files of this Dir
	WritingBytes int64 `json:"writing_bytes"` // reserved for them, and written by other servers
	BudgetBytes  int64 `json:"budget_bytes"`
	Hits         int64 `json:"hits"`    // calls of Get that found a table
	Misses       int64 `json:"misses"`  // calls of Get that found no table
	Commits      int64 `json:"commits"` // tables that this Dir added
	// tables that this Dir removed for the budget or for space on the disk
	Evictions    int64 `json:"evictions"`
	EvictedBytes int64 `json:"evicted_bytes"` // their size
}

// Stats returns the current numbers. It notices changes by other servers within seconds.
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

// refresh lists the folder if the last listing is old. An old listing is better than none, so an
// error is only logged.
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

package tables

import "time"

// Stats are the numbers of a Cache since New.
type Stats struct {
	Tables, HeldTables int   // cached; of those, with holders
	Bytes, HeldBytes   int64 // of the same
	Budget             int64 // Config.Budget
	Memory             int64 // bytes of cached tables that count against it
	Mapped             int   // cached tables that are mapped
	BytesChecked       int64 // of those that were read to compare sums and to search

	Hits, Misses, Shared int64 // calls that found a table, began a parse, joined one
	Evictions            int64 // for the budget
	Parsing              int   // parses under way
	Waiting              int   // calls that wait for them
	Parses               int64 // that ended, with or without an error
	ParseErrors          int64 // that were returned to a caller
	ParseTime            time.Duration
}

// Activity returns the number of parses that have a slot, whether all slots are taken, and a number
// that changes whenever a parse reads or ends.
func (t *Cache) Activity() (running int, full bool, work int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	work = t.count.Parses
	for _, f := range t.calls {
		work += f.BytesRead()
		if packed := f.packed.Load(); packed != nil {
			work += packed.BytesRead()
		}
	}
	running = len(t.slots)
	return running, running == cap(t.slots), work
}

// Stats returns the current numbers.
func (t *Cache) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.count
	s.Budget, s.Parsing = t.cfg.Budget, len(t.calls)
	s.Memory = t.bytes
	for _, f := range t.calls {
		s.Waiting += f.waiters
	}
	for _, same := range t.byName {
		for _, p := range same {
			if p.Mapped() {
				s.Mapped++
				s.BytesChecked += p.BytesChecked()
			}
			s.Tables++
			s.Bytes += p.Table.Bytes
			if p.pins > 0 {
				s.HeldTables++
				s.HeldBytes += p.Table.Bytes
			}
		}
	}
	return s
}

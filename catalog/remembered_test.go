package catalog

import (
	"errors"
	"fmt"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/store"
)

// TestRecordsAreReadAhead expects that a new catalog has the records of the newest files in memory.
// No record outlives a change of its file, or an eviction.
func TestRecordsAreReadAhead(t *testing.T) {
	w := newWorld(t, small)
	w.write("a.rows", textOf(3, 100))
	w.write("b.rows", textOf(4, 100))
	c := without(t, w, "a.rows", "b.rows")
	defer w.close(c)
	eventually(t, "both records are in memory", func() error {
		if n := c.archive.CachedRecords(); n != 2 {
			return fmt.Errorf("%d records", n)
		}
		return nil
	})
	must(t, c.archive.Store().Close()) // it is not needed
	w.format.parses.Store(0)
	if h, _, ok, err := c.Recall(t.Context(), Request{Name: "a.rows"}, Selection{}, false); err != nil || !ok {
		t.Errorf("the record of a file is not in memory: %v", err)
	} else {
		h.Release()
	}
	w.write("a.rows", textOf(5, 700))
	eventually(t, "the file has changed", func() error {
		h, _, ok, err := c.Recall(t.Context(), Request{Name: "a.rows"}, Selection{}, false)
		if err != nil || !ok {
			return err
		}
		h.Release()
		return errors.New("the record of another file is used")
	})
	j, err := c.job(t.Context(), Request{Name: "b.rows"})
	must(t, err)
	_ = c.archive.Forget(t.Context(), j) // the store is closed
	c.archive.Put(t.Context(), store.Record{Key: persist.StoreKey(j)})
	if r := c.archive.Recorded(t.Context(), j); r != nil {
		t.Error("a forgotten record is used")
	}
	w.wantParses(0)
}

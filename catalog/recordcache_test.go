package catalog

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

func recordOf(name string, size int64, columns ...string) *fileRecord {
	return &fileRecord{Record: store.Record{
		Key: store.Key{Name: "/" + name}, Format: "rows",
		Identity: source.Identity{Size: size},
	}, columns: readers.Project(columns)}
}

func jobOf(name string, size int64, columns ...string) job {
	return job{format: readers.Format{Name: "rows"}, entry: Entry{
		Path:     "/" + name,
		Identity: source.Identity{Size: size},
	}}.ofColumns(readers.Project(columns))
}

func TestRecent(t *testing.T) {
	r := newRecent()
	has := func(name string, size int64) bool { return r.of(jobOf(name, size)) != nil }
	for i := range mostRecent {
		r.keep(recordOf(strconv.Itoa(i), 1), r.begin())
	}
	if !has("0", 1) { // and is the last one that was asked for, from now on
		t.Error("the first of as many as there is room for is gone")
	}
	r.keep(recordOf("more", 1), r.begin())
	if has("1", 1) || !has("0", 1) || !has("more", 1) {
		t.Error("another one than the one that nobody asked for longest has gone")
	}
	other := jobOf("0", 1)
	other.format.Name = "other"
	if has("0", 2) || r.of(other) != nil {
		t.Error("what is known of a file is told of another one of its name, or in another format")
	}
	r.keep(recordOf("0", 2), r.begin())
	if has("0", 1) || !has("0", 2) || len(r.list) != mostRecent {
		t.Errorf("a file that has changed is not in its place, among %d", len(r.list))
	}
	before := r.begin()
	r.drop(store.Key{Name: "/0"})
	r.keep(recordOf("late", 1), before)
	if has("0", 2) || has("late", 1) {
		t.Error("what was read before a change is kept behind it")
	}
	r.keep(recordOf("0", 3), r.begin())
	r.keep(recordOf("1", 3), r.begin())
	r.forget("/0")
	if has("0", 3) || !has("1", 3) {
		t.Error("a file is known that was forgotten, or another one is not")
	}
}

// TestRecentColumns: what is known of some columns is told of these and fewer, beside what is known
// of others.
func TestRecentColumns(t *testing.T) {
	r := newRecent()
	r.keep(recordOf("0", 1, "a", "b"), r.begin())
	r.keep(recordOf("0", 1, "c"), r.begin())
	for columns, want := range map[string]bool{"a,b": true, "b": true, "c": true, "a,c": false, "d": false} {
		if got := r.of(jobOf("0", 1, strings.Split(columns, ",")...)) != nil; got != want {
			t.Errorf("%s: known %t, want %t", columns, got, want)
		}
	}
	if r.of(jobOf("0", 1)) != nil {
		t.Error("what is known of some columns is told of all")
	}
	r.keep(recordOf("0", 1), r.begin())
	if r.of(jobOf("0", 1)) == nil || r.of(jobOf("0", 1, "a", "c")) == nil || len(r.list) != 1 {
		t.Errorf("what is known of all columns is not in the place of all else, among %d", len(r.list))
	}
	r.keep(recordOf("0", 2, "a"), r.begin())
	if r.of(jobOf("0", 1)) != nil || r.of(jobOf("0", 2, "a")) == nil {
		t.Error("what is known of the file as it was is told still")
	}
}

// TestRemembered: a catalog that begins has in memory what is known of the files that were parsed
// last; nothing of that outlives a file, or an evict.
func TestRemembered(t *testing.T) {
	w := newWorld(t, small)
	w.write("a.rows", textOf(3, 100))
	w.write("b.rows", textOf(4, 100))
	c := without(t, w, "a.rows", "b.rows")
	defer w.close(c)
	kept := func() (n int) {
		c.archive.recent.mu.Lock()
		defer c.archive.recent.mu.Unlock()
		for _, r := range c.archive.recent.list {
			if r.known != nil && len(r.known.Spans) > 0 {
				n++
			}
		}
		return n
	}
	eventually(t, "both files are known", func() error {
		if n := kept(); n != 2 {
			return fmt.Errorf("%d files are known", n)
		}
		return nil
	})
	must(t, c.archive.store.Close()) // nobody asks it
	w.format.parses.Store(0)
	if h, s, err := c.Recall(t.Context(), Request{Name: "a.rows"}, Selection{}, false); err != nil || s == nil {
		t.Errorf("what is known of a file is not in memory: %v", err)
	} else {
		h.Release()
	}
	w.write("a.rows", textOf(5, 700))
	eventually(t, "the file is another one", func() error {
		h, s, err := c.Recall(t.Context(), Request{Name: "a.rows"}, Selection{}, false)
		if err != nil || s == nil {
			return err
		}
		h.Release()
		return errors.New("what was known is told of another file")
	})
	j, err := c.request(Request{Name: "b.rows"})
	must(t, err)
	_ = c.archive.forget(t.Context(), j) // the store can't
	c.archive.put(t.Context(), store.Record{Key: storeKey(j)})
	if r := c.recorded(t.Context(), j); r != nil {
		t.Error("a file is known that was forgotten")
	}
	w.wantParses(0)
}

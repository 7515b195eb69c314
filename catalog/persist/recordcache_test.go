package persist

import (
	"strconv"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

func recordOf(name string, size int64, columns ...string) *Record {
	return &Record{Record: store.Record{
		Key: store.Key{Name: "/" + name}, Format: "rows",
		Identity: source.Identity{Size: size},
	}, columns: readers.Project(columns)}
}

func jobOf(name string, size int64, columns ...string) job.Job {
	return job.Job{Format: readers.Format{Name: "rows"}, Entry: tree.Entry{
		Path:     "/" + name,
		Identity: source.Identity{Size: size},
	}}.OfColumns(readers.Project(columns))
}

func TestRecent(t *testing.T) {
	r := newRecordCache()
	has := func(name string, size int64) bool { return r.of(jobOf(name, size)) != nil }
	for i := range maxRecords {
		r.keep(recordOf(strconv.Itoa(i), 1), r.begin())
	}
	if !has("0", 1) { // this also makes it the most recently used
		t.Error("the first of as many as there is room for is gone")
	}
	r.keep(recordOf("more", 1), r.begin())
	if has("1", 1) || !has("0", 1) || !has("more", 1) {
		t.Error("another one than the one that nobody asked for longest has gone")
	}
	other := jobOf("0", 1)
	other.Format.Name = "other"
	if has("0", 2) || r.of(other) != nil {
		t.Error("what is known of a file is told of another one of its name, or in another format")
	}
	r.keep(recordOf("0", 2), r.begin())
	if has("0", 1) || !has("0", 2) || len(r.list) != maxRecords {
		t.Errorf("a file that has changed is not in its place, among %d", len(r.list))
	}
	before := r.begin()
	r.drop(store.Key{Name: "/0"})
	r.keep(recordOf("late", 1), before)
	if has("0", 2) || has("late", 1) {
		t.Error("what was read before a change is kept after it")
	}
	r.keep(recordOf("0", 3), r.begin())
	r.keep(recordOf("1", 3), r.begin())
	r.forget("/0")
	if has("0", 3) || !has("1", 3) {
		t.Error("a file is known that was forgotten, or another one is not")
	}
}

// TestRecentColumns expects that the statistics of some columns are also found for fewer of them.
// Statistics of other columns are kept in addition.
func TestRecentColumns(t *testing.T) {
	r := newRecordCache()
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

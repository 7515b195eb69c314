package catalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

func TestRestart(t *testing.T) {
	w := newWorld(t)
	asks := [][]string{
		{"a.rows"},
		{"a.rows", "7"},
		{"a.rows", "-5000000000"},
		{"b.rows"},
		{"folder/c.rows", "1"},
		{"empty.rows"},
	}
	if err := os.Mkdir(w.path("folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.write("a.rows", textOf(1, 1234))
	// the last batches have only numbers
	w.write("b.rows", strings.Replace(textOf(2, 567), ";", "text;", 300))
	w.write("folder/c.rows", textOf(3, 1))
	w.write("empty.rows", "")
	c := w.open()
	var before []answer
	for _, ask := range asks {
		a := w.want(c, ask[0], ask[1:]...)
		if a.cached {
			t.Errorf("%q lies in an empty cache", ask)
		}
		a.cached = true
		before = append(before, a)
	}
	w.close(c)
	w.wantParses(int64(len(asks)))
	w.wantTables(len(asks))
	for range 2 {
		c = w.open()
		for i, ask := range asks {
			if after := w.want(c, ask[0], ask[1:]...); !reflect.DeepEqual(after, before[i]) {
				t.Errorf("%q after a restart:\n got %+v\nwant %+v", ask, after, before[i])
			}
		}
		if s := c.Stats().Cache; s == nil || s.Loads != int64(len(asks)) || s.Saves != 0 || s.Tables != len(asks) ||
			s.MappedTables != len(asks) {
			t.Errorf("stats %+v, want %d loads", s, len(asks))
		}
		w.close(c)
		w.wantParses(0)
	}
	w.wantTidy()
}

func TestOptionsOfTheOperatorAreInTheKey(t *testing.T) {
	shift := "1"
	w := newWorld(t, func(c *Config) { c.Options = func(string) map[string]any { return shiftBy(shift) } })
	w.write("a.rows", textOf(1, 100))
	for range 2 {
		for _, shift = range []string{"1", "2"} {
			c := w.open()
			if _, err := ask(t.Context(), c, Request{Name: "a.rows"}, w.read("a.rows")); !errors.Is(err, errWrong) {
				t.Errorf("the option does nothing: %v", err)
			}
			w.want(c, "a.rows", shift)
			w.close(c)
		}
	}
	w.wantParses(2)
}

// keepTime restores the modification time of a file after a change.
func (w *world) keepTime(name string, change func()) {
	w.t.Helper()
	info, err := os.Stat(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	change()
	if err := os.Chtimes(w.path(name), time.Time{}, info.ModTime()); err != nil {
		w.t.Fatal(err)
	}
}

func TestChanges(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(w *world)
		parses int64
		tails  int64
		tables int
	}{
		{"nothing", func(*world) {}, 0, 0, 1},
		{"replaced by one of equal size and time", func(w *world) {
			w.keepTime("a.rows", func() {
				w.write("new", textOf(2, 300))
				must(w.t, os.Rename(w.path("new"), w.path("a.rows")))
			})
		}, 1, 0, 2},
		{"written over with equal size and time", func(w *world) {
			w.keepTime("a.rows", func() { w.write("a.rows", textOf(2, 300)) })
		}, 1, 0, 2},
		{"touched", func(w *world) {
			must(w.t, os.Chtimes(w.path("a.rows"), time.Time{}, time.Unix(1234567890, 1)))
		}, 0, 0, 1},
		{"touched, into the future", func(w *world) {
			must(w.t, os.Chtimes(w.path("a.rows"), time.Time{}, time.Now().Add(time.Hour)))
		}, 0, 0, 1},
		{"written again as it was", func(w *world) { w.write("a.rows", textOf(1, 300)) }, 0, 0, 1},
		{"other size", func(w *world) { w.write("a.rows", textOf(3, 299)) }, 1, 0, 2},
		{"cut off", func(w *world) {
			must(w.t, os.Truncate(w.path("a.rows"), 500))
			w.write("a.rows", textOf(1, 20))
		}, 1, 0, 2},
		{"emptied", func(w *world) { w.write("a.rows", "") }, 1, 0, 2},
		{"rows appended", func(w *world) { w.write("a.rows", textOf(1, 350)) }, 0, 1, 2},
		{"other rows, more of them", func(w *world) { w.write("a.rows", textOf(4, 400)) }, 1, 0, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, restart := range []bool{false, true} {
				w := newWorld(t)
				w.write("a.rows", textOf(1, 300))
				c := w.open()
				before := w.want(c, "a.rows")
				c.awaitSaves()
				w.wantParses(1)
				if restart {
					w.close(c)
				}
				tt.change(w)
				if restart {
					c = w.open()
				}
				after := w.want(c, "a.rows")
				w.want(c, "a.rows")
				if same := after.version == before.version; same != (tt.name == "nothing") {
					t.Errorf("versions %s and %s", before.version, after.version)
				}
				w.close(c)
				c = w.open()
				if a := w.want(c, "a.rows"); !a.cached {
					t.Error("the new content does not lie in the cache")
				}
				w.close(c)
				w.wantParses(tt.parses)
				if got := w.format.tails.Load(); got != tt.tails {
					t.Errorf("%d parses of a tail, want %d", got, tt.tails)
				}
				w.wantTables(tt.tables)
				w.wantTidy()
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestCopyAndRename expects that two files with the same content share one table.
func TestCopyAndRename(t *testing.T) {
	w := newWorld(t)
	w.write("a.rows", textOf(1, 300))
	c := w.open()
	w.want(c, "a.rows")
	w.write("copy.rows", w.read("a.rows"))
	w.want(c, "copy.rows")
	must(t, os.Rename(w.path("a.rows"), w.path("b.rows")))
	w.want(c, "b.rows")
	var missing *NotFoundError
	if _, err := c.Table(t.Context(), Request{Name: "a.rows"}); !errors.As(err, &missing) {
		t.Errorf("the old name gives %v", err)
	}
	w.close(c)
	w.wantTables(1)
	w.format.parses.Store(0)
	c = w.open()
	w.want(c, "copy.rows")
	w.want(c, "b.rows")
	w.close(c)
	w.wantParses(0)
	w.wantTidy()
}

// TestQuickRewrites rewrites a file within one step of the clock, and sets its modification time
// back or into the future. The file counts as changed.
func TestQuickRewrites(t *testing.T) {
	for _, at := range []time.Time{time.Unix(1e9, 0), time.Now().Add(time.Hour)} {
		w := newWorld(t)
		c := w.open()
		for i := range 20 {
			w.write("a.rows", textOf(1+i%9, 3))
			must(t, os.Chtimes(w.path("a.rows"), time.Time{}, at))
			w.want(c, "a.rows")
		}
		w.close(c)
	}
}

func TestChangedWhileItIsParsed(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(w *world)
	}{
		{"written over", func(w *world) { w.write("a.rows", textOf(2, 3000)) }},
		{"written over, time kept", func(w *world) {
			w.keepTime("a.rows", func() { w.write("a.rows", textOf(2, 3000)) })
		}},
		{"replaced", func(w *world) {
			w.write("new", textOf(2, 3000))
			must(w.t, os.Rename(w.path("new"), w.path("a.rows")))
		}},
		{"grown", func(w *world) { w.write("a.rows", textOf(1, 4000)) }},
		{"shrunk", func(w *world) { w.write("a.rows", textOf(1, 2)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// with the second one the chunks go to a file
			for _, memoryBytes := range []int64{0, 1} {
				w := newWorld(t, memory(memoryBytes))
				w.write("a.rows", textOf(1, 3000))
				c := w.open()
				var changed bool
				pause := func(_ context.Context, row int64) error {
					if row == 1500 && !changed {
						changed = true
						tt.change(w)
					}
					return nil
				}
				w.format.pause.Store(&pause)
				h, err := c.Table(t.Context(), Request{Name: "a.rows"})
				if err != nil {
					t.Fatal(err)
				}
				if err := sameRows(t.Context(), h, Selection{}, rowsOfText(w.read("a.rows"), 0)); err != nil ||
					!changed {
					t.Errorf("%v, changed: %v", err, changed)
				}
				h.Release()
				w.close(c)
				w.wantTables(1)
				w.wantTidy()

				pause = func(_ context.Context, row int64) error { // it never waits
					if row != 500 {
						return nil
					}
					w.write("a.rows", fmt.Sprintf("%d;;\n", time.Now().UnixNano())+textOf(3, 2000))
					return nil
				}
				c = w.open()
				w.write("a.rows", textOf(3, 2000))
				if _, err := c.Table(t.Context(), Request{Name: "a.rows"}); !errors.Is(err, source.ErrChanged) {
					t.Errorf("a file that changes all the time gives %v", err)
				}
				w.close(c)
				w.wantTidy()
			}
		})
	}
}

// TestMalformedThenGood expects that the record of a malformed file does not affect a later
// version.
func TestMalformedThenGood(t *testing.T) {
	w := newWorld(t)
	w.write("a.rows", textOf(1, 300)+"!\n")
	for range 2 {
		c := w.open()
		var bad *readers.ParseError
		if _, err := c.Table(t.Context(), Request{Name: "a.rows"}); !errors.As(err, &bad) || bad.Row != 300 {
			t.Errorf("error %v, want a *ParseError in row 300", err)
		}
		w.close(c)
	}
	w.wantTables(0)
	w.write("a.rows", textOf(1, 300))
	c := w.open()
	w.want(c, "a.rows")
	w.close(c)
	w.wantTables(1)
	w.wantTidy()
}

func TestEvictForgetsTheTableInTheCache(t *testing.T) {
	w := newWorld(t)
	w.write("a.rows", textOf(1, 300))
	w.write("b.rows", textOf(2, 300))
	c := w.open()
	w.want(c, "a.rows")
	w.want(c, "b.rows")
	w.close(c)
	c = w.open()
	w.want(c, "b.rows")
	for _, want := range []int{1, 0} {
		if n, err := c.Evict(t.Context(), "a.rows"); n != want || err != nil {
			t.Errorf("Evict gives %d, %v, want %d", n, err, want)
		}
	}
	w.wantTables(1)
	w.wantParses(2)
	w.want(c, "a.rows")
	w.want(c, "b.rows")
	w.wantParses(1)
	w.close(c)
	w.wantTables(2)
}

func TestListAndClearCache(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits = readers.Limits{} })
	w.write("a.rows", textOf(1, 300))
	w.write("b.rows", textOf(2, 200))
	c := w.open()
	w.want(c, "a.rows")
	w.want(c, "b.rows")
	w.close(c)
	formats := readers.Registry{w.format.format()}
	all, err := ListCache(t.Context(), w.cache, formats, c.cfg.Log)
	if err != nil || len(all) != 2 {
		t.Fatalf("ListCache: %+v, %v", all, err)
	}
	rows := map[string]int64{}
	for _, table := range all {
		rows[filepath.Base(table.File)] = table.Rows
	}
	if rows["a.rows"] != 300 || rows["b.rows"] != 200 {
		t.Errorf("ListCache: %+v", all)
	}
	if n, bytes, err := ClearCache(w.cache, c.cfg.Log); n != 2 || bytes != all[0].Bytes+all[1].Bytes || err != nil {
		t.Errorf("ClearCache: %d tables, %d bytes, %v", n, bytes, err)
	}
	w.wantTables(0)
	c = w.open()
	w.want(c, "a.rows")
	w.close(c)
	w.wantParses(3)
}

// TestSavedTableLeavesMemory expects that the mapped table replaces the one in memory after it was
// saved, also for new callers while the one in memory is in use.
func TestSavedTableLeavesMemory(t *testing.T) {
	w := newWorld(t)
	w.write("a.rows", textOf(1, 1234))
	c := w.open()
	before, err := c.Table(t.Context(), Request{Name: "a.rows"})
	if err != nil {
		t.Fatal(err)
	}
	defer before.Release()
	c.awaitSaves()
	after, err := c.Table(t.Context(), Request{Name: "a.rows"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, mapped := MappedFile(after.Table.Batches[0].Attributes[0].Values); !mapped {
		t.Error("the table is in memory, want it mapped from the cache")
	}
	for _, h := range []*TableRef{before, after} {
		if err := sameRows(t.Context(), h, Selection{}, rowsOfText(w.read("a.rows"), 0)); err != nil {
			t.Error(err)
		}
	}
	after.Release()
	before.Release()
	if s := c.Stats(); s.Parses != 1 || s.Hits != 1 || s.Evictions != 0 || s.Cache.MappedTables != 1 ||
		s.Cache.Loads != 0 || s.HeldTables != 0 {
		t.Errorf("stats %+v, want one parse, one hit, one mapped table", s)
	}
	w.close(c)
	w.wantTidy()
}

package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers/source"
)

// TestDatasetStreams reads rows of the first member while the last one is parsed: the schema is
// known from an earlier parse.
func TestDatasetStreams(t *testing.T) {
	w := newWorld(t, ofParts(Dataset{}))
	const last = 60_000 // rows: only the last member has that many
	for i := range 6 {
		n := 45_000 // more than 1 MiB
		if i == 5 {
			n = last
		}
		w.writePart(fmt.Sprintf("%d.rows", i), textOf(i, n))
	}
	c := w.open()
	h, err := c.Table(t.Context(), Request{Name: "all"})
	if err != nil {
		t.Fatal(err)
	}
	h.Release()
	w.close(c)
	if err := os.RemoveAll(filepath.Join(w.cache, "tables")); err != nil {
		t.Fatal(err)
	}
	c = w.open()
	blocked, free := make(chan struct{}, 100), make(chan struct{})
	pause := func(ctx context.Context, row int64) error {
		if row <= 45_000 {
			return nil
		}
		select {
		case blocked <- struct{}{}:
		default:
		}
		select {
		case <-free:
		case <-ctx.Done():
		}
		return nil
	}
	w.format.pause.Store(&pause)
	defer w.format.pause.Store(nil)
	w.format.parses.Store(0)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	h, s, err := c.Read(ctx, Request{Name: "all"}, Selection{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	var rows int64
	for rows < 2*45_000 {
		rec, err := s.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		rows += rec.NumRows()
		rec.Release()
	}
	if n := w.format.parses.Load(); n > 5 {
		t.Errorf("%d members are parsed after the rows of two: the memory is not bounded", n)
	}
	for rows < 5*45_000 {
		rec, err := s.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		rows += rec.NumRows()
		rec.Release()
	}
	<-blocked // the last one is under way
	close(free)
	for {
		rec, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		rows += rec.NumRows()
		rec.Release()
	}
	if rows != 5*45_000+last {
		t.Errorf("%d rows", rows)
	}
}

// TestDatasetPrunes opens only the members that a bounding box or a range of rows needs.
func TestDatasetPrunes(t *testing.T) {
	w := newWorld(t, ofParts(Dataset{}))
	for i := range 6 { // a member has y = i
		w.writePart(fmt.Sprintf("p=%d/%d.rows", i, i), textOf(i, 45_000))
	}
	c := w.open()
	want := w.readRows(c, "all", Selection{BBox: &[4]float64{0, 3, 1e6, 3}})
	w.close(c)
	if err := os.RemoveAll(filepath.Join(w.cache, "tables")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		sel  Selection
		want int // rows
	}{
		{"bbox", Selection{BBox: &[4]float64{0, 3, 1e6, 3}}, len(want)},
		{"rows", Selection{Rows: &[2]int64{3 * 45_000, 4 * 45_000}}, 45_000},
		{"partition", Selection{Partitions: map[string]any{"p": int64(3)}}, 45_000},
	} {
		w := &world{t: t, data: w.data, cache: w.cache, fs: w.fs, change: w.change}
		c := w.open()
		got := w.readRows(c, "all", tt.sel)
		if len(got) != tt.want || w.format.parses.Load() != 1 {
			t.Errorf("%s: %d rows, want %d; %d parses, want 1", tt.name, len(got), tt.want, w.format.parses.Load())
		}
		w.close(c)
		if err := os.RemoveAll(filepath.Join(w.cache, "tables")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDatasetPollAndEvict(t *testing.T) {
	w := newWorld(t, ofParts(Dataset{}))
	for i := range 5 {
		w.writePart(fmt.Sprintf("%d.rows", i), textOf(i, 50))
	}
	c := w.open()
	id := ""
	for {
		h, at, err := c.Poll(t.Context(), Request{Name: "all"}, id)
		if err != nil {
			t.Fatal(err)
		}
		if id = at.ID; h != nil {
			if h.Table.Rows != 250 {
				t.Errorf("%d rows", h.Table.Rows)
			}
			h.Release()
			break
		}
	}
	c.awaitSaves()
	w.wantTables(1)
	if n, err := c.Evict(t.Context(), "all"); n != 1 || err != nil {
		t.Errorf("Evict: %d, %v, want one pack", n, err)
	}
	w.wantTables(0)
	w.format.parses.Store(0)
	if rows := w.readRows(c, "all", Selection{}); len(rows) != 250 {
		t.Errorf("%d rows after the eviction", len(rows))
	}
	w.wantParses(5)
	var changed *ChangedError
	if _, err := c.Table(t.Context(), Request{Name: "all", Version: "other"}); !errors.As(err, &changed) {
		t.Errorf("another version: %v, want a *ChangedError", err)
	}
	w.close(c)
	w.wantTidy()
}

// TestDatasetEvictsTexts evicts the tables of packs that were read as text for another unit too.
func TestDatasetEvictsTexts(t *testing.T) {
	w := newWorld(t, ofParts(Dataset{}))
	w.writePart("0.rows", textOf(0, 50))
	w.writePart("1.rows", textOf(1, 45_000)) // a unit of its own, between two packs
	w.writePart("2.rows", "x;a;\n")          // a is text
	for _, name := range []string{"same process", "after a restart"} {
		c := w.open()
		if rows := w.readRows(c, "all", Selection{}); len(rows) != 45_051 {
			t.Fatalf("%s: %d rows", name, len(rows))
		}
		c.awaitSaves()
		w.wantTables(5) // two packs and a member; the first pack and the member as text
		if name == "after a restart" {
			w.close(c)
			c = w.open()
		}
		if n, err := c.Evict(t.Context(), "all"); n != 2 || err != nil {
			t.Errorf("%s: Evict: %d, %v, want two packs", name, n, err)
		}
		w.wantTables(2) // those of the member
		w.close(c)
	}
}

// TestDatasetErrorsKeepLittle plans a dataset with a malformed member again and again, while another
// member changes. The tables of former versions are removed, and what is known is not parsed again.
func TestDatasetErrorsKeepLittle(t *testing.T) {
	w := newWorld(t, ofParts(Dataset{}))
	for i := range 10 {
		w.writePart(fmt.Sprintf("%d.rows", i), textOf(i, 20))
	}
	w.writePart("bad.rows", "!\n")
	c := w.open()
	for i := range 5 {
		w.writePart("3.rows", textOf(20+i, 21+i))
		w.refresh(c)
		if _, err := readRows(t.Context(), c, Request{Name: "all"}, Selection{}); err == nil {
			t.Fatal("no error")
		}
		c.awaitSaves()
		w.wantTables(1)
	}
	if n := w.format.parses.Swap(0); n > 11+4*2 {
		t.Errorf("%d parses, want those of the first time and of what has changed", n)
	}
	w.writePart("bad.rows", "1;a;\n")
	w.refresh(c)
	if rows := w.readRows(c, "all", Selection{}); len(rows) != 9*20+25+1 {
		t.Errorf("%d rows", len(rows))
	}
	w.wantParses(1)
	w.close(c)
	w.wantTidy()
}

func TestDatasetSpecifications(t *testing.T) {
	w := newWorld(t)
	w.write("a.rows", "1;a;\n")
	for _, tt := range []struct {
		name string
		spec Dataset
		want string
	}{
		{"no files", Dataset{Name: "d"}, "say which files"},
		{"pattern", Dataset{Name: "d", Files: []string{"[a"}}, "not a pattern"},
		{"name", Dataset{Name: ".d", Files: []string{"x/*"}}, "begins with '.'"},
		{"letters", Dataset{Name: "d#1", Files: []string{"x/*"}}, "none of #"},
		{"folder", Dataset{Name: "d", Files: []string{"/no/such/folder/*.rows"}}, "no such file"},
		{"a file's name", Dataset{Name: "a.rows", Files: []string{w.data + "/*.rows"}}, "have an entry \"a.rows\""},
	} {
		w.change = func(c *Config) { c.Datasets = []Dataset{tt.spec} }
		c, err := w.tryOpen()
		if err == nil {
			_ = c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	w.change = func(c *Config) {
		c.Datasets = []Dataset{{Name: "none", Files: []string{w.data + "/*.other"}}}
	}
	if rows := w.readRows(w.open(), "none", Selection{}); len(rows) != 0 {
		t.Errorf("%q, want no rows", rows)
	}
}

// TestDatasetWhileItChanges reads a dataset while its members are replaced. Each member is wholly
// of one version in each answer.
func TestDatasetWhileItChanges(t *testing.T) {
	w := newWorld(t, ofParts(Dataset{}))
	const members, rows = 12, 30
	put := func(i, version int) {
		path := filepath.Join(w.data, "parts", fmt.Sprintf("%02d.rows", i))
		if err := os.WriteFile(path+".new", []byte(textOf(version*members+i, rows)), 0o644); err != nil {
			t.Error(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Error(err)
		}
	}
	_ = os.MkdirAll(filepath.Join(w.data, "parts"), 0o755)
	for i := range members {
		put(i, 0)
	}
	c := w.open()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	var wait sync.WaitGroup
	wait.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			put(n%members, 1+n/members)
			if n%5 == 0 {
				_ = c.Refresh(ctx)
			}
			time.Sleep(3 * time.Millisecond)
		}
	})
	var answers atomic.Int64
	for range 3 {
		wait.Go(func() {
			for ctx.Err() == nil {
				got, err := readRows(t.Context(), c, Request{Name: "all"}, Selection{Columns: []string{"b"}})
				if errors.Is(err, source.ErrChanged) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if err := wholeMembers(got, members, rows); err != nil {
					t.Error(err)
					return
				}
				answers.Add(1)
			}
		})
	}
	wait.Wait()
	t.Logf("%d answers", answers.Load())
	if answers.Load() == 0 {
		t.Error("no answer")
	}
	w.close(c)
	w.wantTidy()
}

// wholeMembers checks that the rows of each member are those of one text.
func wholeMembers(got []string, members, rows int) error {
	if len(got) != members*rows {
		return fmt.Errorf("%d rows, want %d", len(got), members*rows)
	}
	for i := range members {
		part, seed := got[i*rows:(i+1)*rows], -1
		for k, text := range part {
			row, of := 0, 0
			if n, _ := fmt.Sscanf(text, "row %d of %d", &row, &of); n != 2 {
				continue // null
			}
			if seed < 0 {
				seed = of
			}
			if row != k || of != seed || of%members != i {
				return fmt.Errorf("row %d of member %d is %q, of version %d", k, i, text, seed)
			}
		}
	}
	return nil
}

package dbf_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/dbf"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// open returns a Reader of a table, and its file.
func open(t *testing.T, text []byte, given map[string]any) (*dbf.Reader, *source.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.dbf")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open("a.dbf", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close() })
	opts, err := dbf.Format().ParseOptions(given)
	if err != nil {
		t.Fatal(err)
	}
	h, err := dbf.ReadHeader(context.Background(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.NewReader(src, readers.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return r, src
}

// TestRead reads every run of records of a table, one after the other with one Reader.
func TestRead(t *testing.T) {
	tab := column("N", 'N', 4, 0, "1", "2", "x", "4", "", "6.5", "7")
	tab.records[3] = "*" + tab.records[3][1:]
	text := tab.bytes()
	r, _ := open(t, text, map[string]any{"on_error": "skip"})
	const start, length = 65, 5
	left := map[int64]bool{2: true, 3: true}
	for from := int64(0); from <= 7; from++ {
		for to := from; to <= 7; to++ {
			run, err := r.Read(context.Background(), from, to)
			if err != nil {
				t.Fatal(err)
			}
			var without, starts []int64
			float := false
			for i := from; i < to; i++ {
				if left[i] {
					without = append(without, i)
				} else {
					starts = append(starts, start+i*length)
				}
				float = float || i == 5
			}
			c := &run.Columns.Attributes[0]
			if !slices.Equal(run.Left, without) || !slices.Equal(run.Starts, starts) ||
				run.Columns.Rows != len(starts) || run.Bytes != (to-from)*length {
				t.Errorf("records %d to %d: without %d, starts %d, %d rows, %d bytes; want %d, %d", from,
					to, run.Left, run.Starts, run.Columns.Rows, run.Bytes, without, starts)
			}
			if want := map[bool]string{true: "float64", false: "int32"}[float]; c.Type.String() != want {
				t.Errorf("records %d to %d: %s, want %s", from, to, c.Type, want)
			}
			if n := int64(len(run.Skipped.First)); n != run.Skipped.Count || (n == 1) != (from <= 2 && to > 2) ||
				n == 1 && run.Skipped.First[0] != start+2*length {
				t.Errorf("records %d to %d: skipped %v", from, to, run.Skipped)
			}
		}
	}
}

func TestReadGivesUp(t *testing.T) {
	r, src := open(t, column("N", 'N', 4, 0, "1", "2").bytes(), nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Read(ctx, 0, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if err := os.Truncate(src.Path, 70); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(context.Background(), 0, 2); !errors.Is(err, source.ErrChanged) {
		t.Errorf("got %v, want %v", err, source.ErrChanged)
	}
}

// TestAllocations asks that what a Reader allocates does not depend on the number of records.
func TestAllocations(t *testing.T) {
	r, _ := open(t, parcels(20_000), nil)
	allocations := func(records int64) float64 {
		return testing.AllocsPerRun(5, func() {
			if _, err := r.Read(context.Background(), 0, records); err != nil {
				t.Error(err)
			}
		})
	}
	if few, many := allocations(100), allocations(20_000); many > few {
		t.Errorf("%v allocations for 100 records, %v for 20000", few, many)
	}
	for _, f := range []field{
		{"N", 'N', 12, 0},
		{"N", 'N', 20, 6},
		{"F", 'F', 19, 11},
		{"C", 'C', 12, 0},
		{"D", 'D', 8, 0},
	} {
		values := make([]string, 5000)
		for i := range values {
			values[i] = map[byte]string{
				'N': "+0012", 'F': "1.25000000000e-010", 'C': "M\xfcnchen",
				'D': fmt.Sprint(19700101 + i%28),
			}[f.kind]
		}
		r, _ = open(t, column(f.name, f.kind, f.length, f.decimals, values...).bytes(), nil)
		if few, many := allocations(100), allocations(5000); many > few {
			t.Errorf("%v: %v allocations for 100 records, %v for 5000", f, few, many)
		}
	}
}

// TestManySkipped asks that offsets of the first malformed records are kept, not all, whatever the
// workers.
func TestManySkipped(t *testing.T) {
	tab := column("N", 'N', 4, 0)
	for i := range 1000 {
		tab.records = append(tab.records, fmt.Sprintf("  %c%02d", "x1"[i&1], i%100))
	}
	path := filepath.Join(t.TempDir(), "a.dbf")
	if err := os.WriteFile(path, tab.bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open("a.dbf", path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	f := dbf.Format()
	opts, err := f.ParseOptions(map[string]any{"on_error": "skip"})
	if err != nil {
		t.Fatal(err)
	}
	layout, err := f.Open(context.Background(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []int64{50, 700, 1 << 20} {
		read, err := readers.Read(context.Background(), f, f.CPU(layout), src, readers.Limits{
			Workers:   3,
			PartBytes: part,
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := read.Summary.Skipped
		if s.Count != 500 || len(s.First) != readers.MaxSkippedOffsets || s.First[99] != 65+2*99*5 ||
			read.Rows != 500 || read.Summary.BytesRead != 65+1000*5 {
			t.Errorf("parts of %d: %d skipped, %d offsets, %d rows, %d bytes", part, s.Count, len(s.First),
				read.Rows, read.Summary.BytesRead)
		}
		if got := geoarrow.View[int32](read.Batches[0].Attributes[0].Values)[:3]; !slices.Equal(got,
			[]int32{101, 103, 105}) {
			t.Errorf("got %d", got)
		}
	}
}

package catalog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// largeText returns a file of n rows of about 180 bytes each. change replaces some lines.
func largeText(n int, change map[int]string) string {
	var b strings.Builder
	for i := range n {
		if line, ok := change[i]; ok {
			b.WriteString(line + "\n")
			continue
		}
		fmt.Fprintf(&b, "%d;%0140d;%d %d\n", i, i*7, i%1000, i/1000)
	}
	return b.String()
}

func TestLargeTables(t *testing.T) {
	const rows = 6_000
	for _, tt := range []struct {
		name     string
		change   map[int]string
		a        arrow.DataType
		geometry geoarrow.Kind
	}{
		{"one type", nil, arrow.PrimitiveTypes.Int32, geoarrow.Point},
		{
			"a wider integer late",
			map[int]string{rows - 10: "5000000000;;1 1"},
			arrow.PrimitiveTypes.Int64,
			geoarrow.Point,
		},
		{"text in the middle", map[int]string{rows / 2: "text;;1 1"}, arrow.BinaryTypes.String, geoarrow.Point},
		{"another kind late", map[int]string{rows - 1: "1;;1 1,2 2"}, arrow.PrimitiveTypes.Int32, geoarrow.NoKind},
		{"all of it, early and late", map[int]string{
			1: "x;;1 1,2 2", rows - 2: "9000000000;a;1 1",
			rows - 1: "y;;1 1,2 2",
		}, arrow.BinaryTypes.String, geoarrow.NoKind},
	} {
		text := largeText(rows, tt.change)
		// The chunks have about 1 MiB. Depending on the limit, all go to a file, or the first half
		// stays in memory, or only the growth by the widening is too much.
		for _, memoryBytes := range []int64{1, 64 << 10, 1 << 20, 5 << 19, 64 << 20} {
			t.Run(fmt.Sprintf("%s, %d bytes", tt.name, memoryBytes), func(t *testing.T) {
				w := newWorld(t, memory(memoryBytes), func(c *Config) {
					c.Limits = readers.Limits{BatchRows: 700, Workers: 4}
				})
				w.write("large.rows", text)
				c := w.open()
				first := w.want(c, "large.rows")
				h, err := c.Table(t.Context(), Request{Name: "large.rows"})
				must(t, err)
				if b := h.Table.Batches[0]; !arrow.TypeEqual(b.Attributes[0].Type, tt.a) ||
					b.Geometry.Kind != tt.geometry {
					t.Errorf("types %v and %v, want %v and %v", b.Attributes[0].Type, b.Geometry.Kind,
						tt.a, tt.geometry)
				}
				h.Release()
				c.awaitSaves()
				if c.tables.Stats().Memory > memoryBytes {
					t.Errorf("tables of %d bytes are in memory, want %d at most", c.tables.Stats().Memory, memoryBytes)
				}
				w.close(c)
				w.wantParses(1)
				c = w.open()
				if again := w.want(c, "large.rows"); again.schema != first.schema || again.bytes != first.bytes ||
					again.bbox != first.bbox {
					t.Errorf("after a restart %+v, want %+v", again, first)
				}
				w.close(c)
				w.wantParses(0)
				w.wantTables(1)
				w.wantTidy()
			})
		}
	}
}

// TestLargeTableGrowsInItsFile expects that a large table grows in its file while it is parsed.
func TestLargeTableGrowsInItsFile(t *testing.T) {
	w := newWorld(t, memory(64<<10))
	w.write("large.rows", largeText(12_000, nil))
	c := w.open()
	var writing int64
	pause := func(_ context.Context, row int64) error {
		if row == 10_000 {
			writing = c.Stats().Cache.WritingBytes
		}
		return nil
	}
	w.format.pause.Store(&pause)
	w.want(c, "large.rows")
	if writing < 1<<20 {
		t.Errorf("%d bytes are in files near the end of the parse", writing)
	}
	w.close(c)
	w.wantTidy()
}

// smallDisk is a file system with limited space in a folder.
type smallDisk struct {
	files.FS
	bytes int64
}

func (d smallDisk) Free(name string) (int64, error) {
	entries, err := d.ReadDir(name)
	if err != nil {
		return 0, err
	}
	free := d.bytes
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			free -= info.Size()
		}
	}
	return max(0, free), nil
}

func TestNoRoomForALargeTable(t *testing.T) {
	for _, tt := range []struct {
		name       string
		cacheBytes int64
		disk       int64
		flag       string
	}{
		{"a tiny cache", 10_000, 1 << 40, "--memory"},
		{"a cache for less", 1 << 20, 1 << 40, "--cache-bytes"},
		{"a full disk", 1 << 40, 0, "--memory"},
		{"a disk for less", 1 << 40, 65 << 20, "--cache-bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, memory(64<<10), cacheBytes(tt.cacheBytes))
			w.fs = smallDisk{files.OS{}, tt.disk}
			w.write("large.rows", largeText(12_000, nil))
			w.write("half.rows", largeText(250, nil)) // between half of the memory and all of it
			w.write("a.rows", textOf(1, 20))
			c := w.open()
			for range 2 {
				var limit *readers.LimitError
				if _, err := c.Table(t.Context(), Request{Name: "large.rows"}); !errors.As(err, &limit) ||
					limit.Flag != tt.flag {
					t.Errorf("error %v, want a *LimitError of %s", err, tt.flag)
				}
				w.want(c, "a.rows")
				if a := w.want(c, "half.rows"); a.bytes < 32<<10 || a.bytes > 64<<10 {
					t.Errorf("the table has %d bytes", a.bytes)
				}
			}
			c.awaitSaves()
			if s := c.Stats().Cache; s.WritingBytes != 0 {
				t.Errorf("%d bytes are still reserved", s.WritingBytes)
			}
			w.close(c)
			w.wantTidy()
		})
	}
}

// TestLargeTablesInTurn expects that unused tables make space for others although they are open.
func TestLargeTablesInTurn(t *testing.T) {
	w := newWorld(t, memory(64<<10), cacheBytes(3<<20))
	const n = 6
	for i := range n {
		// about 700 kB
		w.write(fmt.Sprintf("%d.rows", i), largeText(4000, map[int]string{i: "different;;"}))
	}
	c := w.open()
	for range 2 {
		for i := range n {
			w.want(c, fmt.Sprintf("%d.rows", i))
			c.awaitSaves()
		}
	}
	if s := c.Stats().Cache; s.SaveErrors != 0 || s.Bytes > 3<<20 {
		t.Errorf("stats %+v, want no error and %d bytes at most", s, 3<<20)
	}
	w.close(c)
	w.wantTidy()
}

// TestBBoxOfAFile expects that a bbox reads only the necessary parts of a table in a file.
func TestBBoxOfAFile(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits = readers.Limits{BatchRows: 128, Workers: 2} })
	var text strings.Builder
	const rows = 30_000
	for i := range rows {
		fmt.Fprintf(&text, "%d;%0140d;%d %d\n", i, i, i%100, i/100) // sorted by y
	}
	w.write("a.rows", text.String())
	c := w.open()
	h, err := c.Table(t.Context(), Request{Name: "a.rows"})
	must(t, err)
	h.Release()
	w.close(c)
	all := rowsOfText(text.String(), 0)
	random := rand.New(rand.NewPCG(1, 2))
	for _, part := range []float64{0, 0.0001, 0.01, 0.3, 2} {
		c := w.open()
		h, err := c.Table(t.Context(), Request{Name: "a.rows"})
		must(t, err)
		height := part * rows / 100
		y := random.Float64() * max(0, rows/100-height)
		box := [4]float64{-1, y, 1000, y + height}
		var want []string
		for i, row := range all {
			if at := float64(i / 100); at >= box[1] && at <= box[3] {
				want = append(want, row)
			}
		}
		if err := sameRows(t.Context(), h, Selection{BBox: &box}, want); err != nil {
			t.Errorf("%v: %v", box, err)
		}
		read := c.Stats().Cache.BytesChecked
		t.Logf("%.4f of the rows: %d of %d bytes were read, %.2f %%", part, read, h.Table.Bytes,
			100*float64(read)/float64(h.Table.Bytes))
		if part <= 0.01 && float64(read) > 0.03*float64(h.Table.Bytes) {
			t.Errorf("a box of %v of the rows reads %d of %d bytes", part, read, h.Table.Bytes)
		}
		h.Release()
		w.close(c)
	}
	w.wantTidy()
}

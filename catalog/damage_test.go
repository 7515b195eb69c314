package catalog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/catalog/internal/files/faulty"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// everywhere is a box that meets every geometry of the tests. A scan with it reads all spatial
// indices.
var everywhere = &[4]float64{-1e9, -1e9, 1e9, 1e9}

// wantAll is want, and then want with a bbox.
func (w *world) wantAll(c *Catalog, name string) {
	w.t.Helper()
	w.want(c, name)
	h, err := c.Table(w.t.Context(), Request{Name: name})
	if err != nil {
		w.t.Fatal(err)
	}
	defer h.Release()
	if err := sameRows(w.t.Context(), h, Selection{BBox: everywhere},
		withGeometry(rowsOfText(w.read(name), 0))); err != nil {
		w.t.Error(err)
	}
}

func withGeometry(rows []string) []string {
	var out []string
	for _, r := range rows {
		if !bytes.HasSuffix([]byte(r), []byte("|(null)")) {
			out = append(out, r)
		}
	}
	return out
}

// damage is a way to damage the file of a table.
type damage struct {
	name    string
	do      func(text []byte) []byte // nil: the file is removed
	harmful bool
}

// flip flips a bit of byte i. harmful says whether a reader must notice it.
func flip(name string, i int, harmful bool) damage {
	return damage{fmt.Sprintf("byte %d, of %s", i, name), func(text []byte) []byte {
		text[i] ^= 1 << (i % 8)
		return text
	}, harmful}
}

// damages returns damages to every class of bytes of a file.
func damages(text []byte) []damage {
	const tail = 46
	size := len(text)
	footer := int(binary.LittleEndian.Uint64(text[size-tail+16:]))
	all := []damage{
		{"gone", func([]byte) []byte { return nil }, true},
		{"empty", func([]byte) []byte { return []byte{} }, true},
		{"garbage", func([]byte) []byte { return bytes.Repeat([]byte("garbage "), size/8) }, true},
		{"zeros", func([]byte) []byte { return make([]byte, size) }, true},
		{"of another program", func([]byte) []byte {
			return []byte("ARROW1\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00ARROW1")
		}, true},
		{"longer", func(b []byte) []byte { return append(b, 0) }, true},
		{"its second half", func(b []byte) []byte { return b[size/2:] }, true},
		flip("the head", 2, false), flip("the first message", 64+9, true), flip("the index", footer-200, true),
	}
	for _, n := range []int{1, tail - 1, tail, tail + 1, size / 2, size - 1} {
		all = append(all, damage{fmt.Sprintf("%d bytes left", n), func(b []byte) []byte { return b[:n] }, true})
	}
	for i := range 4 {
		all = append(all, flip("the messages", 64+9+(size/2*i)/4&^63, true),
			flip("the footer", footer+(size-tail-footer)*i/4, true))
	}
	for i := range tail {
		if i%5 == 0 {
			all = append(all, flip("the tail", size-tail+i, true))
		}
	}
	return all
}

func (d damage) befall(t testing.TB, path string, text []byte) {
	t.Helper()
	must(t, os.Remove(path)) // not in place, because the file may be mapped
	if b := d.do(bytes.Clone(text)); b != nil {
		must(t, os.WriteFile(path, b, 0o600))
	}
}

func TestDamageBetweenRuns(t *testing.T) {
	w := newWorld(t)
	w.write("a.rows", textOf(1, 700))
	c := w.open()
	w.wantAll(c, "a.rows")
	w.close(c)
	path := w.tables()[0]
	text, err := os.ReadFile(path)
	must(t, err)
	for _, d := range damages(text) {
		t.Run(d.name, func(t *testing.T) {
			w.t = t
			d.befall(t, path, text)
			w.format.parses.Store(0)
			c := w.open()
			w.wantAll(c, "a.rows")
			w.close(c)
			want := int64(0)
			if d.harmful {
				want = 1
			}
			w.wantParses(want)
			c = w.open()
			w.wantAll(c, "a.rows")
			w.close(c)
			w.wantParses(0)
			w.wantTables(1)
			w.wantTidy()
		})
	}
}

// TestDamageWhileTheCatalogIsOpen damages, removes or replaces the file of a table that was read
// earlier and dropped from memory.
func TestDamageWhileTheCatalogIsOpen(t *testing.T) {
	w := newWorld(t, memory(-1))
	w.write("a.rows", textOf(1, 700))
	c := w.open()
	w.wantAll(c, "a.rows")
	c.awaitSaves()
	path := w.tables()[0]
	text, err := os.ReadFile(path)
	must(t, err)
	for _, d := range damages(text) {
		c.tables.Drop()
		d.befall(t, path, text)
		w.wantAll(c, "a.rows")
		c.awaitSaves()
	}
	w.wantTables(1)
	w.close(c)
	w.wantTidy()
}

// scanBy scans a table and changes something after some batches.
func scanBy(t *testing.T, h *TableRef, sel Selection, want []string, after int, change func()) {
	t.Helper()
	sel.Encoding = geoarrow.Encoding{Geometry: geoarrow.AsWKT}
	s, err := h.Scan(sel)
	must(t, err)
	at := 0
	for n := 0; ; n++ {
		if n == after {
			change()
		}
		rec, err := s.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		if at, err = sameRecord(rec, want, at); err != nil {
			t.Fatal(err)
		}
	}
	if at != len(want) {
		t.Errorf("%d rows, want %d", at, len(want))
	}
}

// turn flips a byte of a file in place, like a disk that fails under a mapping.
func turn(t *testing.T, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	var b [1]byte
	_, err = f.ReadAt(b[:], at)
	must(t, err)
	b[0] ^= 0x10
	_, err = f.WriteAt(b[:], at)
	must(t, err)
}

func TestDamageInTheMiddleOfAScan(t *testing.T) {
	for _, tt := range []struct {
		name  string
		sel   Selection
		at    func(text []byte) int64
		after int
	}{
		{"a later message", Selection{}, func(b []byte) int64 { return int64(len(b)) / 4 }, 2},
		{"a later message, with a bbox", Selection{BBox: everywhere}, func(b []byte) int64 {
			return int64(len(b)) / 4
		}, 2},
		{"a later index", Selection{BBox: everywhere}, func(b []byte) int64 {
			return int64(binary.LittleEndian.Uint64(b[len(b)-30:])) - 200
		}, 2},
		{"before the first", Selection{}, func([]byte) int64 { return 64 + 9 }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("a.rows", textOf(1, 1000))
			rows := rowsOfText(w.read("a.rows"), 0)
			if tt.sel.BBox != nil {
				rows = withGeometry(rows)
			}
			c := w.open()
			w.want(c, "a.rows")
			w.close(c)
			text, err := os.ReadFile(w.tables()[0])
			must(t, err)
			w.wantParses(1)
			c = w.open()
			var held []*TableRef
			for range 3 {
				h, err := c.Table(t.Context(), Request{Name: "a.rows"})
				must(t, err)
				held = append(held, h)
			}
			scanBy(t, held[0], tt.sel, rows, tt.after, func() { turn(t, w.tables()[0], tt.at(text)) })
			scanBy(t, held[0], tt.sel, rows, -1, nil)
			c.awaitSaves()
			// The second use finds the damage that the first one found, and the table parsed after
			// it.
			scanBy(t, held[1], tt.sel, rows, -1, nil)
			scanBy(t, held[2], tt.sel, rows, -1, nil)
			w.wantParses(1)
			w.wantTables(1)
			if s := c.Stats().Cache; s.Damaged != 1 {
				t.Errorf("%d tables were damaged, want 1", s.Damaged)
			}
			for _, h := range held {
				h.Release()
			}
			w.close(c)
			c = w.open()
			w.wantAll(c, "a.rows")
			w.close(c)
			w.wantParses(0)
			w.wantTidy()
		})
	}
}

// TestDamageThatCannotBeRemoved damages a table in a folder that cannot be written, so the file
// stays. It must not be read again and again.
func TestDamageThatCannotBeRemoved(t *testing.T) {
	w := newWorld(t)
	w.write("a.rows", textOf(1, 1000))
	c := w.open()
	w.want(c, "a.rows")
	w.close(c)
	turn(t, w.tables()[0], 64+9)
	disk := faulty.New(files.OS{}, 1)
	disk.Inject(faulty.Fault{Ops: faulty.Changes &^ faulty.MkdirAll, Probability: 1, Err: syscall.EROFS})
	w.fs = disk
	w.wantParses(1)
	c = w.open()
	for range 3 {
		w.wantAll(c, "a.rows")
	}
	c.awaitSaves()
	w.wantParses(1)
	w.close(c)
	w.wantTidy()
}

// TestErrorsOfTheSystemAreNoDamage expects that an error of opening a table says nothing about its
// content.
func TestErrorsOfTheSystemAreNoDamage(t *testing.T) {
	for _, op := range []faulty.Op{faulty.Map, faulty.Read, faulty.Open, faulty.Stat} {
		w := newWorld(t)
		disk := faulty.New(files.OS{}, 1)
		w.fs = disk
		w.write("a.rows", textOf(1, 1000))
		c := w.open()
		w.want(c, "a.rows")
		w.close(c)
		c = w.open()
		disk.Inject(faulty.Fault{Ops: op, Probability: 1, Err: syscall.EIO})
		w.want(c, "a.rows")
		w.close(c)
		disk.Heal()
		w.wantParses(2)
		w.wantTables(1)
		c = w.open()
		w.want(c, "a.rows")
		w.close(c)
		w.wantParses(0)
		w.wantTidy()
	}
}

func TestStoreDamage(t *testing.T) {
	for _, tt := range []struct {
		name   string
		do     func(t *testing.T, path string)
		parses int64
	}{
		{"removed", func(t *testing.T, path string) { must(t, os.Remove(path)) }, 1},
		{"empty", func(t *testing.T, path string) { must(t, os.WriteFile(path, nil, 0o600)) }, 1},
		{"garbage", func(t *testing.T, path string) {
			must(t, os.WriteFile(path, bytes.Repeat([]byte("garbage "), 4096), 0o600))
		}, 1},
		{"a folder", func(t *testing.T, path string) {
			must(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700)))
		}, 1},
	} {
		for _, running := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, running %v", tt.name, running), func(t *testing.T) {
				w := newWorld(t)
				w.write("a.rows", textOf(1, 300))
				c := w.open()
				w.want(c, "a.rows")
				c.awaitSaves()
				w.wantParses(1)
				path := filepath.Join(w.cache, "catalog.sqlite")
				if running {
					c.tables.Drop()
				} else {
					w.close(c)
				}
				tt.do(t, path)
				if !running {
					c = w.open()
				}
				w.want(c, "a.rows")
				w.want(c, "a.rows")
				w.close(c)
				if got := w.format.parses.Swap(0); got > tt.parses {
					t.Errorf("%d parses, want %d", got, tt.parses)
				}
				c = w.open()
				w.want(c, "a.rows")
				w.close(c)
				w.wantTables(1)
				w.wantTidy()
			})
		}
	}
}

func TestCacheFolderVanishes(t *testing.T) {
	for _, folder := range []string{".", "tables"} {
		w := newWorld(t)
		w.cache = filepath.Join(w.cache, "cache")
		must(t, os.Mkdir(w.cache, 0o700))
		w.write("a.rows", textOf(1, 300))
		w.write("b.rows", textOf(2, 300))
		c := w.open()
		w.want(c, "a.rows")
		w.close(c)
		c = w.open()
		h, err := c.Table(t.Context(), Request{Name: "a.rows"})
		must(t, err)
		must(t, os.RemoveAll(filepath.Join(w.cache, folder)))
		must(t, sameRows(t.Context(), h, Selection{}, rowsOfText(w.read("a.rows"), 0)))
		h.Release()
		w.want(c, "b.rows")
		c.awaitSaves()
		w.wantTables(1)
		w.want(c, "a.rows")
		c.tables.Drop()
		w.want(c, "a.rows")
		w.want(c, "b.rows")
		w.close(c)
		w.wantTables(2)
		w.format.parses.Store(0)
		c = w.open()
		w.want(c, "a.rows")
		w.want(c, "b.rows")
		w.close(c)
		w.wantParses(0)
		w.wantTidy()
	}
}

// TestReadOnlyCache finds tables in a folder that cannot be written, and adds none.
func TestReadOnlyCache(t *testing.T) {
	w := newWorld(t, memory(40<<10))
	w.write("a.rows", textOf(1, 300))
	w.write("b.rows", textOf(2, 300))
	w.write("half.rows", textOf(3, 1000)) // between half of the memory and all of it
	w.write("large.rows", textOf(4, 3000))
	c := w.open()
	w.want(c, "a.rows")
	w.close(c)
	disk := faulty.New(files.OS{}, 1)
	disk.Inject(faulty.Fault{Ops: faulty.Changes &^ faulty.MkdirAll, Probability: 1, Err: syscall.EROFS})
	w.fs = disk
	w.wantParses(1)
	c = w.open()
	w.want(c, "a.rows")
	w.wantParses(0)
	w.want(c, "b.rows")
	if a := w.want(c, "half.rows"); a.bytes < 20<<10 || a.bytes > 40<<10 {
		t.Errorf("the table has %d bytes", a.bytes)
	}
	var limit *readers.LimitError
	if _, err := c.Table(t.Context(), Request{Name: "large.rows"}); !errors.As(err, &limit) ||
		limit.Flag != "--memory" {
		t.Errorf("error %v, want a *LimitError of --memory", err)
	}
	w.want(c, "a.rows")
	w.close(c)
	w.wantTables(1)
	w.wantTidy()
}

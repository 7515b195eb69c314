package tablefile

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// create returns an empty file that is removed after the test.
func create(t testing.TB) files.File {
	t.Helper()
	f, err := files.OS{}.Create(filepath.Join(t.TempDir(), "table.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// writeTable writes all batches at the end.
func writeTable(t testing.TB, f files.File, table *readers.Table) {
	t.Helper()
	w := NewWriter(f)
	err := errors.Join(w.Finish(t.Context(), table), w.Close())
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, f files.File) *File {
	t.Helper()
	file, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func noMappings(t testing.TB) {
	t.Helper()
	if n := Mappings(); n != 0 {
		t.Errorf("%d mappings are left", n)
	}
}

func TestRoundTrip(t *testing.T) {
	sizes := []struct{ rows, size int }{{0, 8}, {1, 8}, {9, 8}, {70, 16}}
	for k, m := range mixes() {
		for _, s := range sizes {
			for how, put := range writers {
				if testing.Short() && (k+s.rows+len(how))%4 != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%v %v/%d rows/%s", m.kinds, m.dims, s.rows, how), func(t *testing.T) {
					r := rand.New(rand.NewPCG(uint64(k), uint64(s.rows)))
					table := randomTable(t, r, m, s.rows, s.size)
					f := create(t)
					put(t, f, table)
					file := open(t, f)
					defer noMappings(t)
					defer file.Release()
					checkTable(t, file, table)
					checkArrow(t, f, table)
				})
			}
		}
	}
}

// writers has the ways to write a table.
var writers = map[string]func(testing.TB, files.File, *readers.Table){
	"at the end": writeTable,
	"appended": func(t testing.TB, f files.File, table *readers.Table) {
		w := NewWriter(f)
		final := *table
		final.Batches = appendAll(t, w, table.Batches)
		before := w.Bytes()
		err := w.Finish(t.Context(), &final)
		for _, m := range blocks(t, f) {
			if m.Offset >= before {
				t.Errorf("a message is at byte %d, although all %d bytes were appended", m.Offset, before)
			}
		}
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
	},
	"some of other types": func(t testing.TB, f files.File, table *readers.Table) {
		w := NewWriter(f)
		final := *table
		final.Batches = appendAll(t, w, table.Batches)
		for i, b := range final.Batches {
			switch {
			case len(b.Attributes) == 0:
			case i%3 == 0: // its types were narrower, so Finish writes it again and nothing refers to the first message
				narrow := clone(table.Batches[i])
				narrow.Attributes = narrow.Attributes[1:]
				appendAll(t, w, []*geoarrow.Columns{narrow})
				final.Batches[i] = table.Batches[i]
			case i%3 == 1: // one column was widened in place
				b.Attributes[0].Values = slices.Clone(table.Batches[i].Attributes[0].Values)
			}
		}
		if err := errors.Join(w.Finish(t.Context(), &final), w.Close()); err != nil {
			t.Fatal(err)
		}
	},
}

func appendAll(t testing.TB, w *Writer, batches []*geoarrow.Columns) []*geoarrow.Columns {
	t.Helper()
	var mapped []*geoarrow.Columns
	for _, b := range batches {
		before := *clone(b)
		m, err := w.Append(b)
		if err != nil {
			t.Fatal(err)
		}
		if err := differ("batch", reflect.ValueOf(*m), reflect.ValueOf(*b)); err != nil {
			t.Fatal(err)
		}
		if err := differ("what was appended", reflect.ValueOf(*b), reflect.ValueOf(before)); err != nil {
			t.Fatal(err)
		}
		mapped = append(mapped, m)
	}
	return mapped
}

// checkTable compares a table with the written one, in every way of reading it.
func checkTable(t testing.TB, file *File, want *readers.Table) {
	t.Helper()
	got := file.Table()
	for i := range got.Batches {
		if err := got.Check(i); err != nil {
			t.Fatal(err)
		}
	}
	if err := same(got, want); err != nil {
		t.Fatal(err)
	}
	if err := readertest.Canonical(got); err != nil {
		t.Fatal(err)
	}
	if a, b := readertest.Rows(got), readertest.Rows(want); a != b {
		t.Fatalf("got:\n%s\nwant:\n%s", a, b)
	}
	if (got.Search == nil) != (want.Batches[0].Geometry == nil) {
		t.Fatalf("Search is there: %t", got.Search != nil)
	}
	for _, box := range queries {
		for i, b := range want.Batches {
			if b.Geometry == nil {
				continue
			}
			rows, err := got.Search(i, box)
			if linear := scan(b.Geometry, box); err != nil || !slices.Equal(rows, linear) {
				t.Fatalf("batch %d, box %v: got %d, %v, want %d", i, box, rows, err, linear)
			}
		}
	}
}

var queries = [][4]float64{{-100, -100, 100, 100}, {0, 0, 50, 50}, {3, 3, 3, 3}, {1000, 1000, 1001, 1001}}

// scan checks every row.
func scan(g *geoarrow.Geometry, box [4]float64) (rows []int32) {
	for i := range g.Rows {
		xmin, ymin, xmax, ymax, ok := g.Bounds(i)
		if ok && xmin <= box[2] && xmax >= box[0] && ymin <= box[3] && ymax >= box[1] {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// checkArrow reads the file with Arrow's own code.
func checkArrow(t testing.TB, f files.File, want *readers.Table) {
	t.Helper()
	text := content(t, f)
	r, err := ipc.NewFileReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	schema := geoarrow.Schema(want.Batches[0], want.CRS, geoarrow.Encoding{})
	if !r.Schema().Equal(schema) {
		t.Fatalf("schema %v, want %v", r.Schema(), schema)
	}
	if r.NumRecords() != len(want.Batches) {
		t.Fatalf("%d batches, want %d", r.NumRecords(), len(want.Batches))
	}
	for i, b := range want.Batches {
		got, err := r.RecordAt(i)
		if err != nil {
			t.Fatal(err)
		}
		wanted, err := b.Record(schema, nil, geoarrow.Encoding{})
		if err != nil {
			t.Fatal(err)
		}
		for k := range got.Columns() {
			if !array.ApproxEqual(got.Column(k), wanted.Column(k), array.WithNaNsEqual(true),
				array.WithAbsTolerance(0)) {
				t.Fatalf("batch %d, column %d: %v, want %v", i, k, got.Column(k), wanted.Column(k))
			}
		}
		got.Release()
		wanted.Release()
	}
}

func content(t testing.TB, f files.File) []byte {
	t.Helper()
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// block is the place of a message in the description.
type block struct{ Offset, Metadata, Body int64 }

func blocks(t testing.TB, f files.File) (all []block) {
	t.Helper()
	file := open(t, f)
	defer file.Release()
	for i := range file.bodies {
		all = append(all, block{Offset: file.bodies[i].offset})
	}
	return all
}

func TestLargeBatches(t *testing.T) {
	defer noMappings(t)
	values := bytes.Repeat([]byte("0123456789abcdef"), (windowBytes+bufferBytes)/16)
	text := func(n int) *geoarrow.Columns {
		return &geoarrow.Columns{Rows: 1, Attributes: []geoarrow.Column{{
			Name: "s", Type: arrow.BinaryTypes.String,
			Offsets: []int32{0, int32(n)}, Values: values[:n],
		}}}
	}
	table := &readers.Table{Rows: 3, Batches: []*geoarrow.Columns{text(directBytes), text(len(values)), text(1)}}
	f := create(t)
	w := NewWriter(f)
	final := *table
	final.Batches = appendAll(t, w, table.Batches)
	if err := errors.Join(w.Finish(t.Context(), &final), w.Close()); err != nil {
		t.Fatal(err)
	}
	file := open(t, f)
	defer file.Release()
	for i, b := range file.Table().Batches {
		if err := file.Table().Check(i); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(b.Attributes[0].Values, table.Batches[i].Attributes[0].Values) {
			t.Errorf("batch %d has other bytes", i)
		}
	}
}

func TestSmallBatchesShareMappings(t *testing.T) {
	table := randomTable(t, rand.New(rand.NewPCG(1, 1)), mixes()[1], 300, 1)
	w := NewWriter(create(t))
	appendAll(t, w, table.Batches)
	if n := Mappings(); n != 1 {
		t.Errorf("%d mappings for %d batches of one row", n, len(table.Batches))
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	noMappings(t)
}

func TestCheckReadsOnce(t *testing.T) {
	defer noMappings(t)
	table := randomTable(t, rand.New(rand.NewPCG(2, 2)), mixes()[3], 64, 16)
	f := create(t)
	writeTable(t, f, table)
	file := open(t, f)
	defer file.Release()
	if n := file.BytesChecked(); n != 0 {
		t.Errorf("Open read %d bytes", n)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range table.Batches {
				if err := file.Table().Check(i); err != nil {
					t.Error(err)
				}
				if _, err := file.Table().Search(i, [4]float64{500, 500, 500, 500}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	want := int64(0)
	for i := range file.bodies {
		// Each search also reads the root.
		want += file.bodies[i].length + file.trees[i].length + 8*40
	}
	if n := file.BytesChecked(); n != want {
		t.Errorf("%d bytes were read, want %d", n, want)
	}
}

func TestReferences(t *testing.T) {
	f := create(t)
	writeTable(t, f, randomTable(t, rand.New(rand.NewPCG(3, 3)), mixes()[1], 9, 4))
	t.Run("counted", func(t *testing.T) {
		file := open(t, f)
		file.Retain()
		file.Release()
		if n := Mappings(); n != 1 {
			t.Errorf("%d mappings while a reference is held", n)
		}
		file.Release()
		noMappings(t)
		mustPanic(t, file.Retain)
	})
	t.Run("too many releases", func(t *testing.T) {
		file := open(t, f)
		file.Release()
		mustPanic(t, file.Release)
	})
	t.Run("dropped without a word", func(t *testing.T) {
		open(t, f).Retain()
		for range 1000 {
			if Mappings() == 0 {
				return
			}
			runtime.GC()
			runtime.Gosched()
		}
		noMappings(t)
	})
	t.Run("the table holds the file", func(t *testing.T) {
		file := open(t, f)
		table := file.Table()
		file = nil
		runtime.GC()
		runtime.GC()
		if err := table.Check(0); err != nil || Mappings() != 1 {
			t.Errorf("%v, %d mappings", err, Mappings())
		}
		_ = file
	})
	for Mappings() != 0 {
		runtime.GC()
	}
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	f()
}

// TestLayoutKnowsFields fails if a table gets a new or renamed field that its file does not store.
// The version and the description must then change.
func TestLayoutKnowsFields(t *testing.T) {
	for _, c := range []struct {
		of   any
		want string
	}{
		{readers.Table{}, "Format Engine CRS Batches Starts Spans IDs Facts Rows Bytes Check Search Boxes BBox " +
			"GeometryTypes Positions Summary RoundedIntegers ReplacedCharacters ParseTime"},
		// CRS is not written: Again has it from the Shape.
		{readers.Span{}, "From To Row Inside Text State CRS"},
		// Resident is memory of a GPU.
		{readers.Summary{}, "CRS Layers BytesRead Skipped Links Deviations IgnoredOrdinates UnclosedRings " +
			"ShortRings ShortLines Foreign Resident Appendable"},
		{readers.SkippedRows{}, "Count First"},
		{readers.Deviations{}, "Count Rules First"},
		{readers.Deviation{}, "Offset Row Field Rule Done"},
		{geoarrow.CRS{}, "Authority Code Text"},
		{geoarrow.ColumnID{}, "Role Name"},
		{geoarrow.Facts{}, "Kinds Digits Zones Offset MinSec MaxSec Declared"},
		{geoarrow.Columns{}, "Rows Attributes Geometry"},
		{geoarrow.Column{}, "Name Role Type JSON Mixed Facts Rounded Replaced Nulls Valid Offsets Values Child"},
		{geoarrow.Geometry{}, "Rows Kind Dim Nulls Valid Kinds Geoms Parts Rings X Y Z M Offsets WKB"},
	} {
		var names []string
		for i := range reflect.TypeOf(c.of).NumField() {
			names = append(names, reflect.TypeOf(c.of).Field(i).Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%T has the fields\n%s, the layout knows\n%s", c.of, got, c.want)
		}
	}
}

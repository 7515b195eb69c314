package scan

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// row is the test's own form of a row.
type row struct {
	number int32
	text   string // "" is null
	line   [][2]float64
	null   bool // the geometry is null
}

// rowsOf returns n rows. Every 5th has no text, every 6th no geometry, every 11th an empty
// geometry.
func rowsOf(n int) []row {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]row, n)
	for i := range rows {
		r := row{number: int32(i), null: i%6 == 5}
		if i%5 != 4 {
			r.text = fmt.Sprintf("row %d", i)
		}
		if !r.null && i%11 != 10 {
			x, y := rng.Float64()*100, rng.Float64()*100
			r.line = [][2]float64{{x, y}, {x + 5, y - 5}, {x, y + rng.Float64()*10}}
		}
		rows[i] = r
	}
	return rows
}

// tableOf returns the table of the rows with batches of size rows. The columns are number, text and
// geometry.
func tableOf(rows []row, size int) *readers.Table {
	t := &readers.Table{Format: "fake", CRS: geoarrow.CRS84, Rows: int64(len(rows)), Starts: []int64{0}}
	for chunk := range slices.Chunk(rows, size) {
		t.Batches = append(t.Batches, batchOf(chunk))
		t.Starts = append(t.Starts, t.Starts[len(t.Starts)-1]+int64(len(chunk)))
	}
	if len(rows) == 0 {
		t.Batches, t.Starts = []*geoarrow.Columns{batchOf(nil)}, []int64{0, 0}
	}
	_ = t.Measure(context.Background())
	return t
}

func batchOf(rows []row) *geoarrow.Columns {
	number := geoarrow.Column{Name: "number", Type: arrow.PrimitiveTypes.Int32, Values: []byte{}}
	text := geoarrow.Column{Name: "text", Type: arrow.BinaryTypes.String, Offsets: []int32{0}, Values: []byte{}}
	g := &geoarrow.Geometry{Rows: len(rows), Kind: geoarrow.LineString, Geoms: []int32{0}}
	for i, r := range rows {
		number.Values = binary.LittleEndian.AppendUint32(number.Values, uint32(r.number))
		text.Values = append(text.Values, r.text...)
		text.Offsets = append(text.Offsets, int32(len(text.Values)))
		setValid(&text.Valid, &text.Nulls, len(rows), i, r.text != "")
		for _, p := range r.line {
			g.X, g.Y = append(g.X, p[0]), append(g.Y, p[1])
		}
		g.Geoms = append(g.Geoms, int32(len(g.X)))
		setValid(&g.Valid, &g.Nulls, len(rows), i, !r.null)
	}
	if text.Nulls == 0 {
		text.Valid = nil
	}
	if g.Nulls == 0 {
		g.Valid = nil
	}
	return &geoarrow.Columns{Rows: len(rows), Attributes: []geoarrow.Column{number, text}, Geometry: g}
}

func setValid(valid *[]byte, nulls *int, n, i int, ok bool) {
	if *valid == nil {
		*valid = make([]byte, (n+7)/8)
	}
	if ok {
		(*valid)[i/8] |= 1 << (i % 8)
	} else {
		*nulls++
	}
}

// filter selects rows in a simple and slow way. Each row is the text of its cells, joined.
func filter(rows []row, sel Selection) []string {
	var out []string
	for i, r := range rows {
		if sel.Rows != nil && (int64(i) < sel.Rows[0] || int64(i) >= sel.Rows[1]) {
			continue
		}
		if sel.BBox != nil && !rowMeets(r, *sel.BBox) {
			continue
		}
		if sel.Limit != nil && int64(len(out)) >= *sel.Limit {
			continue
		}
		columns := sel.Columns
		if columns == nil {
			columns = []string{"number", "text", "geometry"}
		}
		var cells []string
		for _, c := range columns {
			cells = append(cells, cell(r, c))
		}
		out = append(out, strings.Join(cells, "|"))
	}
	return out
}

func rowMeets(r row, box [4]float64) bool {
	if len(r.line) == 0 {
		return false
	}
	xmin, ymin, xmax, ymax := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, p := range r.line {
		xmin, ymin, xmax, ymax = min(xmin, p[0]), min(ymin, p[1]), max(xmax, p[0]), max(ymax, p[1])
	}
	return !(xmax < box[0] || xmin > box[2] || ymax < box[1] || ymin > box[3])
}

func cell(r row, column string) string {
	switch {
	case column == "number":
		return fmt.Sprint(r.number)
	case column == "text" && r.text == "", column == "geometry" && r.null:
		return "(null)"
	case column == "text":
		return r.text
	}
	return fmt.Sprint(r.line)
}

// scanned reads the scan to its end, checks each record and returns the rows like filter.
func scanned(t *testing.T, s *Scan) []string {
	t.Helper()
	var out []string
	for {
		rec, err := s.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.NumRows() == 0 {
			t.Error("a record without rows")
		}
		if !rec.Schema().Equal(s.Schema()) {
			t.Errorf("record's schema %v, scan's %v", rec.Schema(), s.Schema())
		}
		for i := range int(rec.NumRows()) {
			var cells []string
			for _, col := range rec.Columns() {
				cells = append(cells, arrowCell(col, i))
			}
			out = append(out, strings.Join(cells, "|"))
		}
		rec.Release()
	}
}

func arrowCell(col arrow.Array, i int) string {
	list, ok := col.(*array.List)
	if !ok || col.IsNull(i) {
		return col.ValueStr(i)
	}
	xy := list.ListValues().(*array.Struct)
	from, to := list.ValueOffsets(i)
	var line [][2]float64
	for j := int(from); j < int(to); j++ {
		line = append(line, [2]float64{xy.Field(0).(*array.Float64).Value(j), xy.Field(1).(*array.Float64).Value(j)})
	}
	return fmt.Sprint(line)
}

func TestScanAgainstFilter(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	choices := [][]string{
		nil,
		{},
		{"geometry"},
		{"text"},
		{"geometry", "number"},
		{"text", "geometry", "number"},
		{"number", "number"},
	}
	for i := range 3000 {
		rows := rowsOf([]int{0, 1, 9, 10, 11, 37, 100}[rng.IntN(7)])
		table := tableOf(rows, 10)
		sel := Selection{Columns: choices[rng.IntN(len(choices))]}
		if rng.IntN(2) == 0 {
			from := rng.Int64N(45)
			sel.Rows = &[2]int64{from, from + rng.Int64N(60)}
		}
		if rng.IntN(2) == 0 {
			x, y, side := rng.Float64()*110-5, rng.Float64()*110-5, rng.Float64()*120
			sel.BBox = &[4]float64{x, y, x + side, y + side}
		}
		if rng.IntN(2) == 0 {
			n := rng.Int64N(40)
			sel.Limit = &n
		}
		s, err := New(table, sel)
		if err != nil {
			t.Fatal(err)
		}
		want := filter(rows, sel)
		if i%2 == 0 { // the result of Next does not depend on it
			if n, err := s.Rows(t.Context()); n != int64(len(want)) || err != nil {
				t.Errorf("%s: Rows gives %d, %v, want %d", show(sel), n, err, len(want))
			}
		}
		if i%3 == 0 && sel.Limit == nil { // nor on this
			counts, err := s.BatchRows(t.Context())
			var sum int64
			for _, n := range counts {
				sum += n
			}
			if sum != int64(len(want)) || len(counts) != len(table.Batches) || err != nil {
				t.Errorf("%s: BatchRows gives %v, %v, want %d rows", show(sel), counts, err, len(want))
			}
		}
		if got := scanned(t, s); !slices.Equal(got, want) {
			t.Fatalf("%s of %d rows:\n got %q\nwant %q", show(sel), len(rows), got, want)
		}
		if n, err := s.Rows(t.Context()); n != 0 || err != nil {
			t.Errorf("%s: Rows gives %d, %v after the end", show(sel), n, err)
		}
	}
}

func show(s Selection) string {
	text := fmt.Sprintf("columns %q", s.Columns)
	if s.Rows != nil {
		text += fmt.Sprintf(" rows %v", *s.Rows)
	}
	if s.BBox != nil {
		text += fmt.Sprintf(" bbox %v", *s.BBox)
	}
	if s.Limit != nil {
		text += fmt.Sprintf(" limit %d", *s.Limit)
	}
	return text
}

func TestScanTouchesNothingElse(t *testing.T) {
	rows := rowsOf(50)
	table := tableOf(rows, 10)
	table.Batches[1], table.Batches[4] = nil, nil // reading them would panic
	s, err := New(table, Selection{Rows: &[2]int64{20, 40}, BBox: &[4]float64{-1000, -1000, 1000, 1000}})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Rows(t.Context()); n == 0 || err != nil {
		t.Errorf("Rows gives %d, %v", n, err)
	}
	scanned(t, s)
	limit := int64(15)
	if s, err = New(table, Selection{Rows: &[2]int64{25, 50}, Limit: &limit}); err != nil {
		t.Fatal(err)
	}
	if got := len(scanned(t, s)); got != 15 {
		t.Errorf("%d rows, want 15", got)
	}
}

func TestScanSharesWholeBatches(t *testing.T) {
	// a box matches all other rows
	rows := slices.DeleteFunc(rowsOf(50), func(r row) bool { return len(r.line) == 0 })
	table := tableOf(rows, 10)
	for name, sel := range map[string]Selection{
		"all": {}, "rows": {Rows: &[2]int64{10, 20}},
		"columns": {Columns: []string{"number"}}, "bbox": {BBox: &[4]float64{-1000, -1000, 1000, 1000}},
	} {
		s, err := New(table, sel)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		batch := table.Batches[0]
		if sel.Rows != nil {
			batch = table.Batches[1]
		}
		if got := rec.Column(0).Data().Buffers()[1].Bytes(); &got[0] != &batch.Attributes[0].Values[0] {
			t.Errorf("%s: the values of a whole batch were copied", name)
		}
		rec.Release()
	}
}

func TestScanErrors(t *testing.T) {
	table := tableOf(rowsOf(30), 10)
	var unknown *UnknownColumnError
	if _, err := New(table, Selection{Columns: []string{"text", "geomtry"}}); !errors.As(err, &unknown) ||
		*unknown != (UnknownColumnError{"geomtry", "geometry"}) {
		t.Errorf("error %v, want an *UnknownColumnError for geomtry, nearest geometry", err)
	}
	s, err := New(table, Selection{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	if s, err = New(tableWithout(table), Selection{BBox: &[4]float64{0, 0, 100, 100}}); err != nil {
		t.Fatal(err)
	}
	if got := scanned(t, s); got != nil {
		t.Errorf("a table without geometry: %q match a bbox", got)
	}
}

// tableWithout returns the table without geometry.
func tableWithout(t *readers.Table) *readers.Table {
	for _, b := range t.Batches {
		b.Geometry = nil
	}
	_ = t.Measure(context.Background())
	return t
}

package readers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// sheet is a file whose rows are known. As a Parser it gives them in parts to a Batcher.
type sheet struct {
	names  []string
	rows   [][]any // by column: nil, bool, int64, float64, string; missing at the end
	shapes []geoarrow.RowKind
	starts []int64
	end    int64

	t       *testing.T
	bounds  []int // first rows of the parts
	learns  bool  // a column that was text in a part is read as text from then on
	reread  func() error
	lending sync.Mutex
	lent    []*atomic.Int32 // how often each part was released
	held    atomic.Int64    // parts that were not released yet
	most    atomic.Int64    // of them at a time
	halfway int             // parts after it are not given; 0: all are
	way     copyMethod

	// These are of copiedByWorkers.
	size   int64        // of the parts; bounds are not used
	lies   func() bool  // a guess fails
	broken int          // row that can't be read; 0: none
	ended  func() error // called after the last part, whose error is that of Parse; may be nil
}

// copyMethod is what copies the rows of a sheet to batches.
type copyMethod int

const (
	copiedByGoroutines copyMethod = iota // one for each batch
	copiedByAdd                          // Batcher.Inline
	copiedByWorkers                      // Batcher.Inline, with Parts
)

var copyMethods = []copyMethod{copiedByGoroutines, copiedByAdd, copiedByWorkers}

func (c copyMethod) String() string {
	return [...]string{"copied by goroutines", "copied by Add", "copied by workers"}[c]
}

// randomSheet has rows whose kinds of values change now and then, so that parts differ in types,
// columns and kinds of geometry.
func randomSheet(r *rand.Rand, rows int) *sheet {
	s := &sheet{names: []string{"a", "b", "c"}[:1+r.IntN(3)], end: r.Int64N(100)}
	values := []func() any{
		func() any { return nil },
		func() any { return r.Int64N(2000) - 1000 },
		func() any { return r.Int64() >> r.IntN(64) },
		func() any { return float64(r.IntN(100)) / 4 },
		func() any { return r.IntN(2) == 0 },
		func() any { return strings.Repeat("é", r.IntN(5)) },
	}
	kinds := []geoarrow.RowKind{
		0, geoarrow.MakeRowKind(geoarrow.Point, geoarrow.XY), geoarrow.MakeRowKind(geoarrow.Point, geoarrow.XYZ),
		geoarrow.MakeRowKind(geoarrow.MultiPoint, geoarrow.XY),
		geoarrow.MakeRowKind(geoarrow.LineString, geoarrow.XY), geoarrow.MakeRowKind(geoarrow.Polygon, geoarrow.XYZ),
		geoarrow.MakeRowKind(geoarrow.MultiPolygon, geoarrow.XY),
	}
	phase, wild := 1+r.IntN(20), 1+r.IntN(len(values))
	var now [3]int
	var shape [2]int
	columns := 0
	for i := range rows {
		if i%phase == 0 {
			for c := range now {
				now[c] = r.IntN(wild)
			}
			shape = [2]int{r.IntN(len(kinds)), r.IntN(wild) % len(kinds)}
			columns = r.IntN(1 + len(s.names))
		}
		var row []any
		for c := range columns {
			row = append(row, values[r.IntN(1+now[c])]())
		}
		s.rows, s.starts, s.shapes = append(s.rows, row), append(s.starts, s.end),
			append(s.shapes, kinds[shape[r.IntN(2)]])
		s.end += 1 + r.Int64N(30)
	}
	return s
}

// cut makes parts of it, some of them without rows.
func (s *sheet) cut(r *rand.Rand, most int) {
	s.bounds = nil
	for i := 0; i < len(s.rows); i += r.IntN(1 + most) {
		s.bounds = append(s.bounds, i)
	}
	if len(s.bounds) == 0 {
		s.bounds = []int{0}
	}
}

// part returns a range of rows, with the narrowest types unless text is requested.
func (s *sheet) part(from, to int, text []geoarrow.ColumnID) Part {
	p := Part{
		Start: s.start(from), Next: s.start(to), To: s.start(to), Starts: slices.Clone(s.starts[from:to]),
		Text: slices.Clone(text), Columns: &geoarrow.Columns{Rows: to - from},
	}
	for _, c := range s.order(from, to) {
		id := geoarrow.ColumnID{Name: s.names[c]}
		column, needed := s.column(c, from, to, slices.Contains(text, id))
		if needed {
			p.Text = append(p.Text, id)
		}
		p.Columns.Attributes = append(p.Columns.Attributes, column)
	}
	var b geoarrow.GeometryBuilder
	b.Reset()
	for i := from; i < to; i++ {
		s.addShape(&b, i)
	}
	var err error
	if p.Columns.Geometry, err = b.Finish(); err != nil {
		s.t.Error(err)
	}
	return p
}

func (s *sheet) start(row int) int64 {
	if row == len(s.starts) {
		return s.end
	}
	return s.starts[row]
}

// order returns the columns of some rows, in order of first appearance.
func (s *sheet) order(from, to int) []int {
	most := 0
	for _, row := range s.rows[from:to] {
		most = max(most, len(row))
	}
	var order []int
	for c := range most {
		order = append(order, c)
	}
	return order
}

func (s *sheet) value(row, column int) any {
	if column < len(s.rows[row]) {
		return s.rows[row][column]
	}
	return nil
}

func factsOfValue(v any) geoarrow.Facts {
	switch v := v.(type) {
	case bool:
		return geoarrow.Facts{Kinds: geoarrow.FactBool}
	case float64:
		return geoarrow.Facts{Kinds: geoarrow.FactFloat}
	case string:
		return geoarrow.Facts{Kinds: geoarrow.FactString}
	case int64:
		kind := geoarrow.FactInt64
		if int64(int32(v)) == v {
			kind = geoarrow.FactInt32
		}
		if v < 0 {
			kind |= geoarrow.FactNegative
		}
		return geoarrow.Facts{Kinds: kind}
	}
	return geoarrow.Facts{}
}

func valueText(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case nil:
		return ""
	}
	return fmt.Sprint(v)
}

// column returns some rows of a column; needed says that only their text will do.
func (s *sheet) column(c, from, to int, text bool) (out geoarrow.Column, needed bool) {
	out.Name = s.names[c]
	var several geoarrow.FactKinds
	for i := from; i < to; i++ {
		f := factsOfValue(s.value(i, c))
		out.Facts = out.Facts.Join(f)
		several |= f.Kinds
	}
	res := out.Facts.Resolve(out.Role)
	isText := res.Type.ID() == arrow.STRING
	needed = isText && several&^geoarrow.FactString != 0 && !text
	out.Type, out.JSON, out.Mixed = res.Type, res.JSON, res.Mixed
	n := to - from
	valid := make([]byte, (n+7)/8)
	bits := make([]byte, (n+7)/8)
	var narrow []int32
	var wide []int64
	var floats []float64
	offsets := []int32{0}
	var texts []byte
	for i := from; i < to; i++ {
		v := s.value(i, c)
		at, bit := (i-from)>>3, byte(1)<<((i-from)&7)
		if v == nil {
			out.Nulls++
		} else {
			valid[at] |= bit
		}
		texts = append(texts, valueText(v)...)
		offsets = append(offsets, int32(len(texts)))
		if v == true {
			bits[at] |= bit
		}
		whole, float, rounded := number(v)
		narrow, wide, floats = append(narrow, int32(whole)), append(wide, whole), append(floats, float)
		out.Rounded += rounded
	}
	if out.Nulls > 0 {
		out.Valid = valid
	}
	if text {
		out.Type, isText = arrow.BinaryTypes.String, true
	}
	if out.Type.ID() != arrow.FLOAT64 {
		out.Rounded = 0
	}
	switch {
	case isText:
		out.Offsets, out.Values = offsets, texts
	case out.Type.ID() == arrow.BOOL:
		out.Values = bits
	case out.Type.ID() == arrow.INT32:
		out.Values = geoarrow.AsBytes(narrow)
	case out.Type.ID() == arrow.INT64:
		out.Values = geoarrow.AsBytes(wide)
	default:
		out.Values = geoarrow.AsBytes(floats)
	}
	return out, needed
}

// number returns a value as an integer and as a float64, and whether that had to round.
func number(v any) (whole int64, float float64, rounded int64) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, 1, 0
		}
	case float64:
		return 0, v, 0
	case int64:
		if float = float64(v); float >= math.MaxInt64 || int64(float) != v {
			rounded = 1
		}
		return v, float, rounded
	}
	return 0, 0, 0
}

func (s *sheet) addShape(b *geoarrow.GeometryBuilder, row int) {
	kind, z := s.shapes[row].Kind(), s.shapes[row].Dim() != geoarrow.XY
	positions := row%3 + 1
	if kind == geoarrow.Point {
		positions = 1
	}
	if kind == geoarrow.NoKind {
		b.Null()
		return
	}
	for i := range positions {
		b.X, b.Y = append(b.X, float64(row)), append(b.Y, float64(i))
		if z {
			b.AddZ(float64(row + i))
		}
	}
	switch kind {
	case geoarrow.Polygon:
		b.EndRing()
	case geoarrow.MultiPolygon:
		b.EndRing()
		b.EndPart()
	}
	b.End(kind)
}

// Parse returns the parts to a Batcher, or for a span its rows again.
func (s *sheet) Parse(ctx context.Context, src *source.File, req Request, emit func(Chunk) error) (Summary, error) {
	if req.Span.Inside {
		return Summary{}, s.parseSpan(req.Span, emit)
	}
	b := NewBatcher(ctx, s, src, Request{Span: Span{To: s.end}, Limits: req.Limits}, emit)
	b.Inline = s.way != copiedByGoroutines
	defer b.Close()
	if s.way == copiedByWorkers {
		return Summary{}, s.parseParts(ctx, b, req.Limits)
	}
	var text []geoarrow.ColumnID
	for i, from := range s.bounds {
		if s.halfway > 0 && i >= s.halfway {
			return Summary{}, nil
		}
		to := len(s.rows)
		if i+1 < len(s.bounds) {
			to = s.bounds[i+1]
		}
		p := s.part(from, to, text)
		if s.learns {
			text = p.Text
		}
		if err := b.Add(s.lend(p)); err != nil {
			return Summary{}, err
		}
	}
	return Summary{}, b.Finish()
}

// parseSpan returns a chunk again.
func (s *sheet) parseSpan(span Span, emit func(Chunk) error) error {
	if s.reread != nil {
		if err := s.reread(); err != nil {
			return err
		}
	}
	from, starts := slices.BinarySearch(s.starts, span.From)
	to, ends := slices.BinarySearch(s.starts, span.To)
	if !starts || !ends && span.To != s.end || to <= from {
		return fmt.Errorf("no rows are bytes %d to %d", span.From, span.To)
	}
	return emit(Chunk{Columns: s.part(from, to, span.Text).Columns, Span: span})
}

// lend gives a part a Release that spoils what it holds.
func (s *sheet) lend(p Part) Part {
	count := &atomic.Int32{}
	s.lending.Lock()
	s.lent = append(s.lent, count)
	s.most.Store(max(s.most.Load(), s.held.Add(1)))
	s.lending.Unlock()
	p.Release = func() {
		count.Add(1)
		s.held.Add(-1)
		for i := range p.Starts {
			p.Starts[i] = -1
		}
		for i := range p.Columns.Attributes {
			c := &p.Columns.Attributes[i]
			spoil(c.Values)
			spoil(c.Valid)
			spoil(c.Offsets)
		}
		g := p.Columns.Geometry
		spoil(g.Valid)
		spoil(g.WKB)
		spoil(g.Kinds)
		for _, v := range [][]int32{g.Geoms, g.Parts, g.Rings, g.Offsets} {
			spoil(v)
		}
		for _, v := range [][]float64{g.X, g.Y, g.Z} {
			spoil(v)
		}
	}
	return p
}

func spoil[T geoarrow.FixedWidth | ~uint8](v []T) {
	for i := range v {
		v[i] = 77
	}
}

// read returns the table, with what the Batcher gave checked on its way.
func (s *sheet) read(limits Limits) (*Table, error) {
	table, err := Read(s.t.Context(), Format{Name: "sheet"}, s, &source.File{Name: "sheet"}, limits, nil)
	s.checkReleased()
	return table, err
}

func (s *sheet) checkReleased() {
	s.t.Helper()
	for i, n := range s.lent {
		if n.Load() != 1 {
			s.t.Errorf("part %d of %d was released %d times", i, len(s.lent), n.Load())
		}
	}
	s.lent = nil
}

// batchBounds returns the first rows of the batches, and the number of rows.
func (s *sheet) batchBounds(limits Limits) []int64 {
	bounds := []int64{0}
	first := 0
	for i := 1; i < len(s.rows); i++ {
		if i-first == limits.BatchRows || s.starts[i]-s.starts[first] >= limits.BatchBytes {
			bounds, first = append(bounds, int64(i)), i
		}
	}
	return append(bounds, int64(len(s.rows)))
}

// tableText returns all that a table says but for the time it took.
func tableText(t *Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows, starts %d, facts %+v\n", t.Rows, t.Starts, t.Facts)
	for i, batch := range t.Batches {
		fmt.Fprintf(&b, "batch %d: %d rows, bytes %d to %d, row %d\n", i, batch.Rows, t.Spans[i].From,
			t.Spans[i].To, t.Spans[i].Row)
		for _, c := range batch.Attributes {
			fmt.Fprintf(&b, "%q %s %v %v nulls %d valid %x offsets %d values %x\n", c.Name, c.Type, c.JSON,
				c.Mixed, c.Nulls, c.Valid, c.Offsets, c.Values)
		}
		fmt.Fprintf(&b, "%+v\n", *batch.Geometry)
	}
	return b.String()
}

// TestBatcher cuts random rows at random places: the table is that of a single part, and its
// batches and values are those of the rows. Batches that end by their bytes keep every offset
// within 32 bits, however long the file (J26).
func TestBatcher(t *testing.T) {
	runs := 1500
	if testing.Short() {
		runs = 250
	}
	for seed := range runs {
		synctest.Test(t, func(t *testing.T) { // which waits for all goroutines
			r := rand.New(rand.NewPCG(9, uint64(seed)))
			s := randomSheet(r, 1+r.IntN(150))
			s.t = t
			limits := Limits{BatchRows: 1 + r.IntN(len(s.rows)+1), BatchBytes: math.MaxInt64 / 2, Workers: 1}
			if r.IntN(2) == 0 {
				limits.BatchBytes = 1 + r.Int64N(300)
			}
			s.bounds = []int{0}
			whole, err := s.read(limits)
			if err != nil {
				t.Fatalf("seed %d: a single part: %v", seed, err)
			}
			s.check(whole, limits)
			for range 3 {
				s.cut(r, 1+r.IntN(40))
				s.learns, s.way, s.size = r.IntN(2) == 0, copyMethods[r.IntN(len(copyMethods))], 1+r.Int64N(200)
				limits.Workers = 1 + r.IntN(16)
				table, err := s.read(limits)
				if err != nil {
					t.Fatalf("seed %d, parts %d, %+v: %v", seed, s.bounds, limits, err)
				}
				if got, want := tableText(table), tableText(whole); got != want {
					t.Fatalf("seed %d, parts %d, %+v\ngot:\n%s\nwant:\n%s", seed, s.bounds, limits, got, want)
				}
			}
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// check compares a table with the rows.
func (s *sheet) check(table *Table, limits Limits) {
	s.t.Helper()
	bounds := s.batchBounds(limits)
	if !slices.Equal(table.Starts, bounds) {
		s.t.Fatalf("batches start at rows %d, want %d", table.Starts, bounds)
	}
	for i, span := range table.Spans {
		if from, to := s.start(int(bounds[i])), s.start(int(bounds[i+1])); span.From != from || span.To != to ||
			span.Row != bounds[i] || !span.Inside {
			s.t.Fatalf("batch %d is %+v, want bytes %d to %d", i, span, from, to)
		}
	}
	for c, id := range s.order(0, len(s.rows)) {
		var facts geoarrow.Facts
		for i := range s.rows {
			facts = facts.Join(factsOfValue(s.value(i, id)))
		}
		if table.Facts[c] != facts {
			s.t.Fatalf("column %q: facts %+v, want %+v", s.names[id], table.Facts[c], facts)
		}
		for b, batch := range table.Batches {
			col := &batch.Attributes[c]
			for k := range batch.Rows {
				v := s.value(int(bounds[b])+k, id)
				if got, want := cell(col, k), wantedCell(v, col.Type); got != want {
					s.t.Fatalf("column %q %s, row %d: got %s, want %s", s.names[id], col.Type,
						int(bounds[b])+k, got, want)
				}
			}
		}
	}
}

// cell returns a value of a column.
func cell(c *geoarrow.Column, i int) string {
	if c.Valid != nil && c.Valid[i>>3]>>(i&7)&1 == 0 {
		return "null"
	}
	switch c.Type.ID() {
	case arrow.BOOL:
		return fmt.Sprint(c.Values[i>>3]>>(i&7)&1 == 1)
	case arrow.INT32:
		return fmt.Sprint(geoarrow.View[int32](c.Values)[i])
	case arrow.INT64:
		return fmt.Sprint(geoarrow.View[int64](c.Values)[i])
	case arrow.FLOAT64:
		return fmt.Sprint(geoarrow.View[float64](c.Values)[i])
	}
	return string(c.Values[c.Offsets[i]:c.Offsets[i+1]])
}

// wantedCell returns what the value is in a column of a type.
func wantedCell(v any, t arrow.DataType) string {
	whole, float, _ := number(v)
	switch {
	case v == nil:
		return "null"
	case t.ID() == arrow.STRING:
		return valueText(v)
	case t.ID() == arrow.FLOAT64:
		if _, isFloat := v.(float64); !isFloat && float == 0 {
			float = float64(whole)
		}
		return fmt.Sprint(float)
	case t.ID() == arrow.BOOL:
		return fmt.Sprint(v)
	}
	return fmt.Sprint(whole)
}

// TestBatcherRounded: integers that a float64 had to round are counted if the column of the table
// is float64, wherever parts and batches end.
func TestBatcherRounded(t *testing.T) {
	const big = int64(1)<<53 + 1
	for _, c := range []struct {
		name   string
		values []any // of the rows, 10 bytes each
		bounds []int // of the parts
		want   int64
	}{
		{"one part of floats", []any{nil, nil, big, 0.5}, []int{0}, 1},
		{"floats, then text", []any{nil, nil, big, 0.5, "x", "x"}, []int{0, 4}, 0},
		{"floats, then text in the same batch", []any{nil, nil, big, 0.5, big, "x"}, []int{0, 5}, 0},
		{"integers, then floats", []any{nil, big, big, 1.5, nil, big}, []int{0, 3}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &sheet{names: []string{"a"}, t: t, bounds: c.bounds}
			for _, v := range c.values {
				s.rows, s.starts, s.shapes = append(s.rows, []any{v}), append(s.starts, s.end), append(s.shapes, 0)
				s.end += 10
			}
			for rows := 1; rows <= len(c.values); rows++ {
				table, err := s.read(Limits{BatchRows: rows, Workers: 2})
				if err != nil {
					t.Fatal(err)
				}
				if table.RoundedIntegers != c.want {
					t.Errorf("%v, parts %d, batches of %d rows: %d integers rounded, want %d", c.values,
						c.bounds, rows, table.RoundedIntegers, c.want)
				}
			}
		})
	}
}

// mixedSheet has numbers, then texts: each chunk of both needs the text of its first rows.
func mixedSheet(t *testing.T) *sheet {
	s := &sheet{names: []string{"a"}, t: t}
	for i := range 40 {
		row := []any{int64(i)}
		if i%8 >= 4 {
			row = []any{"x"}
		}
		s.rows, s.starts, s.shapes = append(s.rows, row), append(s.starts, s.end), append(s.shapes, 0)
		if i%4 == 0 {
			s.bounds = append(s.bounds, i)
		}
		s.end += 10
	}
	return s
}

// TestBatcherEnds makes the chunks' own work, and their receiver, fail: the error is returned,
// every part is released, no goroutine is left.
func TestBatcherEnds(t *testing.T) {
	errTake, errRead := errors.New("enough"), errors.New("unreadable")
	for _, c := range []struct {
		name    string
		change  func(s *sheet)
		refuses bool
		want    error
		panics  bool
	}{
		{name: "emit", refuses: true, want: errTake},
		{name: "read again", change: func(s *sheet) { s.reread = func() error { return errRead } }, want: errRead},
		{name: "panic", change: func(s *sheet) { s.reread = func() error { panic("a reader") } }, panics: true},
		{name: "close without finish", change: func(s *sheet) { s.halfway = 5 }},
		{name: "close without a part", change: func(s *sheet) { s.bounds = nil }},
	} {
		for _, way := range copyMethods {
			t.Run(fmt.Sprintf("%s, %v", c.name, way), func(t *testing.T) {
				for _, workers := range []int{1, 2, 16} {
					for _, rows := range []int{3, 8, 11, 100} {
						for at := range 4 {
							synctest.Test(t, func(t *testing.T) {
								s := mixedSheet(t)
								s.way, s.size = way, 40
								if c.change != nil {
									c.change(s)
								}
								emitted, want := 0, c.want
								emit := func(Chunk) error {
									if emitted++; c.refuses && emitted == at+1 {
										return errTake
									}
									return nil
								}
								if c.refuses && at*rows >= len(s.rows) {
									want = nil
								}
								panicked, err := caughtParse(s, Limits{BatchRows: rows, Workers: workers}, emit)
								switch {
								case c.panics != (panicked != nil) || c.panics &&
									!strings.HasPrefix(fmt.Sprint(panicked), "a reader"):
									t.Errorf("%d workers, batches of %d rows: panic %v", workers, rows, panicked)
								case !errors.Is(err, want):
									t.Errorf("%d workers, batches of %d rows: error %v, want %v", workers,
										rows, err, want)
								}
								s.checkReleased()
							})
						}
					}
				}
			})
		}
	}
}

func caughtParse(s *sheet, limits Limits, emit func(Chunk) error) (panicked any, err error) {
	defer func() { panicked = recover() }()
	_, err = s.Parse(context.Background(), &source.File{Name: "sheet"}, Request{Limits: limits}, emit)
	return nil, err
}

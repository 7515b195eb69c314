package xlsx

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// table turns rows of a sheet into chunks.
type table struct {
	r      *sheetReader
	plan   *plan
	limits readers.Limits
	emit   func(readers.Chunk) error
	sink   *rows.Sink
	sum    readers.Summary
	span   readers.Span // of the current chunk

	next, to int64          // rows of the table to be read
	columns  []*rows.Column // of the sheet; nil: not an attribute
	srid     int32          // of the geometries, 0 if they have none

	wkt    wkt.Cell
	wkb    geoarrow.WKBDecoder
	digits []byte
	text   []byte
	x, y   float64
	hasX   bool
	hasY   bool
	kind   geoarrow.Kind
}

func newTable(r *sheetReader, p *plan, limits readers.Limits, req readers.Request, columns readers.Projection,
	emit func(readers.Chunk) error,
) *table {
	t := &table{
		r: r, plan: p, limits: limits, emit: emit, next: req.Span.From, to: req.Span.To,
		span: readers.Span{Row: req.Span.Row}, sink: &rows.Sink{Bare: p.shape == noShape},
	}
	if t.to < 0 {
		t.to = math.MaxInt64
	}
	t.wkt.MaxDepth = limits.MaxDepth
	t.sink.Project(columns)
	t.sink.Text = slices.Clone(req.Span.Text)
	t.sink.Init(func() *rows.Column { return &rows.Column{} })
	return t
}

// reset begins a chunk of the first n rows of the block, with the columns of the first rows of the
// sheet and its own.
func (t *table) reset(n int) {
	t.sink.Reset()
	t.columns = t.columns[:0]
	width := t.plan.width
	for _, row := range t.r.block.rows[:n] {
		width = max(width, int(t.r.block.cells[row.to-1].column)+1)
	}
	for i := range width {
		t.addColumn(i)
	}
}

func (t *table) addColumn(i int) {
	name := t.plan.nameOf(i)
	if t.plan.isShape(i) && !t.plan.keep {
		t.columns = append(t.columns, nil)
		return
	}
	c := t.sink.Column(geoarrow.RoleAttribute, []byte(name))
	c.Plain = false
	t.columns = append(t.columns, c)
	if id := c.ID; t.r.book.geometry.types != auto && !t.sink.IsText(id) {
		c.NeedText = true
	}
}

// chunk emits the first n rows of the block, and those that the file leaves out before and between
// them.
func (t *table) chunk(n int) error {
	if err := t.limits.CheckColumns(t.r.part.book.Name, t.r.columns); err != nil {
		return err
	}
	end := min(t.to, t.next+int64(t.limits.BatchRows))
	if n == len(t.r.block.rows) || t.index(n) < end {
		end = t.next
		if n > 0 {
			end = t.index(n-1) + 1
		}
	}
	srid := t.srid
	for {
		t.reset(n)
		t.srid = srid
		if err := t.fill(n, end); err != nil {
			return err
		}
		text := t.sink.NeedText()
		if len(text) == 0 {
			break
		}
		t.sink.Text = append(slices.Clip(t.sink.Text), text...)
	}
	t.sink.AddTo(&t.sum)
	t.r.block.drop(n)
	t.next = end
	return rows.Emit(t.sink, &t.r.Window, &t.span, end, t.limits, t.emit)
}

// fill adds the rows of the table from t.next to end, with the first n rows of the block.
func (t *table) fill(n int, end int64) error {
	b := &t.r.block
	i := 0
	for row := t.next; row < end; row++ {
		var cells []cell
		at := int64(0)
		if i < n && t.index(i) == row {
			cells, at = b.cells[b.rows[i].from:b.rows[i].to], b.rows[i].at
			i++
		}
		if t.sink.Rows == 0 {
			t.span.From = row
		}
		srid := t.srid
		if err := t.row(cells, row); err != nil {
			if t.sink.Rollback(); !t.r.book.geometry.skip || errors.As(err, new(*readers.LimitError)) {
				return err
			}
			t.srid = srid
			t.sink.Skip(at)
			continue
		}
		t.sink.Commit(at)
	}
	return nil
}

// row adds a row.
func (t *table) row(cells []cell, row int64) error {
	t.hasX, t.hasY, t.kind = false, false, geoarrow.NoKind
	for i := range cells {
		c := &cells[i]
		if column := t.columns[c.column]; column != nil {
			if err := t.value(column, c, row); err != nil {
				return err
			}
		}
		if t.plan.isShape(int(c.column)) {
			if err := t.geometry(c, row); err != nil {
				return err
			}
		}
	}
	if t.plan.shape == noShape {
		return nil
	}
	switch g := &t.sink.Geom; {
	case t.plan.shape == pointShape && t.hasX && t.hasY:
		g.X, g.Y = append(g.X, t.x), append(g.Y, t.y)
		g.End(geoarrow.Point)
	case t.plan.shape != pointShape && t.kind != geoarrow.NoKind:
		wkt.End(g, t.kind)
	default:
		g.Null()
	}
	return nil
}

// value adds the value of a cell to its column.
func (t *table) value(column *rows.Column, c *cell, row int64) error {
	column.Pad(t.sink.Rows)
	text := t.r.textOf(c)
	switch c.kind {
	case kindShared, kindText:
		column.Plain = true
		column.AddText(text)
	case kindDate:
		column.AddText(text)
	case kindBool:
		v := len(text) == 1 && text[0] == '1' || string(text) == "true"
		if !v && string(text) != "0" && string(text) != "false" {
			return t.malformed(c, row, fmt.Sprintf("%q is not a boolean: 0 or 1", text), "value is null")
		}
		column.AddBool(v, strconv.AppendBool(nil, v))
	case kindError:
		t.deviate(c, row, "error-value", "value is null")
	case kindMissing:
		return t.malformed(c, row, t.missing(text), "value is null")
	default:
		return t.numberValue(column, c, text, row)
	}
	return nil
}

func (t *table) missing(text []byte) string {
	return fmt.Sprintf("%q is not the number of one of the %d shared strings", text, len(t.r.book.strings.ends))
}

// numberValue adds a number, or the date or time that its format makes of it.
func (t *table) numberValue(column *rows.Column, c *cell, text []byte, row int64) error {
	n, ok := t.number(text)
	if !ok {
		return t.malformed(c, row, fmt.Sprintf("%q is not a number", text), "value is null")
	}
	if c.style == formatNumber {
		column.AddNumber(n, text)
		return nil
	}
	if t.text, ok = appendSerial(t.text[:0], n.Float, c.style, t.r.book.epoch); ok {
		column.AddText(t.text)
		return nil
	}
	if c.style == formatTime { // a duration
		column.AddNumber(n, text)
		return nil
	}
	t.deviate(c, row, "no-date", "value is null")
	return nil
}

// number reads a number as XML Schema has it.
func (t *table) number(text []byte) (n number.Num, ok bool) {
	t.digits = slices.Grow(append(t.digits[:0], bytes.TrimPrefix(text, []byte("+"))...), number.Padding)
	clear(t.digits[len(t.digits) : len(t.digits)+number.Padding])
	n, end := number.Number(unsafe.Pointer(unsafe.SliceData(t.digits)), 0)
	if end == len(t.digits) && end > 0 {
		if n.Kind != number.Real && n.Int == 0 && n.Negative {
			n.Kind = number.Real
		}
		return n, true
	}
	v, err := strconv.ParseFloat(string(text), 64) // "1." and ".5"
	return number.Num{Kind: number.Real, Float: v}, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// malformed returns the error for a value, or counts it under on_error: null.
func (t *table) malformed(c *cell, row int64, what, done string) error {
	if t.r.book.geometry.null {
		t.deviate(c, row, "typed-value", done)
		return nil
	}
	e := &readers.ParseError{
		Name: t.r.part.book.Name, Format: formatName, Offset: c.at, Row: row, Unit: unit, Text: t.r.part.name,
		Field: t.placeOf(c, row), Mode: "null", Err: errors.New(what),
	}
	return e
}

func (t *table) placeOf(c *cell, row int64) string {
	return placeOf(t.r.sheet, c.column, int(row)+t.plan.first)
}

func (t *table) deviate(c *cell, row int64, rule, done string) {
	t.sink.Deviate(readers.Deviation{Offset: c.at, Row: row, Field: t.placeOf(c, row), Rule: rule, Done: done})
}

// geometry reads an ordinate or a whole geometry.
func (t *table) geometry(c *cell, row int64) error {
	text := bytes.TrimSpace(t.r.textOf(c))
	if c.kind == kindError {
		if !t.plan.keep {
			t.deviate(c, row, "error-value", "geometry is null")
		}
		return nil
	}
	if c.kind == kindMissing {
		return t.malformed(c, row, t.missing(text), "geometry is null")
	}
	if csv.IsNull(text) {
		return nil
	}
	if t.plan.shape == pointShape {
		v, err := strconv.ParseFloat(string(text), 64)
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			what := fmt.Sprintf("want a finite number, or nothing, found %q", text)
			return t.malformed(c, row, what, "geometry is null")
		}
		if int(c.column) == t.plan.x {
			t.x, t.hasX = v, true
		} else {
			t.y, t.hasY = v, true
		}
		return nil
	}
	before := t.sink.Shapes
	srid, err := t.wholeGeometry(text)
	if err != nil {
		t.sink.Geom.Undo()
		t.sink.Shapes, t.kind = before, geoarrow.NoKind
		if deep := (*wkt.CellError)(nil); errors.As(err, &deep) && deep.Depth {
			return &readers.LimitError{
				What: fmt.Sprintf("%s: %s: the nesting of brackets", t.r.part.book.Name, t.placeOf(c, row)),
				Flag: "--max-depth", Limit: int64(t.limits.MaxDepth),
			}
		}
		return t.malformed(c, row, err.Error(), "geometry is null")
	}
	if srid != 0 && t.srid != 0 && srid != t.srid {
		what := fmt.Sprintf("SRID %d, after rows of SRID %d: a column has one reference system", srid, t.srid)
		e := t.malformed(c, row, what, "geometry is null")
		if e == nil {
			t.sink.Geom.Undo()
			t.kind = geoarrow.NoKind
		}
		return e
	}
	if srid != 0 {
		t.srid = srid
	}
	return nil
}

// wholeGeometry reads a geometry into the current row, which stays open.
func (t *table) wholeGeometry(text []byte) (srid int32, err error) {
	g := &t.sink.Geom
	switch t.plan.shape {
	case latLonShape:
		lat, lon, ok := latLon(text)
		if !ok {
			return 0, fmt.Errorf(`want a latitude and a longitude, as "(40.7, -73.9)", found %q`, text)
		}
		g.X, g.Y, t.kind = append(g.X, lon), append(g.Y, lat), geoarrow.Point
		return 0, nil
	case wkbShape:
		var bad int
		if t.digits, bad = geoarrow.AppendHex(t.digits[:0], text); bad >= 0 {
			return 0, errors.New("want pairs of hexadecimal digits, of WKB")
		}
		t.wkb = geoarrow.WKBDecoder{}
		kind, id, err := t.wkb.Read(g, t.digits)
		if err != nil {
			return 0, err
		}
		if id > math.MaxInt32 {
			return 0, fmt.Errorf("SRID %d is beyond %d", id, math.MaxInt32)
		}
		t.kind = kind
		k := &t.sink.Shapes
		k.UnclosedRings += t.wkb.UnclosedRings
		k.ShortRings += t.wkb.ShortRings
		k.ShortLines += t.wkb.ShortLines
		return int32(id), nil
	}
	read, err := t.wkt.Read(g, &t.sink.Shapes, bytes.Clone(text))
	t.kind = read.Kind
	return read.SRID, err
}

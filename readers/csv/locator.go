package csv

import (
	"bytes"
	"context"
	"math"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/source"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// locator reads records until the candidates are decided.
type locator struct {
	text
	list  []candidate
	seen  []valueForm  // by column
	fresh []formChange // of the current record
	bad   bool         // the current record is not in the encoding
}

// formChange is a column whose form was found in the current record, and its former form.
type formChange struct {
	column int
	before valueForm
}

// maxExamined is the maximum distance from the first record of the first values of a candidate
// without a plain name, and of the number that determines the decimal separator.
const maxExamined = 1 << 20

// valueForm is the form of a column's first non-null value.
type valueForm struct {
	kind     valueKind
	comma    bool // a number with a decimal comma
	grouped  bool // whose comma may be between thousands
	whole    bool // a number without point and comma, as are all values so far
	fraction bool
	v        float64 // of a number
}

// valueKind is a kind of value.
type valueKind uint8

const (
	nothing valueKind = iota // no value yet
	isText
	isNumber
	isWKT
	isWKB
	isJSON
	isLatLon
)

// look returns the candidate that is the geometry, or nil. A malformed record ends the search, as
// it ends the parse, unless malformed records are skipped.
func (l *locator) look(ctx context.Context, src *source.File) (*candidate, geometryForm, error) {
	if _, err := l.begin(ctx, src); err != nil {
		return nil, noGeometry, err
	}
	p := l.MoveTo(l.first)
	if p < 0 {
		return nil, noGeometry, l.Err
	}
	for p < l.N {
		if p = l.next(p); p < 0 && l.Err != nil {
			return nil, noGeometry, l.Err
		}
		far := p >= 0 && l.Base+int64(p)-l.first > maxExamined
		if c, form, done := l.decide(p < 0, far); done {
			return c, form, nil
		}
	}
	c, form, _ := l.decide(true, false)
	return c, form, nil
}

// next examines the record at p and returns the index of the next one, or -1.
func (l *locator) next(p int) int {
	at := l.Base + int64(p)
	next, n := l.record(p, l.field)
	if !l.skipErrors && !l.nullErrors || next >= 0 && !l.bad && (n == len(l.seen) || l.pad || l.repair) {
		return next
	}
	l.forget()
	if next >= 0 || l.Err != nil || l.fault.file {
		return next
	}
	for p = l.MoveTo(at); p >= 0; p = 0 {
		if end := l.pass(p); end >= 0 {
			return l.lineEnds(end)
		}
		if !l.fault.cut || !l.Fill(p) {
			break
		}
	}
	return -1
}

// forget undoes the changes of the current record.
func (l *locator) forget() {
	for _, s := range l.fresh {
		l.seen[s.column] = s.before
	}
}

// field examines a field if it is the first value of its column, or all earlier ones were integers.
func (l *locator) field(i int, c cell) {
	if i == 0 { // a record that the window cut begins anew
		l.fresh, l.bad = l.fresh[:0], false
	}
	if l.skipErrors && c.high && !l.bad {
		_, ok := l.bytes(c)
		l.bad = !ok
	}
	if i >= len(l.seen) || l.seen[i].kind != nothing && !l.seen[i].whole {
		return
	}
	b, ok := l.bytes(c)
	if b = trim(b); !ok || nullLike(b) {
		return
	}
	found, before := l.find(b), l.seen[i]
	if before.whole { // only numbers determine the separator
		if found.kind != isNumber && !found.comma || found.whole {
			return
		}
		found.kind = isNumber
	}
	l.seen[i], l.fresh = found, append(l.fresh, formChange{i, before})
}

// find returns the form of a non-null value.
func (l *locator) find(b []byte) valueForm {
	f := valueForm{kind: isText}
	if _, word := special(b); word {
		return f
	}
	if n, ok := l.number(b, true); ok {
		f.kind, f.v = isNumber, n.Float // unless it is WKB without letters
		f.fraction = n.Float != math.Trunc(n.Float)
		f.whole = l.eitherPoint && l.delimiter != ',' && !bytes.ContainsAny(b, ".,")
	} else if l.eitherPoint && bytes.IndexByte(b, ',') >= 0 {
		if n, ok := l.numberWith(b, true, ','); ok {
			f.comma, f.v = true, n.Float
			f.fraction = n.Float != math.Trunc(n.Float)
			whole, fraction, _ := bytes.Cut(bytes.TrimLeft(b, "+-"), []byte(","))
			f.grouped = len(fraction) == 3 && len(whole) <= 3
		}
	}
	switch {
	case wkt.Begins(b):
		f.kind = isWKT
	case geoarrow.IsHexWKB(b):
		f.kind = isWKB
	case geojson.Begins(b):
		f.kind = isJSON
	case f.kind == isText && !f.comma && l.isLatLon(b):
		f.kind = isLatLon
	}
	return f
}

// isLatLon reports whether a value is a latitude and a longitude, with fractions or in brackets:
// "(40.7, -73.9)".
func (l *locator) isLatLon(b []byte) bool {
	lat, lon, ok := l.latLon(b)
	return ok && math.Abs(lat) <= 90 && math.Abs(lon) <= 180 && (b[0] == '(' || lat != math.Trunc(lat) &&
		lon != math.Trunc(lon))
}

// decide examines the candidates, up to one whose values are not known yet, unless the file ends or
// the records are far from the first one. Rejected candidates are not examined again.
func (l *locator) decide(last, far bool) (found *candidate, form geometryForm, done bool) {
	for i := range l.list {
		c := &l.list[i]
		form, undecided := l.fits(c)
		if undecided && !(far && c.isNear(form)) {
			if !last {
				l.list = l.list[i:]
				return nil, noGeometry, false
			}
			l.final = false // a value may be appended to the file
		}
		if form != noGeometry {
			l.commaPoints = form == points && (l.seen[c.x].comma || l.seen[c.y].comma)
			return c, form, true
		}
	}
	return nil, noGeometry, true
}

// isNear reports whether only values near the first record count, as they do except for candidates
// with plain names.
func (c *candidate) isNear(form geometryForm) bool { return c.fresh || form == points }

// fits returns whether the values of a candidate's columns are geometries, and their form;
// undecided if later values may change that.
func (l *locator) fits(c *candidate) (form geometryForm, undecided bool) {
	if c.cell >= 0 {
		switch f := l.seen[c.cell]; {
		case f.kind == isWKT && (c.form == noGeometry || c.form == wktCells):
			return wktCells, false
		case f.kind == isWKB && (c.form == noGeometry || c.form == wkbCells):
			return wkbCells, false
		case f.kind == isJSON && (c.form == noGeometry || c.form == jsonCells):
			return jsonCells, false
		case f.kind == isLatLon && c.latLon && c.form == noGeometry:
			return latLonCells, false
		default:
			return noGeometry, f.kind == nothing
		}
	}
	x, y := l.seen[c.x], l.seen[c.y]
	if x.kind == nothing || y.kind == nothing {
		return noGeometry, true
	}
	if !l.isOrdinate(c, x, 180) || !l.isOrdinate(c, y, 90) {
		return noGeometry, false
	}
	return points, x.whole && y.whole
}

// isOrdinate reports whether a column's values are ordinates of a candidate. most is the maximum in
// degrees.
func (l *locator) isOrdinate(c *candidate, f valueForm, most float64) bool {
	inRange := math.Abs(f.v) <= most
	switch {
	case c.fresh && c.degrees && !inRange, c.widths && !f.fraction && !f.whole:
		return false
	case f.comma && f.kind != isNumber:
		return c.degrees && inRange || !c.degrees && l.delimiter != ',' && !f.grouped
	}
	return f.kind == isNumber
}

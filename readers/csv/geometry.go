package csv

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// ordinate is one field's ordinate of a point.
type ordinate struct {
	v    float64
	null bool
}

// ordinate reads the field at p.
func (s *scanner) ordinate(o *ordinate, p int) int {
	v, end := number.Float(s.Q, p)
	if end >= 0 && s.class[s.At(end)]&endsField != 0 && !s.comma && !s.commaPoints {
		*o = ordinate{v: v}
		return end
	}
	field, end := s.text.cell(p)
	if end < 0 {
		return -1
	}
	b, ok := s.bytes(field)
	if !ok {
		return -1
	}
	b = trim(b)
	if nullLike(b) {
		*o = ordinate{null: true}
		return end
	}
	n, ok := s.number(b, true)
	if !ok || math.IsInf(n.Float, 0) {
		s.fail(field.from, "a finite number, or nothing")
		s.fault.value = true
		return -1
	}
	*o = ordinate{v: n.Float}
	return end
}

// anyOrdinate is ordinate for field i. An invalid value is null where that is allowed.
func (s *scanner) anyOrdinate(o *ordinate, i, p int) int {
	end := s.ordinate(o, p)
	if end >= 0 || !s.fault.value {
		return end
	}
	field, after := s.text.cell(p)
	if s.repair && isMSVC(trim(s.raw(field))) {
		s.deviate(field.from, i, ruleMSVC, "read as NaN: geometry is null")
	} else if !s.deviates(i) {
		return -1
	}
	*o = ordinate{null: true}
	return after
}

// geometryCell reads field i at p into the current geometry, which stays open.
func (s *scanner) geometryCell(i, p int) int {
	field, end := s.text.cell(p)
	if end < 0 {
		return -1
	}
	before := s.sink.Shapes
	if s.readGeometry(field) {
		return end
	}
	if !s.fault.value || !s.deviates(i) {
		return -1
	}
	s.sink.Geom.Undo()
	s.sink.Shapes, s.kind, s.own = before, geoarrow.NoKind, 0
	return end
}

// readGeometry reads a field into the current geometry, which stays open. It returns false with a
// fault.
func (s *scanner) readGeometry(field cell) bool {
	s.kind, s.own = geoarrow.NoKind, 0
	b := s.raw(field)
	if field.high || field.doubled || field.stray || field.after > 0 {
		var ok bool
		if b, ok = s.bytes(field); !ok {
			return false
		}
	}
	if nullLike(trim(b)) {
		return true
	}
	srid, err := int32(0), error(nil)
	switch s.geometry {
	case latLonCells:
		err = s.readLatLon(b)
	case wkbCells:
		srid, err = s.readWKB(b)
	case jsonCells:
		err = s.readJSON(b)
	default:
		var g wkt.Geometry
		g, err = s.wkt.Read(&s.sink.Geom, &s.sink.Shapes, b)
		s.kind, srid = g.Kind, g.SRID
	}
	if err != nil {
		e := (*wkt.CellError)(nil)
		errors.As(err, &e) // no other form is possible
		s.fault = fault{
			pos: s.inFile(field, e.Offset), want: e.Err.Error(), bare: true, depth: e.Depth,
			value: !e.Depth,
		}
		return false
	}
	s.own, s.ownAt = srid, field.from
	return true
}

// readLatLon reads a latitude and a longitude.
func (s *scanner) readLatLon(b []byte) error {
	lat, lon, ok := s.latLon(trim(b))
	if !ok {
		return &wkt.CellError{Err: errors.New(`want a latitude and a longitude, as "(40.7, -73.9)"`)}
	}
	g := &s.sink.Geom
	g.X, g.Y, s.kind = append(g.X, lon), append(g.Y, lat), geoarrow.Point
	return nil
}

// readJSON reads a geometry object of GeoJSON.
func (s *scanner) readJSON(b []byte) error {
	kind, err := s.json.Read(&s.sink.Geom, &s.sink.Shapes, b)
	if bad := (*geojson.CellError)(nil); errors.As(err, &bad) {
		return &wkt.CellError{Offset: bad.Offset, Depth: bad.Depth, Err: bad.Err}
	}
	s.kind = kind
	return nil
}

// latLon reads two numbers with a comma between, in brackets or not.
func (t *text) latLon(b []byte) (lat, lon float64, ok bool) {
	if len(b) > 1 && b[0] == '(' && b[len(b)-1] == ')' {
		b = b[1 : len(b)-1]
	}
	first, second, found := bytes.Cut(b, []byte(","))
	if !found {
		return 0, 0, false
	}
	y, okY := t.numberWith(trim(first), true, '.')
	x, okX := t.numberWith(trim(second), true, '.')
	ok = okX && okY && !math.IsInf(x.Float-y.Float, 0) && !math.IsNaN(x.Float-y.Float)
	return y.Float, x.Float, ok
}

// readWKB reads hexadecimal digits, with blanks around them.
func (s *scanner) readWKB(b []byte) (srid int32, err error) {
	digits := trim(b)
	before := len(b) - len(bytes.TrimLeft(b, " \t"))
	fail := func(at int, what string) error { return &wkt.CellError{Offset: before + at, Err: errors.New(what)} }
	var bad int
	if s.hex, bad = geoarrow.AppendHex(s.hex[:0], digits); bad >= 0 {
		return 0, fail(bad, "want pairs of hexadecimal digits, of WKB")
	}
	s.wkb = geoarrow.WKBDecoder{}
	kind, id, err := s.wkb.Read(&s.sink.Geom, s.hex)
	if err != nil {
		e := (*geoarrow.WKBError)(nil)
		errors.As(err, &e) // no other form is possible
		return 0, fail(2*e.Offset, e.What)
	}
	if id > math.MaxInt32 {
		return 0, fail(0, fmt.Sprintf("SRID %d is beyond %d", id, math.MaxInt32))
	}
	s.kind = kind
	k := &s.sink.Shapes
	k.UnclosedRings += s.wkb.UnclosedRings
	k.ShortRings += s.wkb.ShortRings
	k.ShortLines += s.wkb.ShortLines
	return int32(id), nil
}

// inFile returns the index in the window of the byte at index at of a cell's text, whose quotes
// were undoubled.
func (s *scanner) inFile(c cell, at int) int {
	if !c.doubled || s.charset != nil {
		return min(c.from+at, c.to)
	}
	p := c.from
	for ; at > 0 && p < c.to; at-- {
		if s.At(p) == s.quote {
			p++
		}
		p++
	}
	return p
}

// endShape ends the geometry of a record that is otherwise valid. It returns false with a fault if
// its SRID differs from that of earlier records. Skipped records don't count.
func (s *scanner) endShape() bool {
	g := &s.sink.Geom
	if s.own != 0 {
		if s.srid != 0 && s.own != s.srid {
			s.fault = fault{pos: s.ownAt, want: fmt.Sprintf(
				"SRID %d, after records of SRID %d: a column has one coordinate reference system", s.own, s.srid,
			), bare: true, file: true}
			s.fault.field = s.shape[0] + 1
			if s.guessed {
				s.fault.want += "; the option geometry=none reads the table without it"
			}
			return false
		}
		s.srid = s.own
	}
	switch {
	case s.geometry != points && s.kind != geoarrow.NoKind:
		wkt.End(g, s.kind)
	case s.geometry == points && !s.x.null && !s.y.null:
		g.X, g.Y = append(g.X, s.x.v), append(g.Y, s.y.v)
		g.End(geoarrow.Point)
	default:
		g.Null()
	}
	return true
}

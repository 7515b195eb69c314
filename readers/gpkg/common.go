package gpkg

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/sqlite"
)

// common reads the values of the current row from column i on, up to the first one that is not of a
// frequent kind. It returns the index of that one. This is sqlite.Record.Next and column.append for
// these kinds, without their calls.
func (s *scanner) common(r *sqlite.Record, i int) int {
	p, n, fields := r.Payload, s.sink.Rows, s.sink.fields
	head, body := r.Head, r.Body
loop:
	for head < r.HeadEnd && i < len(fields) {
		serial, next := uint(p[head]), head+1
		if serial >= 0x80 {
			if next >= r.HeadEnd || p[next] >= 0x80 {
				break
			}
			serial = serial&0x7f<<7 | uint(p[next])
			next++
		}
		f := &fields[i]
		c := f.to
		if serial >= 12 {
			size := int(serial-12) / 2
			if size > len(p)-body {
				break
			}
			b := p[body : body+size : body+size]
			switch {
			case f.frequent == frequentShape && serial&1 == 0:
				s.shapeClass, s.shapeAt, s.shapeTo = sqlite.Blob, body, body+size
			case f.frequent == frequentText && serial&1 == 1 && utf8.Valid(b):
				if c.N < n {
					c.Pad(n)
				}
				c.Text = append(c.Text, b...)
				c.EndText()
			default:
				break loop
			}
			body += size
		} else if serial > 0 {
			size := int(sqlite.Sizes[serial])
			if size > len(p)-body || body+8 > cap(p) || serial > 9 {
				break
			}
			v := int64(binary.BigEndian.Uint64(p[body:body+8])) >> sqlite.Shifts[serial]
			if serial >= 8 {
				v = int64(serial & 1)
			}
			switch {
			case f.frequent == frequentFloat && serial == 7:
				x := math.Float64frombits(uint64(v))
				if x != x {
					x = nan
				}
				if c.N < n {
					c.Pad(n)
				}
				c.Floats = append(c.Floats, x)
			case serial != 7 && (f.frequent == frequentInt64 || f.frequent == frequentInt32 && v == int64(int32(v))):
				if c.N < n {
					c.Pad(n)
				}
				c.Ints = append(c.Ints, v)
			default:
				break loop
			}
			c.Filled()
			body += size
		}
		head = next
		i++
	}
	r.Head, r.Body = head, body
	return i
}

// frequent is a kind of values that common reads.
type frequent uint8

const (
	frequentNone frequent = iota
	frequentInt32
	frequentInt64
	frequentFloat
	frequentText
	frequentShape
)

// frequentOf returns the kind of a column that is read.
func frequentOf(d *column, utf8 bool) frequent {
	switch d.store {
	case storeInt32:
		return frequentInt32
	case storeInt64:
		return frequentInt64
	case storeFloat:
		return frequentFloat
	case storeText:
		if utf8 {
			return frequentText
		}
	case storeGeometry:
		return frequentShape
	}
	return frequentNone
}

// Sizes of parts of WKB.
const (
	pointBytes   = 1 + 4 + 16
	polygonBytes = 1 + 4 + 4 // without rings
)

// commonShape appends the row of a little-endian Point or Polygon without z and m, and reports
// whether the WKB is one.
func (s *scanner) commonShape(b []byte) bool {
	if len(b) < polygonBytes || b[0] != 1 {
		return false
	}
	switch g := &s.sink.Geom; binary.LittleEndian.Uint32(b[1:]) {
	case uint32(geoarrow.Point):
		if len(b) != pointBytes {
			return false
		}
		x := math.Float64frombits(binary.LittleEndian.Uint64(b[5:]))
		y := math.Float64frombits(binary.LittleEndian.Uint64(b[13:]))
		if x != x || y != y {
			return false
		}
		g.X, g.Y = append(g.X, x), append(g.Y, y)
		g.End(geoarrow.Point)
		return true
	case uint32(geoarrow.Polygon):
		return s.commonPolygon(b)
	}
	return false
}

// commonPolygon is commonShape for a Polygon.
func (s *scanner) commonPolygon(b []byte) bool {
	g, shapes := &s.sink.Geom, s.sink.Shapes
	rings := binary.LittleEndian.Uint32(b[5:])
	at := polygonBytes
	for range rings {
		if len(b)-at < 4 {
			g.Undo()
			return false
		}
		n := int(binary.LittleEndian.Uint32(b[at:]))
		at += 4
		if n > (len(b)-at)/16 {
			g.Undo()
			return false
		}
		from := len(g.X)
		g.Extend(n, geoarrow.XY)
		x, y := g.X[from:], g.Y[from:]
		geoarrow.FillXY(x, y, b[at:at+16*n])
		at += 16 * n
		g.EndRing()
		if n < 4 {
			shapes.ShortRings++
		}
		if n > 0 && (x[0] != x[n-1] || y[0] != y[n-1]) {
			shapes.UnclosedRings++
		}
	}
	if at != len(b) {
		g.Undo()
		return false
	}
	s.sink.Shapes = shapes
	g.End(geoarrow.Polygon)
	return true
}

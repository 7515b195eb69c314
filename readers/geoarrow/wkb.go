package geoarrow

import (
	"encoding/binary"
	"math"
	"slices"
)

// ISO WKB, OGC 06-103r4 section 8.2, always little-endian:
//
//	01  type u32                                       type = kind + 1000 for Z, 2000 for M, 3000 for both
//	    Point                 ordinates                NaN in each if empty
//	    LineString            count u32, positions
//	    Polygon               count u32, { count u32, positions }
//	    Multi…, Collection    count u32, geometries, each with its own 01 and type
const (
	wkbHeaderBytes = 1 + 4 // byte order and type
	wkbCountBytes  = 4
)

// AppendWKB appends the ISO WKB of a geometry other than a collection. NaN ordinates are written as
// the shape has them: 0x7ff8000000000000 everywhere in this package.
func AppendWKB(dst []byte, s Shape) []byte {
	start := len(dst)
	end := start + s.wkbSize()
	dst = slices.Grow(dst, end-start)[:end]
	s.putWKB(dst[start:])
	return dst
}

// AppendWKBHeader appends the byte order, the type and the number of members of a geometry with
// members.
func AppendWKBHeader(dst []byte, k Kind, d Dim, count uint32) []byte {
	dst = append(dst, 1)
	dst = binary.LittleEndian.AppendUint32(dst, wkbType(k, d))
	return binary.LittleEndian.AppendUint32(dst, count)
}

func wkbType(k Kind, d Dim) uint32 { return uint32(k) + 1000*uint32(d) }

const wkbCountedBytes = wkbHeaderBytes + wkbCountBytes

// wkbSize returns the length of the shape's WKB in bytes.
func (s *Shape) wkbSize() int {
	width := 8 * s.Dim.Size()
	positions := width * int(s.C1-s.C0)
	switch s.Kind {
	case Point:
		return wkbHeaderBytes + width
	case LineString:
		return wkbCountedBytes + positions
	case MultiPoint:
		return wkbCountedBytes + positions + wkbHeaderBytes*int(s.C1-s.C0)
	case Polygon:
		return wkbCountedBytes + positions + wkbCountBytes*int(s.R1-s.R0)
	case MultiLineString:
		return wkbCountedBytes + positions + wkbCountedBytes*int(s.R1-s.R0)
	case MultiPolygon:
		return wkbCountedBytes + positions + wkbCountBytes*int(s.R1-s.R0) + wkbCountedBytes*int(s.P1-s.P0)
	}
	return 0
}

// putWKB stores the shape's WKB in b, which is wkbSize long. It and the functions that it calls
// return the rest of b.
func (s *Shape) putWKB(b []byte) []byte {
	switch s.Kind {
	case Point:
		return s.putPoint(b, s.C0, s.C1)
	case LineString:
		return s.putPositions(putHeader(b, LineString, s.Dim, s.C1-s.C0), s.C0, s.C1)
	case Polygon:
		return s.putPolygon(b, s.R0, s.R1, s.C0)
	case MultiPoint:
		b = putHeader(b, MultiPoint, s.Dim, s.C1-s.C0)
		for c := s.C0; c < s.C1; c++ {
			b = s.putPoint(b, c, c+1)
		}
	case MultiLineString:
		b = putHeader(b, MultiLineString, s.Dim, s.R1-s.R0)
		c := s.C0
		for r := s.R0; r < s.R1; r++ {
			end := s.Rings[r+1]
			b = s.putPositions(putHeader(b, LineString, s.Dim, end-c), c, end)
			c = end
		}
	case MultiPolygon:
		b = putHeader(b, MultiPolygon, s.Dim, s.P1-s.P0)
		r, c := s.R0, s.C0
		for p := s.P0; p < s.P1; p++ {
			end := s.Parts[p+1]
			b = s.putPolygon(b, r, end, c)
			if end > r {
				r, c = end, s.Rings[end]
			}
		}
	}
	return b
}

func putHeader(b []byte, k Kind, d Dim, count int32) []byte {
	_ = b[wkbCountedBytes-1]
	b[0] = 1
	binary.LittleEndian.PutUint32(b[1:], wkbType(k, d))
	binary.LittleEndian.PutUint32(b[5:], uint32(count))
	return b[wkbCountedBytes:]
}

// putPoint stores the only position of [c0, c1), or NaN if there is none.
func (s *Shape) putPoint(b []byte, c0, c1 int32) []byte {
	b[0] = 1
	binary.LittleEndian.PutUint32(b[1:], wkbType(Point, s.Dim))
	b = b[wkbHeaderBytes:]
	if c0 < c1 {
		return s.putPositions(b, c0, c1)
	}
	for range s.Dim.Size() {
		binary.LittleEndian.PutUint64(b, math.Float64bits(nan))
		b = b[8:]
	}
	return b
}

// putPolygon stores the rings [r0, r1), the first of which starts at position c.
func (s *Shape) putPolygon(b []byte, r0, r1, c int32) []byte {
	b = putHeader(b, Polygon, s.Dim, r1-r0)
	for r := r0; r < r1; r++ {
		end := s.Rings[r+1]
		binary.LittleEndian.PutUint32(b, uint32(end-c))
		b = s.putPositions(b[wkbCountBytes:], c, end)
		c = end
	}
	return b
}

func (s *Shape) putPositions(b []byte, c0, c1 int32) []byte {
	x, y := s.X[c0:c1], s.Y[c0:c1]
	switch s.Dim {
	case XY:
		return putPositions2(b, x, y)
	case XYZ:
		return putPositions3(b, x, y, s.Z[c0:c1])
	case XYM:
		return putPositions3(b, x, y, s.M[c0:c1])
	}
	z, m := s.Z[c0:c1], s.M[c0:c1]
	for i, v := range x {
		p := b[32*i : 32*i+32]
		binary.LittleEndian.PutUint64(p, math.Float64bits(v))
		binary.LittleEndian.PutUint64(p[8:], math.Float64bits(y[i]))
		binary.LittleEndian.PutUint64(p[16:], math.Float64bits(z[i]))
		binary.LittleEndian.PutUint64(p[24:], math.Float64bits(m[i]))
	}
	return b[32*len(x):]
}

func putPositions2(b []byte, x, y []float64) []byte {
	y = y[:len(x)]
	for i, v := range x {
		p := b[16*i : 16*i+16]
		binary.LittleEndian.PutUint64(p, math.Float64bits(v))
		binary.LittleEndian.PutUint64(p[8:], math.Float64bits(y[i]))
	}
	return b[16*len(x):]
}

func putPositions3(b []byte, x, y, z []float64) []byte {
	y, z = y[:len(x)], z[:len(x)]
	for i, v := range x {
		p := b[24*i : 24*i+24]
		binary.LittleEndian.PutUint64(p, math.Float64bits(v))
		binary.LittleEndian.PutUint64(p[8:], math.Float64bits(y[i]))
		binary.LittleEndian.PutUint64(p[16:], math.Float64bits(z[i]))
	}
	return b[24*len(x):]
}

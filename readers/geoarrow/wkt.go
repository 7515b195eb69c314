package geoarrow

import (
	"math"
	"strconv"
)

// WKT as OGC 06-103r4 section 7 has it and GDAL, GEOS and shapely read it: "POINT Z (1 2 3)",
// "MULTIPOINT ((1 2), (3 4))", "POLYGON EMPTY". An empty member is EMPTY too, and so is a Point or
// a member of a MultiPoint whose ordinates are all NaN, as in WKB.

var wktNames = [...]string{
	"", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION",
}

var wktDims = [...]string{XY: " ", XYZ: " Z ", XYM: " M ", XYZM: " ZM "}

const wktEmpty = "EMPTY"

// AppendWKT appends the WKT of a geometry other than a collection, with the fewest digits that read
// back as the same float64; a NaN ordinate is nan.
func AppendWKT(dst []byte, s Shape) []byte {
	dst = append(dst, wktNames[s.Kind]...)
	dst = append(dst, wktDims[s.Dim]...)
	switch s.Kind {
	case Point:
		return s.appendPoint(dst, s.C0, s.C1)
	case LineString:
		return s.appendPositions(dst, s.C0, s.C1)
	case MultiPoint:
		return appendList(dst, s.C0, s.C1, func(dst []byte, c int32) []byte { return s.appendPoint(dst, c, c+1) })
	case Polygon, MultiLineString:
		return s.appendRings(dst, s.R0, s.R1, s.C0)
	}
	r0, c0 := s.R0, s.C0
	return appendList(dst, s.P0, s.P1, func(dst []byte, p int32) []byte {
		r1 := s.Parts[p+1]
		dst = s.appendRings(dst, r0, r1, c0)
		if r1 > r0 {
			r0, c0 = r1, s.Rings[r1]
		}
		return dst
	})
}

// appendList appends "(…, …)" with the elements [from, to), or EMPTY if there is none.
func appendList(dst []byte, from, to int32, element func(dst []byte, i int32) []byte) []byte {
	if from == to {
		return append(dst, wktEmpty...)
	}
	dst = append(dst, '(')
	for i := from; i < to; i++ {
		if i > from {
			dst = append(dst, ", "...)
		}
		dst = element(dst, i)
	}
	return append(dst, ')')
}

func (s *Shape) appendPoint(dst []byte, c0, c1 int32) []byte {
	if c0 == c1 || s.allNaN(c0) {
		return append(dst, wktEmpty...)
	}
	return s.appendPositions(dst, c0, c1)
}

// appendRings appends rings, the first of which starts at position c0.
func (s *Shape) appendRings(dst []byte, r0, r1, c0 int32) []byte {
	return appendList(dst, r0, r1, func(dst []byte, r int32) []byte {
		c1 := s.Rings[r+1]
		dst = s.appendPositions(dst, c0, c1)
		c0 = c1
		return dst
	})
}

func (s *Shape) appendPositions(dst []byte, c0, c1 int32) []byte {
	return appendList(dst, c0, c1, func(dst []byte, c int32) []byte {
		dst = appendNumber(dst, s.X[c])
		dst = appendNumber(append(dst, ' '), s.Y[c])
		if s.Dim&HasZ != 0 {
			dst = appendNumber(append(dst, ' '), s.Z[c])
		}
		if s.Dim&HasM != 0 {
			dst = appendNumber(append(dst, ' '), s.M[c])
		}
		return dst
	})
}

// allNaN reports whether position c is that of an empty Point.
func (s *Shape) allNaN(c int32) bool {
	return s.X[c] != s.X[c] && s.Y[c] != s.Y[c] &&
		(s.Dim&HasZ == 0 || s.Z[c] != s.Z[c]) && (s.Dim&HasM == 0 || s.M[c] != s.M[c])
}

// appendNumber writes an exponent only where JavaScript does: from 1e21 and below 1e-6 (ECMA-262,
// Number::toString).
func appendNumber(dst []byte, v float64) []byte {
	switch abs := math.Abs(v); {
	case v != v:
		return append(dst, "nan"...)
	case math.IsInf(v, 1):
		return append(dst, "inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-inf"...)
	case abs >= 1e21, abs < 1e-6 && abs > 0:
		return strconv.AppendFloat(dst, v, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}

// WKBToWKT appends the WKT of any ISO WKB geometry, of either byte order and with collections in
// collections. Bytes that are not WKB, end too early, continue after the geometry or nest deeper
// than 1,024 give a *WKBError and dst unchanged.
func WKBToWKT(dst, wkb []byte) ([]byte, error) {
	r := wkbReader{b: wkb}
	start := len(dst)
	h, err := r.head()
	if err == nil {
		dst, err = r.appendTagged(dst, h, 0)
	}
	if err == nil && r.at < len(wkb) {
		err = r.errorf("%d bytes after the geometry", len(wkb)-r.at)
	}
	if err != nil {
		return dst[:start], err
	}
	return dst, nil
}

// appendTagged appends a geometry with its name.
func (r *wkbReader) appendTagged(dst []byte, h wkbHead, depth int) ([]byte, error) {
	dst = append(dst, wktNames[h.kind]...)
	dst = append(dst, wktDims[h.dim]...)
	return r.appendText(dst, h, depth)
}

// appendText appends the part after the name of a geometry.
func (r *wkbReader) appendText(dst []byte, h wkbHead, depth int) ([]byte, error) {
	switch h.kind {
	case Point:
		p, err := r.positions(h, 1)
		if err != nil {
			return dst, err
		}
		if h.allNaN(p) {
			return append(dst, wktEmpty...), nil
		}
		return appendRun(dst, h, p), nil
	case LineString:
		return r.appendRing(dst, h)
	case Polygon:
		return r.appendCounted(dst, h, wkbCountBytes, func(dst []byte) ([]byte, error) { return r.appendRing(dst, h) })
	}
	if depth >= maxWKBDepth {
		return dst, r.errorf("collections are nested deeper than %d", maxWKBDepth)
	}
	return r.appendCounted(dst, h, minMemberBytes, func(dst []byte) ([]byte, error) {
		m, err := r.member(h)
		switch {
		case err != nil:
			return dst, err
		case h.kind == GeometryCollection:
			return r.appendTagged(dst, m, depth+1)
		}
		return r.appendText(dst, m, depth+1)
	})
}

// appendCounted appends "(…, …)" with a counted list of elements of at least least bytes each.
func (r *wkbReader) appendCounted(dst []byte, h wkbHead, least int, element func(dst []byte) ([]byte,
	error),
) ([]byte, error) {
	n, err := r.count(h, least)
	if err != nil {
		return dst, err
	}
	if n == 0 {
		return append(dst, wktEmpty...), nil
	}
	dst = append(dst, '(')
	for i := range n {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if dst, err = element(dst); err != nil {
			return dst, err
		}
	}
	return append(dst, ')'), nil
}

func (r *wkbReader) appendRing(dst []byte, h wkbHead) ([]byte, error) {
	n, err := r.count(h, 8*h.dim.Size())
	if err != nil {
		return dst, err
	}
	p, err := r.positions(h, n)
	if err != nil {
		return dst, err
	}
	return appendRun(dst, h, p), nil
}

// appendRun appends the positions of p.
func appendRun(dst []byte, h wkbHead, p []byte) []byte {
	n := h.dim.Size()
	return appendList(dst, 0, int32(len(p)/(8*n)), func(dst []byte, c int32) []byte {
		for i := range n {
			if i > 0 {
				dst = append(dst, ' ')
			}
			dst = appendNumber(dst, h.ordinate(p, int(c)*n+i))
		}
		return dst
	})
}

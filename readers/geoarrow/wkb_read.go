package geoarrow

import (
	"encoding/binary"
	"fmt"
	"math"
)

// maxWKBDepth limits collections inside collections, as --max-depth limits the brackets of a file.
const maxWKBDepth = 1024

// WKBError is the position of the first byte that is not ISO WKB.
type WKBError struct {
	Offset int // bytes from the start of the geometry
	What   string
}

func (e *WKBError) Error() string { return fmt.Sprintf("wkb: byte %d: %s", e.Offset, e.What) }

// wkbReader walks ISO WKB of either byte order. It trusts no count: each is compared with the bytes
// left before it is used.
type wkbReader struct {
	b  []byte
	at int
}

// wkbHead is the start of a geometry.
type wkbHead struct {
	kind  Kind
	dim   Dim
	order binary.ByteOrder
}

func (r *wkbReader) errorf(format string, args ...any) error {
	return &WKBError{r.at, fmt.Sprintf(format, args...)}
}

func (r *wkbReader) head() (wkbHead, error) {
	var h wkbHead
	if len(r.b)-r.at < wkbHeaderBytes {
		return h, r.errorf("the geometry ends within its header")
	}
	switch r.b[r.at] {
	case 0:
		h.order = binary.BigEndian
	case 1:
		h.order = binary.LittleEndian
	default:
		return h, r.errorf("byte order %d is neither 0 nor 1", r.b[r.at])
	}
	code := h.order.Uint32(r.b[r.at+1:])
	if code >= 4000 || code%1000 < uint32(Point) || code%1000 > uint32(GeometryCollection) {
		return h, r.errorf("type %d is not one of Point to GeometryCollection", code)
	}
	r.at += wkbHeaderBytes
	h.kind, h.dim = Kind(code%1000), Dim(code/1000)
	return h, nil
}

// count reads a number of elements of at least least bytes each.
func (r *wkbReader) count(h wkbHead, least int) (int, error) {
	left := len(r.b) - r.at - wkbCountBytes
	if left < 0 {
		return 0, r.errorf("the geometry ends within a count")
	}
	n := int64(h.order.Uint32(r.b[r.at:]))
	if n*int64(least) > int64(left) {
		return 0, r.errorf("count %d needs more than the %d bytes left", n, left)
	}
	r.at += wkbCountBytes
	return int(n), nil
}

// positions consumes the bytes of n positions.
func (r *wkbReader) positions(h wkbHead, n int) ([]byte, error) {
	size := 8 * h.dim.Size()
	if n > (len(r.b)-r.at)/size {
		return nil, r.errorf("the geometry ends within its positions")
	}
	p := r.b[r.at : r.at+n*size]
	r.at += len(p)
	return p, nil
}

// member reads the header of a member of a geometry: members of a Multi kind have its single kind
// and dimension, those of a collection any kind and its dimension.
func (r *wkbReader) member(of wkbHead) (wkbHead, error) {
	start := r.at
	h, err := r.head()
	switch {
	case err != nil:
		return h, err
	case h.dim != of.dim, of.kind.IsMulti() && h.kind.Multi() != of.kind, of.kind.IsMulti() && h.kind == of.kind:
		r.at = start
		return h, r.errorf("a %s has a member %s", MakeRowKind(of.kind, of.dim), MakeRowKind(h.kind, h.dim))
	}
	return h, nil
}

// minMemberBytes is the length of the shortest member of a geometry, an empty LineString.
const minMemberBytes = wkbHeaderBytes + wkbCountBytes

// eachRun calls f with every run of positions in the geometry, with bytes of a whole number of
// positions.
func (r *wkbReader) eachRun(h wkbHead, depth int, f func(h wkbHead, positions []byte)) error {
	n, rings := 1, 0
	var err error
	switch h.kind {
	case Point:
	case LineString:
		n, err = r.count(h, 8*h.dim.Size())
	case Polygon:
		rings, err = r.count(h, wkbCountBytes)
		n = 0
	default:
		return r.eachMember(h, depth, f)
	}
	if err != nil {
		return err
	}
	if h.kind != Polygon {
		p, err := r.positions(h, n)
		if err != nil {
			return err
		}
		f(h, p)
	}
	for range rings {
		n, err := r.count(h, 8*h.dim.Size())
		if err != nil {
			return err
		}
		p, err := r.positions(h, n)
		if err != nil {
			return err
		}
		f(h, p)
	}
	return nil
}

func (r *wkbReader) eachMember(h wkbHead, depth int, f func(h wkbHead, positions []byte)) error {
	if depth >= maxWKBDepth {
		return r.errorf("collections are nested deeper than %d", maxWKBDepth)
	}
	n, err := r.count(h, minMemberBytes)
	if err != nil {
		return err
	}
	for range n {
		m, err := r.member(h)
		if err != nil {
			return err
		}
		if err := r.eachRun(m, depth+1, f); err != nil {
			return err
		}
	}
	return nil
}

// wkbRuns calls f with every run of positions of one geometry.
func wkbRuns(wkb []byte, f func(h wkbHead, positions []byte)) error {
	r := wkbReader{b: wkb}
	h, err := r.head()
	if err != nil {
		return err
	}
	return r.eachRun(h, 0, f)
}

// ordinate returns the i-th float64 of p.
func (h wkbHead) ordinate(p []byte, i int) float64 {
	return math.Float64frombits(h.order.Uint64(p[8*i:]))
}

// allNaN reports whether the position p is that of an empty Point.
func (h wkbHead) allNaN(p []byte) bool {
	for i := range len(p) / 8 {
		if v := h.ordinate(p, i); v == v {
			return false
		}
	}
	return true
}

// FillXY fills x and y, of equal length, from pairs of little-endian doubles, as in binary files.
// Every NaN becomes the canonical one.
func FillXY(x, y []float64, pairs []byte) {
	y = y[:len(x)]
	for i := range x {
		p := pairs[16*i:][:16]
		a, b := math.Float64frombits(binary.LittleEndian.Uint64(p)),
			math.Float64frombits(binary.LittleEndian.Uint64(p[8:]))
		if a != a {
			a = nan
		}
		if b != b {
			b = nan
		}
		x[i], y[i] = a, b
	}
}

// Fill fills v from little-endian doubles. Every NaN becomes the canonical one.
func Fill(v []float64, doubles []byte) {
	for i := range v {
		a := math.Float64frombits(binary.LittleEndian.Uint64(doubles[8*i:]))
		if a != a {
			a = nan
		}
		v[i] = a
	}
}

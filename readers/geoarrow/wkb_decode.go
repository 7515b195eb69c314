package geoarrow

import (
	"encoding/binary"
	"math"

	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// WKBDecoder decodes geometries from ISO WKB (OGC 06-103r4 section 8) and the EWKB of PostGIS, of
// either byte order. The zero value is ready to use.
//
//	order  1    0 big-endian, 1 little-endian
//	type   4    kind + 1000 z + 2000 m (ISO); kind | 0x80000000 z | 0x40000000 m | 0x20000000 srid (EWKB)
//	srid   4    if its bit is set
//	…           positions, or counts and members
//
// Members have the dimension of the geometry that contains them, and its SRID if they have one.
type WKBDecoder struct {
	// Counts over everything read so far.
	UnclosedRings int64 // rings whose last position is not the first
	ShortRings    int64 // rings of fewer than 4 positions
	ShortLines    int64 // lines of one position

	b     *GeometryBuilder
	srid  uint32
	known bool // of the current geometry
}

// Bits of the type in EWKB.
const (
	ewkbZ    = 0x80000000
	ewkbM    = 0x40000000
	ewkbSRID = 0x20000000
)

// Read reads all of wkb as one geometry into b. The row stays open: the caller ends it with End, or
// EndCollection for a GeometryCollection, or drops it with Undo. srid is 0 if there is none.
// Malformed bytes give a *WKBError and leave b as it was after its last row. A Point that is NaN in
// every ordinate is empty.
func (d *WKBDecoder) Read(b *GeometryBuilder, wkb []byte) (k Kind, srid uint32, err error) {
	d.b, d.srid, d.known = b, 0, false
	r := wkbReader{b: wkb}
	before := *d
	if k, err = d.geometry(&r, wkbHead{}, 0); err == nil && r.at < len(wkb) {
		err = r.errorf("%d bytes after the geometry", len(wkb)-r.at)
	}
	if err != nil {
		b.Undo()
		*d = before
		return NoKind, 0, err
	}
	return k, d.srid, nil
}

// IsHexWKB reports whether a text begins like hexadecimal WKB or EWKB: pairs of digits with a
// geometry's type. It checks no more than that.
func IsHexWKB(text []byte) bool {
	var head [wkbHeaderBytes]byte
	if len(text) < 2*(wkbHeaderBytes+wkbCountBytes) || len(text)%2 != 0 {
		return false
	}
	for i := range head {
		v, ok := hexByte(text[2*i:])
		if !ok {
			return false
		}
		head[i] = v
	}
	r := wkbReader{b: head[:]}
	_, _, err := r.typed()
	return err == nil
}

// AppendHex appends the bytes of a text of hexadecimal digits. bad is the index of the first other
// character, or the length of the text if that is odd; else -1.
func AppendHex(dst, text []byte) (out []byte, bad int) {
	for i := 0; i+1 < len(text); i += 2 {
		v, ok := hexByte(text[i:])
		if !ok {
			if number.HexDigits[text[i]] < 16 {
				i++
			}
			return dst, i
		}
		dst = append(dst, v)
	}
	if n := len(text); n%2 != 0 {
		if number.HexDigits[text[n-1]] > 15 {
			return dst, n - 1
		}
		return dst, n
	}
	return dst, -1
}

// hexByte returns the value of two digits.
func hexByte(text []byte) (v byte, ok bool) {
	high, low := number.HexDigits[text[0]], number.HexDigits[text[1]]
	return high<<4 | low&15, high|low < 16
}

// typed reads a byte order and a type, ISO or EWKB.
func (r *wkbReader) typed() (h wkbHead, flags uint32, err error) {
	if len(r.b)-r.at < wkbHeaderBytes {
		return h, 0, r.errorf("the geometry ends within its header")
	}
	switch r.b[r.at] {
	case 0:
		h.order = binary.BigEndian
	case 1:
		h.order = binary.LittleEndian
	default:
		return h, 0, r.errorf("byte order %d is neither 0 nor 1", r.b[r.at])
	}
	code := h.order.Uint32(r.b[r.at+1:])
	flags = code & (ewkbZ | ewkbM | ewkbSRID)
	code &^= flags
	if code >= 4000 || code%1000 < uint32(Point) || code%1000 > uint32(GeometryCollection) {
		return h, 0, r.errorf("type %d is not one of Point to GeometryCollection", code)
	}
	h.kind, h.dim = Kind(code%1000), Dim(code/1000)
	if flags&ewkbZ != 0 {
		h.dim |= HasZ
	}
	if flags&ewkbM != 0 {
		h.dim |= HasM
	}
	r.at += wkbHeaderBytes
	return h, flags, nil
}

// geometry reads a geometry and leaves it open. It is a member of another one, unless that is the
// zero value.
func (d *WKBDecoder) geometry(r *wkbReader, of wkbHead, depth int) (Kind, error) {
	start := r.at
	h, flags, err := r.typed()
	if err != nil {
		return NoKind, err
	}
	if flags&ewkbSRID != 0 {
		if len(r.b)-r.at < 4 {
			return NoKind, r.errorf("the geometry ends within its SRID")
		}
		srid := h.order.Uint32(r.b[r.at:])
		if of.kind != NoKind && (!d.known || srid != d.srid) {
			return NoKind, r.errorf("a member has another SRID than its geometry")
		}
		d.srid, d.known = srid, true
		r.at += 4
	}
	if of.kind != NoKind && (h.dim != of.dim || of.kind.IsMulti() && (h.kind == of.kind || h.kind.Multi() != of.kind)) {
		r.at = start
		return NoKind, r.errorf("a %s has a member %s", MakeRowKind(of.kind, of.dim), MakeRowKind(h.kind, h.dim))
	}
	switch h.kind {
	case Point:
		err = d.point(r, h, of.kind)
	case LineString:
		err = d.line(r, h)
	case Polygon:
		err = d.polygon(r, h)
	default:
		err = d.members(r, h, depth)
	}
	return h.kind, err
}

// members reads the members of a Multi kind or of a collection.
func (d *WKBDecoder) members(r *wkbReader, h wkbHead, depth int) error {
	if depth >= maxWKBDepth {
		return r.errorf("collections are nested deeper than %d", maxWKBDepth)
	}
	n, err := r.count(h, minMemberBytes)
	if err != nil {
		return err
	}
	if h.kind == GeometryCollection {
		d.b.BeginCollection()
	}
	d.b.Extend(0, h.dim)
	for range n {
		k, err := d.geometry(r, h, depth+1)
		if err != nil {
			return err
		}
		switch {
		case h.kind == MultiLineString:
			d.b.EndRing()
		case h.kind == MultiPolygon:
			d.b.EndPart()
		case h.kind == MultiPoint:
		case k == GeometryCollection:
			d.b.EndCollection()
		default:
			d.b.End(k)
		}
	}
	return nil
}

// point reads the position of a Point. An empty Point adds no position, except in a MultiPoint.
func (d *WKBDecoder) point(r *wkbReader, h wkbHead, of Kind) error {
	p, err := r.positions(h, 1)
	if err != nil {
		return err
	}
	if of != MultiPoint && h.allNaN(p) {
		d.b.Extend(0, h.dim)
		return nil
	}
	d.append(h, p, 1)
	return nil
}

func (d *WKBDecoder) line(r *wkbReader, h wkbHead) error {
	n, err := d.run(r, h)
	if n == 1 {
		d.ShortLines++
	}
	return err
}

func (d *WKBDecoder) polygon(r *wkbReader, h wkbHead) error {
	rings, err := r.count(h, wkbCountBytes)
	if err != nil {
		return err
	}
	d.b.Extend(0, h.dim)
	for range rings {
		first := len(d.b.X)
		n, err := d.run(r, h)
		if err != nil {
			return err
		}
		if n < 4 {
			d.ShortRings++
		}
		if last := first + n - 1; n > 0 && (d.b.X[first] != d.b.X[last] || d.b.Y[first] != d.b.Y[last]) {
			d.UnclosedRings++
		}
		d.b.EndRing()
	}
	return nil
}

// run reads a count and n positions.
func (d *WKBDecoder) run(r *wkbReader, h wkbHead) (n int, err error) {
	if n, err = r.count(h, 8*h.dim.Size()); err != nil {
		return 0, err
	}
	p, err := r.positions(h, n)
	if err != nil {
		return 0, err
	}
	d.append(h, p, n)
	return n, nil
}

// append adds n positions from the bytes p.
func (d *WKBDecoder) append(h wkbHead, p []byte, n int) {
	b, size := d.b, h.dim.Size()
	b.Extend(n, h.dim)
	if h.dim == XY && h.order == binary.LittleEndian {
		at := len(b.X) - n
		FillXY(b.X[at:], b.Y[at:], p)
		return
	}
	ordinates := [4][]float64{b.X, b.Y}
	switch h.dim {
	case XYZ:
		ordinates[2] = b.Z
	case XYM:
		ordinates[2] = b.M
	case XYZM:
		ordinates[2], ordinates[3] = b.Z, b.M
	}
	for k, v := range ordinates[:size] {
		v = v[len(v)-n:]
		for i := range v {
			if v[i] = math.Float64frombits(h.order.Uint64(p[8*(i*size+k):])); v[i] != v[i] {
				v[i] = nan
			}
		}
	}
}

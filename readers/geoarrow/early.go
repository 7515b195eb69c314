package geoarrow

import (
	"math"
	"slices"
)

// Rows of several kinds become a column of WKB, whatever follows. Once several kinds have occurred,
// WKB is written after every earlyPositions positions, while these are in the processor's cache,
// and their memory is reused.
const earlyPositions = 16 << 10

// earlyWKB is the WKB of the first rows of a chunk.
type earlyWKB struct {
	rows int     // whose positions were dropped
	ends []int32 // of their WKB, from 0
	wkb  []byte
	look int // number of positions after which the rows are examined
	step int // earlyPositions, except in tests
	err  error
}

// writeEarly writes the current rows as WKB and drops their positions, if the kinds so far have no
// native encoding.
func (b *GeometryBuilder) writeEarly() {
	if b.early.rows == 0 {
		if kind, _, _, nulls := b.survey(); kind != NoKind || nulls == len(b.kinds) {
			b.early.look = max(2*len(b.X), b.early.step)
			return
		}
	}
	b.early.look = b.early.step
	b.appendEarly()
}

func (b *GeometryBuilder) appendEarly() {
	if b.dimsOf(b.early.rows)&HasZ != 0 {
		b.Z = padNaN(b.Z, len(b.X))
	}
	if b.dimsOf(b.early.rows)&HasM != 0 {
		b.M = padNaN(b.M, len(b.X))
	}
	e := &b.early
	c := b.cursor()
	for i := e.rows; i < len(b.kinds) && e.err == nil; i++ {
		switch s := c.step(b, i); s.Kind {
		case NoKind:
		case GeometryCollection:
			e.wkb = append(e.wkb, b.wkb[s.C0:s.C1]...)
		default:
			start, size := len(e.wkb), s.wkbSize()
			e.wkb = slices.Grow(e.wkb, size)[:start+size]
			s.putWKB(e.wkb[start:])
		}
		if len(e.wkb) > math.MaxInt32 {
			e.err = ErrBatchTooLarge
		}
		e.ends = append(e.ends, int32(len(e.wkb)))
	}
	e.rows = len(b.kinds)
	b.X, b.Y, b.Z, b.M = b.X[:0], b.Y[:0], b.Z[:0], b.M[:0]
	b.rings, b.parts, b.ends, b.wkb = b.rings[:1], b.parts[:1], b.ends[:1], b.wkb[:0]
	b.endRow()
}

// dimsOf returns the union of the dimensions of the rows from row on.
func (b *GeometryBuilder) dimsOf(row int) (d Dim) {
	for _, k := range b.kinds[row:] {
		d |= k.Dim()
	}
	return d
}

// finishEarly is Finish for a column whose first rows are WKB already.
func (b *GeometryBuilder) finishEarly(dim Dim, nulls int) (*Geometry, error) {
	b.appendEarly()
	if b.early.err != nil {
		return nil, b.early.err
	}
	return &Geometry{
		Rows: len(b.kinds), Dim: dim, Nulls: nulls, Valid: b.validity(nulls), Kinds: slices.Clone(b.kinds),
		Offsets: HandOver(b.Memory, &b.early.ends), WKB: HandOver(b.Memory, &b.early.wkb),
	}, nil
}

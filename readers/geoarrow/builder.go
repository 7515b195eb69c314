package geoarrow

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// ErrBatchTooLarge reports that a batch of geometries needs more than 2^31-1 bytes in the requested
// encoding.
var ErrBatchTooLarge = errors.New("the geometries of a batch need more than 2 GiB")

// GeometryBuilder collects the geometries of a chunk, of any kinds, and finishes them as the
// narrowest column. Its slices are reused from chunk to chunk.
//
// A parser appends positions to X and Y, and to Z or M through AddZ and AddM; it closes a ring (or
// a line of a MultiLineString) with EndRing, a part of a MultiPolygon with EndPart, and the
// geometry with End. Everything between two Ends belongs to one row. A collection is enclosed in
// BeginCollection and EndCollection, and each of its members ends with End.
type GeometryBuilder struct {
	Memory     *Arena    // of the columns; its own unless set before the first Reset
	Unread     bool      // the geometries were not requested: each becomes null as soon as it has ended
	X, Y, Z, M []float64 // Z and M are empty until the first position that has them; after it they may lag behind X
	rings      []int32   // ends of rings, in positions; from 0
	parts      []int32   // ends of parts, in rings; from 0
	ends       []int32   // ends of rows in positions, rings, parts or bytes of wkb, as their kinds need; from 0
	kinds      []RowKind
	wkb        []byte // of the collections
	dim        Dim    // ordinates of the current row
	early      earlyWKB
	err        error // ErrBatchTooLarge, found before Finish

	nodes []collectionNode // of the outermost open collection
	open  []int            // open collections in nodes
	mark  builderMark
}

type builderMark struct{ x, rings, parts, wkb int }

// collectionNode is a member of a collection, in the order of the text; a collection precedes its
// members.
type collectionNode struct {
	kind    Kind
	members uint32 // of a collection
	shape   Shape  // of anything else
}

var nan = math.Float64frombits(0x7ff8000000000000)

// Reset drops all rows.
func (b *GeometryBuilder) Reset() {
	if b.Memory == nil {
		b.Memory = &Arena{}
	}
	step := cmp.Or(b.early.step, earlyPositions)
	*b = GeometryBuilder{
		Memory: b.Memory, Unread: b.Unread,
		X: b.X[:0], Y: b.Y[:0], Z: b.Z[:0], M: b.M[:0],
		rings: append(b.rings[:0], 0), parts: append(b.parts[:0], 0), ends: append(b.ends[:0], 0),
		kinds: b.kinds[:0], wkb: b.wkb[:0], nodes: b.nodes[:0], open: b.open[:0],
		early: earlyWKB{look: step, step: step, ends: append(b.early.ends[:0], 0), wkb: b.early.wkb[:0]},
	}
	b.endRow()
}

// Reserve grows the slices for a multiple of the present rows. It is called between rows.
func (b *GeometryBuilder) Reserve(times float64) {
	b.early.look = 0
	b.writeEarly()
	for _, v := range []*[]float64{&b.X, &b.Y, &b.Z, &b.M} {
		Reserve(b.Memory, v, times)
	}
	for _, v := range []*[]int32{&b.rings, &b.parts, &b.ends, &b.early.ends} {
		Reserve(b.Memory, v, times)
	}
	Reserve(b.Memory, &b.wkb, times)
	Reserve(b.Memory, &b.early.wkb, times)
}

// Sizes has the number of elements of each of a builder's slices.
type Sizes struct {
	ordinates [4]int
	ends      [4]int
	wkb       [2]int
}

// Expect returns the sizes for a multiple of the present rows, and a quarter more.
func (b *GeometryBuilder) Expect(times float64) Sizes {
	grown := func(n int) int { return int(float64(n) * times * 5 / 4) }
	s := Sizes{
		ordinates: [4]int{grown(len(b.X)), grown(len(b.Y)), grown(len(b.Z)), grown(len(b.M))},
		ends:      [4]int{grown(len(b.rings)), grown(len(b.parts)), grown(len(b.ends)), grown(len(b.early.ends))},
		wkb:       [2]int{grown(len(b.wkb)), grown(len(b.early.wkb))},
	}
	if b.early.rows > 0 { // positions are dropped repeatedly
		some := func(room int) int { return max(room, min(int(float64(room)*times), earlyPositions*5/4)) }
		s.ordinates = [4]int{some(cap(b.X)), some(cap(b.Y)), some(cap(b.Z)), some(cap(b.M))}
		s.ends = [4]int{some(cap(b.rings)), some(cap(b.parts)), some(cap(b.ends)), s.ends[3]}
		s.wkb[0] = some(cap(b.wkb))
	}
	return s
}

// Prepare allocates a new builder's slices with these sizes.
func (b *GeometryBuilder) Prepare(s Sizes) {
	for i, v := range []*[]float64{&b.X, &b.Y, &b.Z, &b.M} {
		*v = Alloc[float64](b.Memory, s.ordinates[i])
	}
	for i, v := range []*[]int32{&b.rings, &b.parts, &b.ends, &b.early.ends} {
		*v = Alloc[int32](b.Memory, s.ends[i])
	}
	b.wkb, b.early.wkb = Alloc[byte](b.Memory, s.wkb[0]), Alloc[byte](b.Memory, s.wkb[1])
	b.Reset()
}

// endRow sets the mark after the last row. It copies field by field: a copy of the whole struct
// would stall on the stores just made.
func (b *GeometryBuilder) endRow() {
	b.mark.x, b.mark.rings, b.mark.parts, b.mark.wkb = len(b.X), len(b.rings), len(b.parts), len(b.wkb)
}

// Rows returns the number of rows that were ended.
func (b *GeometryBuilder) Rows() int { return len(b.kinds) }

// AddZ sets the z of the last position.
func (b *GeometryBuilder) AddZ(z float64) {
	b.Z = append(padNaN(b.Z, len(b.X)-1), z)
	b.dim |= HasZ
}

// AddM sets the m of the last position.
func (b *GeometryBuilder) AddM(m float64) {
	b.M = append(padNaN(b.M, len(b.X)-1), m)
	b.dim |= HasM
}

// Extend adds n positions, whose ordinates the caller sets: the last n of X and Y, and those of Z
// and M that d has. The current geometry has them even if n is 0.
func (b *GeometryBuilder) Extend(n int, d Dim) {
	if d&HasZ != 0 {
		b.Z = longer(padNaN(b.Z, len(b.X)), n)
	}
	if d&HasM != 0 {
		b.M = longer(padNaN(b.M, len(b.X)), n)
	}
	b.X, b.Y = longer(b.X, n), longer(b.Y, n)
	b.dim |= d
}

// longer returns v with n more elements, whose values are undefined.
func longer(v []float64, n int) []float64 { return slices.Grow(v, n)[:len(v)+n] }

func padNaN(v []float64, n int) []float64 {
	from := len(v)
	if from >= n {
		return v
	}
	v = slices.Grow(v, n-from)[:n]
	for i := from; i < n; i++ {
		v[i] = nan
	}
	return v
}

// EndRing ends a ring of a polygon or a line of a MultiLineString.
func (b *GeometryBuilder) EndRing() { b.rings = append(b.rings, int32(len(b.X))) }

// EndPart ends a polygon of a MultiPolygon.
func (b *GeometryBuilder) EndPart() { b.parts = append(b.parts, int32(len(b.rings)-1)) }

// Null ends a row that has no geometry.
func (b *GeometryBuilder) Null() {
	b.kinds = append(b.kinds, 0)
	b.ends = append(b.ends, b.ends[len(b.ends)-1])
	b.endRow()
}

// End ends a geometry of the kind: the row, or a member of an open collection.
func (b *GeometryBuilder) End(k Kind) {
	if len(b.open) > 0 {
		b.endMember(k)
		return
	}
	if b.Unread {
		b.Undo()
		b.Null()
		return
	}
	end := len(b.X)
	switch k {
	case Polygon, MultiLineString:
		end = len(b.rings) - 1
	case MultiPolygon:
		end = len(b.parts) - 1
	}
	b.kinds = append(b.kinds, MakeRowKind(k, b.dim))
	b.ends = append(b.ends, int32(end))
	b.dim = 0
	b.endRow()
	if len(b.X) >= b.early.look {
		b.writeEarly()
	}
}

// Points ends a row for each of n positions, as Points. It is called between geometries.
func (b *GeometryBuilder) Points(x, y []float64) {
	if b.Unread {
		for range x {
			b.Null()
		}
		return
	}
	n := len(b.X)
	b.X, b.Y = append(b.X, x...), append(b.Y, y...)
	b.kinds, b.ends = slices.Grow(b.kinds, len(x)), slices.Grow(b.ends, len(x))
	for i := range x {
		b.kinds = append(b.kinds, MakeRowKind(Point, XY))
		b.ends = append(b.ends, int32(n+i+1))
	}
	b.endRow()
	if len(b.X) >= b.early.look {
		b.writeEarly()
	}
}

// Undo drops everything since the last End of a row: the current geometry, with all open
// collections.
func (b *GeometryBuilder) Undo() {
	m := b.mark
	b.X, b.Y = b.X[:m.x], b.Y[:m.x]
	b.Z, b.M = b.Z[:min(len(b.Z), m.x)], b.M[:min(len(b.M), m.x)]
	b.rings, b.parts, b.wkb = b.rings[:m.rings], b.parts[:m.parts], b.wkb[:m.wkb]
	b.dim = 0
	b.nodes, b.open = b.nodes[:0], b.open[:0]
}

// Mark is a position inside the current geometry, to which Rewind returns after a wrong guess at
// its kind or a repeated member.
type Mark struct {
	x, rings, parts, nodes, depth int
	members                       uint32 // of the innermost open collection
	dim                           Dim
}

// Mark returns the current position.
func (b *GeometryBuilder) Mark() (m Mark) {
	b.SetMark(&m)
	return m
}

// SetMark is Mark for a position that is rarely used: it is found again when needed, since copying
// it takes longer.
func (b *GeometryBuilder) SetMark(m *Mark) {
	m.x, m.rings, m.parts, m.nodes, m.depth, m.dim = len(b.X), len(b.rings), len(b.parts), len(b.nodes),
		len(b.open), b.dim
	if m.depth > 0 {
		m.members = b.nodes[b.open[m.depth-1]].members
	}
}

// Rewind drops what was added to the current geometry since m.
func (b *GeometryBuilder) Rewind(m Mark) {
	b.X, b.Y = b.X[:m.x], b.Y[:m.x]
	b.Z, b.M = b.Z[:min(len(b.Z), m.x)], b.M[:min(len(b.M), m.x)]
	b.rings, b.parts, b.nodes, b.open, b.dim = b.rings[:m.rings], b.parts[:m.parts], b.nodes[:m.nodes],
		b.open[:m.depth], m.dim
	if m.depth > 0 {
		b.nodes[b.open[m.depth-1]].members = m.members
	}
}

// cursor walks the rows of a builder, whose ends have a different unit for each kind.
type cursor struct {
	position, ring, part, wkb int32
	shape                     Shape
}

func (b *GeometryBuilder) cursor() *cursor {
	return &cursor{shape: Shape{X: b.X, Y: b.Y, Z: b.Z, M: b.M, Rings: b.rings, Parts: b.parts}}
}

// step returns the view of row i, which must follow the previous step's row. The view is valid
// until the next step. For a collection, C0 and C1 are bytes of wkb; a null row has NoKind.
func (c *cursor) step(b *GeometryBuilder, i int) *Shape {
	k, end := b.kinds[i], b.ends[i-b.early.rows+1]
	s := &c.shape
	s.Kind, s.Dim = k.Kind(), k.Dim()
	s.C0, s.R0, s.P0 = c.position, c.ring, c.part
	s.C1, s.R1, s.P1 = s.C0, s.R0, s.P0
	switch s.Kind {
	case Point, LineString, MultiPoint:
		s.C1 = end
	case Polygon, MultiLineString:
		s.R1 = end
	case MultiPolygon:
		if s.P1 = end; s.P1 > s.P0 {
			s.R1 = b.parts[s.P1]
		}
	case GeometryCollection:
		s.C0, s.C1 = c.wkb, end
		c.wkb = end
		return s
	}
	if s.R1 > s.R0 { // otherwise rings[R1] may be too small: positions of other kinds follow
		s.C1 = b.rings[s.R1]
	}
	c.position, c.ring, c.part = s.C1, s.R1, s.P1
	return s
}

// NullGeometry returns a column of null rows, native or, if k is NoKind, of WKB.
func NullGeometry(rows int, k Kind, d Dim) *Geometry {
	g := &Geometry{Rows: rows, Kind: k, Dim: d, Nulls: rows}
	if rows > 0 {
		g.Valid = make([]byte, (rows+7)/8)
	}
	switch k {
	case NoKind:
		g.Kinds, g.Offsets = make([]RowKind, rows), make([]int32, rows+1)
		return g
	case Point:
		g.X, g.Y = make([]float64, rows), make([]float64, rows)
		if d&HasZ != 0 {
			g.Z = make([]float64, rows)
		}
		if d&HasM != 0 {
			g.M = make([]float64, rows)
		}
		return g
	}
	g.Geoms = make([]int32, rows+1)
	if k == Polygon || k == MultiLineString || k == MultiPolygon {
		g.Rings = []int32{0}
	}
	if k == MultiPolygon {
		g.Parts = []int32{0}
	}
	return g
}

// AppendRow appends the WKB of the builder's only row, which is not null.
func (b *GeometryBuilder) AppendRow(dst []byte) []byte {
	if b.early.rows > 0 {
		return append(dst, b.early.wkb...)
	}
	if b.kinds[0].Dim()&HasZ != 0 {
		b.Z = padNaN(b.Z, len(b.X))
	}
	if b.kinds[0].Dim()&HasM != 0 {
		b.M = padNaN(b.M, len(b.X))
	}
	s := b.cursor().step(b, 0)
	if s.Kind == GeometryCollection {
		return append(dst, b.wkb[s.C0:s.C1]...)
	}
	return AppendWKB(dst, *s)
}

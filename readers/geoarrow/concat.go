package geoarrow

import (
	"math"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/bitutil"

	"github.com/vibeflight/vibeflight/readers/internal/bulk"
)

// Concat returns the rows of the parts one after the other, copied to memory of the arena. All
// parts have the same columns of the same types, and geometries of one Kind and Dim (see Widen and
// Promote). More than 2^31-1 bytes of text or WKB, or positions, give ErrBatchTooLarge.
func Concat(mem *Arena, parts []*Columns) (*Columns, error) {
	j := Concatenation{Memory: mem}
	return j.all(parts)
}

// Extend is Concat in the first part's own memory if that has room. The caller is the only one that
// appends to its slices.
func Extend(mem *Arena, parts []*Columns) (*Columns, error) {
	j := Concatenation{Memory: mem, c: parts[0]}
	return j.all(parts[1:])
}

// all appends the parts, and returns the rows.
func (j *Concatenation) all(parts []*Columns) (*Columns, error) {
	for _, p := range parts {
		if err := j.Append(p, 0, p.Rows); err != nil {
			return nil, err
		}
	}
	return j.Columns(), nil
}

// Concatenation collects the rows of several Columns one after the other, in memory of the arena.
type Concatenation struct {
	Memory *Arena
	c      *Columns
}

// Rows returns the number of rows.
func (j *Concatenation) Rows() int {
	if j.c == nil {
		return 0
	}
	return j.c.Rows
}

// Fits reports whether Append accepts the rows of c: the columns are the same, in the same order,
// of the same types, and geometries are of the same Kind and Dim. An empty Concatenation accepts
// any.
func (j *Concatenation) Fits(c *Columns) bool {
	if j.c == nil {
		return true
	}
	if len(c.Attributes) != len(j.c.Attributes) || (c.Geometry == nil) != (j.c.Geometry == nil) {
		return false
	}
	if g := c.Geometry; g != nil && (g.Kind != j.c.Geometry.Kind || g.Dim != j.c.Geometry.Dim) {
		return false
	}
	for i := range c.Attributes {
		a, b := &c.Attributes[i], &j.c.Attributes[i]
		if a.ID() != b.ID() || a.JSON != b.JSON || a.Mixed != b.Mixed || !arrow.TypeEqual(a.Type, b.Type) {
			return false
		}
	}
	return true
}

// Append copies the rows from (inclusive) to to (exclusive) of c, which fits.
func (j *Concatenation) Append(c *Columns, from, to int) error {
	if j.c == nil {
		j.c = emptyLike(c)
	}
	for i := range c.Attributes {
		if err := j.c.Attributes[i].append(j.Memory, j.c.Rows, &c.Attributes[i], from, to); err != nil {
			return err
		}
	}
	if c.Geometry != nil {
		if err := j.c.Geometry.append(j.Memory, c.Geometry, from, to); err != nil {
			return err
		}
	}
	j.c.Rows += to - from
	return nil
}

// Reserve allocates memory, in one block, for a number of rows like those of a Columns that fits,
// and a sixteenth more. It is called before the first Append.
func (j *Concatenation) Reserve(like *Columns, rows float64) {
	times := rows / float64(like.Rows) * 17 / 16
	// more slices than a geometry has; from the end of one to the start of the next
	const slices, between = 10, 64
	j.Memory.Expect(int(float64(like.Bytes())*times) + between*slices*(1+len(like.Attributes)))
	j.c = emptyLike(like)
	for i := range like.Attributes {
		j.c.Attributes[i].reserve(j.Memory, &like.Attributes[i], times)
	}
	if like.Geometry == nil {
		return
	}
	j.c.Geometry.reserve(j.Memory, like.Geometry, times)
}

func (g *Geometry) reserve(mem *Arena, like *Geometry, times float64) {
	g.Geoms, g.Parts, g.Rings = roomLike(mem, like.Geoms, times), roomLike(mem, like.Parts, times),
		roomLike(mem, like.Rings, times)
	g.X, g.Y = roomLike(mem, like.X, times), roomLike(mem, like.Y, times)
	g.Z, g.M = roomLike(mem, like.Z, times), roomLike(mem, like.M, times)
	g.Offsets, g.WKB = roomLike(mem, like.Offsets, times), roomLike(mem, like.WKB, times)
	g.Kinds = roomLike(mem, like.Kinds, times)
}

func (c *Column) reserve(mem *Arena, like *Column, times float64) {
	c.Offsets, c.Values = roomLike(mem, like.Offsets, times), roomLike(mem, like.Values, times)
	if c.Child != nil {
		c.Child.reserve(mem, like.Child, times)
	}
}

// roomLike returns an empty slice with capacity for a multiple of another's elements; nil if that
// has none.
func roomLike[T FixedWidth | ~uint8](mem *Arena, like []T, times float64) []T {
	if len(like) == 0 {
		return nil
	}
	return Alloc[T](mem, int(float64(len(like))*times)+1)
}

// Columns returns the rows. Nothing may be appended afterwards.
func (j *Concatenation) Columns() *Columns {
	if j.c == nil {
		return &Columns{}
	}
	if g := j.c.Geometry; g != nil && g.Kinds != nil {
		g.dropKinds()
	}
	return j.c
}

// emptyLike returns the columns of c without rows.
func emptyLike(c *Columns) *Columns {
	out := &Columns{Attributes: make([]Column, len(c.Attributes))}
	for i := range c.Attributes {
		out.Attributes[i] = emptyColumn(&c.Attributes[i])
	}
	if g := c.Geometry; g != nil {
		out.Geometry = &Geometry{Kind: g.Kind, Dim: g.Dim}
	}
	return out
}

func emptyColumn(c *Column) Column {
	out := Column{Name: c.Name, Role: c.Role, Type: c.Type, JSON: c.JSON, Mixed: c.Mixed}
	if c.Child != nil {
		child := emptyColumn(c.Child)
		out.Child = &child
	}
	return out
}

// append adds rows of p to c, which has rows rows.
func (c *Column) append(mem *Arena, rows int, p *Column, from, to int) error {
	c.Facts = c.Facts.Join(p.Facts)
	if from == 0 { // as Slice has it
		c.Rounded += p.Rounded
		c.Replaced += p.Replaced
	}
	c.Valid, c.Nulls = appendValid(c.Valid, c.Nulls, rows, p.Valid, from, to)
	var below span
	var err error
	switch t := c.Type.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		if c.Offsets, below, err = appendOffsets(mem, c.Offsets, p.Offsets, from, to); err == nil {
			c.Values = appendTo(mem, c.Values, p.Values[below.from:below.to])
		}
	case *arrow.ListType:
		elements := 0
		if len(c.Offsets) > 0 {
			elements = int(c.Offsets[len(c.Offsets)-1])
		}
		if c.Offsets, below, err = appendOffsets(mem, c.Offsets, p.Offsets, from, to); err == nil {
			err = c.Child.append(mem, elements, p.Child, int(below.from), int(below.to))
		}
	case *arrow.BooleanType:
		c.Values = appendBits(c.Values, rows, p.Values, from, to)
	case arrow.FixedWidthDataType:
		width := t.BitWidth() / 8
		c.Values = appendTo(mem, c.Values, p.Values[from*width:to*width])
	}
	return err
}

func (g *Geometry) append(mem *Arena, p *Geometry, from, to int) error {
	g.Valid, g.Nulls = appendValid(g.Valid, g.Nulls, g.Rows, p.Valid, from, to)
	if p.Kinds != nil && g.Kinds == nil {
		g.Kinds = append(Alloc[RowKind](mem, g.Rows+to-from), g.rowKinds()...)
	}
	if g.Kinds != nil {
		g.Kinds = append(g.Kinds, p.rowKinds()[from:to]...)
	}
	g.Rows += to - from
	below := span{int32(from), int32(to)}
	level := func(v *[]int32, of []int32) (err error) {
		*v, below, err = appendOffsets(mem, *v, of, int(below.from), int(below.to))
		return err
	}
	var errs [3]error
	switch g.Kind {
	case NoKind:
		if err := level(&g.Offsets, p.Offsets); err != nil {
			return err
		}
		g.WKB = appendTo(mem, g.WKB, p.WKB[below.from:below.to])
		return nil
	case LineString, MultiPoint:
		errs[0] = level(&g.Geoms, p.Geoms)
	case Polygon, MultiLineString:
		errs[0], errs[1] = level(&g.Geoms, p.Geoms), level(&g.Rings, p.Rings)
	case MultiPolygon:
		errs[0], errs[1], errs[2] = level(&g.Geoms, p.Geoms), level(&g.Parts, p.Parts), level(&g.Rings, p.Rings)
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	g.X, g.Y = appendTo(mem, g.X, p.X[below.from:below.to]), appendTo(mem, g.Y, p.Y[below.from:below.to])
	if g.Dim&HasZ != 0 {
		g.Z = appendTo(mem, g.Z, p.Z[below.from:below.to])
	}
	if g.Dim&HasM != 0 {
		g.M = appendTo(mem, g.M, p.M[below.from:below.to])
	}
	return nil
}

// appendTo is append with memory of the arena; nil stays nil if there is nothing to append.
func appendTo[T FixedWidth | ~uint8](mem *Arena, v, more []T) []T {
	v = room(mem, v, len(more))
	into, width := v[len(v):len(v)+len(more)], int(unsafe.Sizeof(*new(T)))
	mem.share(width*len(more), func(from, to int) { bulk.Copy(into[from/width:to/width], more[from/width:to/width]) })
	return v[:len(v)+len(more)]
}

// room grows v for n more elements.
func room[T FixedWidth | ~uint8](mem *Arena, v []T, n int) []T {
	if need := len(v) + n; need > cap(v) {
		v = append(Alloc[T](mem, max(need, len(v)*5/4)), v...)
	}
	return v
}

// appendOffsets appends the offsets of rows [from, to) of p, shifted to continue v, and returns the
// range that they refer to.
func appendOffsets(mem *Arena, v, p []int32, from, to int) ([]int32, span, error) {
	below := span{p[from], p[to]}
	v = room(mem, v, 1+to-from)
	if len(v) == 0 {
		v = append(v, 0)
	}
	end := v[len(v)-1]
	if int64(end)+int64(below.to-below.from) > math.MaxInt32 {
		return v, below, ErrBatchTooLarge
	}
	more, base := p[from+1:to+1], end-below.from
	v = v[:len(v)+len(more)]
	into := v[len(v)-len(more):]
	for i, o := range more {
		into[i] = base + o
	}
	return v, below, nil
}

// appendBits appends the bits [from, to) of p to the first n of v.
func appendBits(v []byte, n int, p []byte, from, to int) []byte {
	v = growBits(v, n+to-from)
	CopyBits(v, n, p, from, to-from)
	return v
}

// growBits extends a bitmap to n bits; the new ones are zero.
func growBits(v []byte, n int) []byte {
	size := (n + 7) / 8
	had := len(v)
	v = slices.Grow(v, size-had)[:size]
	clear(v[had:])
	return v
}

// appendValid appends the validity of rows [from, to) of p, nil being all valid, to that of n rows.
func appendValid(v []byte, nulls, n int, p []byte, from, to int) ([]byte, int) {
	more := 0
	if p != nil {
		more = to - from - bitutil.CountSetBits(p, from, to-from)
	}
	if nulls+more == 0 {
		return nil, 0
	}
	if nulls == 0 {
		v = growBits(v, n)
		setBits(v, 0, n)
	}
	if p != nil {
		return appendBits(v, n, p, from, to), nulls + more
	}
	v = growBits(v, n+to-from)
	setBits(v, n, to-from)
	return v, nulls + more
}

// setBits sets n bits, starting with bit at.
func setBits(b []byte, at, n int) {
	for end := at + n; at < end; {
		if at&7 == 0 && end-at >= 8 {
			b[at>>3] = 0xff
			at += 8
			continue
		}
		b[at>>3] |= 1 << (at & 7)
		at++
	}
}

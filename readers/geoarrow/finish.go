package geoarrow

import (
	"math"
	"slices"
)

// Finish returns the rows since Reset as a column in new memory. The encoding is native if all rows
// have one kind, or a kind and its Multi kind; otherwise it is WKB.
func (b *GeometryBuilder) Finish() (*Geometry, error) {
	if b.err != nil {
		return nil, b.err
	}
	kind, dim, uniform, nulls := b.survey()
	if b.early.rows > 0 || b.Memory.Lend && kind == NoKind && nulls < len(b.kinds) { // whose memory is reused
		return b.finishEarly(dim, nulls)
	}
	g := &Geometry{Rows: len(b.kinds), Kind: kind, Dim: dim, Nulls: nulls, Valid: b.validity(nulls)}
	if dim&HasZ != 0 {
		b.Z = padNaN(b.Z, len(b.X))
	}
	if dim&HasM != 0 {
		b.M = padNaN(b.M, len(b.X))
	}
	if !uniform {
		g.Kinds = slices.Clone(b.kinds)
	}
	switch {
	case kind == NoKind:
		return g, b.finishWKB(g)
	case kind == Point:
		b.finishPoints(g)
		return g, nil
	}
	g.X, g.Y = HandOver(b.Memory, &b.X), HandOver(b.Memory, &b.Y)
	if dim&HasZ != 0 {
		g.Z = HandOver(b.Memory, &b.Z)
	}
	if dim&HasM != 0 {
		g.M = HandOver(b.Memory, &b.M)
	}
	b.finishOffsets(g)
	return g, nil
}

// survey finds the column's kind and dimension, and whether every non-null row has exactly these.
func (b *GeometryBuilder) survey() (kind Kind, dim Dim, uniform bool, nulls int) {
	var count [256]int
	for _, k := range b.kinds {
		count[k]++
	}
	nulls = count[0]
	var kinds [8]bool
	different := 0
	for k, n := range count {
		if n > 0 && k != 0 {
			kinds[RowKind(k).Kind()] = true
			dim |= RowKind(k).Dim()
			different++
		}
	}
	for k := Point; k <= GeometryCollection; k++ {
		switch {
		case !kinds[k]:
		case kind == NoKind || kind.Multi() == k:
			kind = k
		default:
			return NoKind, dim, false, nulls
		}
	}
	if kind == GeometryCollection {
		kind = NoKind
	}
	return kind, dim, different == 1 && kind != NoKind, nulls
}

func (b *GeometryBuilder) validity(nulls int) []byte {
	if nulls == 0 {
		return nil
	}
	valid := make([]byte, (len(b.kinds)+7)/8)
	for i, k := range b.kinds {
		if k != 0 {
			valid[i>>3] |= 1 << (i & 7)
		}
	}
	return valid
}

// finishPoints writes a position for every row: 0 under a null, NaN for an empty point.
func (b *GeometryBuilder) finishPoints(g *Geometry) {
	n := len(b.kinds)
	spread := func(collected *[]float64) []float64 {
		v := *collected
		if len(v) == n { // no null and no empty point
			return HandOver(b.Memory, collected)
		}
		out := Alloc[float64](b.Memory, n)[:n]
		for i, k := range b.kinds {
			switch from := b.ends[i]; {
			case k == 0:
				out[i] = 0
			case from == b.ends[i+1]:
				out[i] = nan
			default:
				out[i] = v[from]
			}
		}
		return out
	}
	g.X, g.Y = spread(&b.X), spread(&b.Y)
	if g.Dim&HasZ != 0 {
		g.Z = spread(&b.Z)
	}
	if g.Dim&HasM != 0 {
		g.M = spread(&b.M)
	}
}

// finishOffsets gives the offsets of the column's kind, with its single kind promoted.
func (b *GeometryBuilder) finishOffsets(g *Geometry) {
	promoted := false
	for _, k := range b.kinds {
		if k != 0 && k.Kind() != g.Kind {
			promoted = true
			break
		}
	}
	if !promoted {
		g.Geoms = HandOver(b.Memory, &b.ends)
		switch g.Kind {
		case Polygon, MultiLineString:
			g.Rings = HandOver(b.Memory, &b.rings)
		case MultiPolygon:
			g.Rings, g.Parts = HandOver(b.Memory, &b.rings), HandOver(b.Memory, &b.parts)
		}
		return
	}
	b.promote(g)
}

// promote converts rows of a kind and of its Multi kind. A single geometry becomes a Multi of one
// part, an empty one a Multi of none.
func (b *GeometryBuilder) promote(g *Geometry) {
	c := b.cursor()
	g.Geoms = append(make([]int32, 0, len(b.ends)), 0)
	switch g.Kind {
	case MultiLineString:
		g.Rings = append(make([]int32, 0, len(b.rings)+len(b.kinds)), 0)
	case MultiPolygon:
		g.Rings = slices.Clone(b.rings)
		g.Parts = append(make([]int32, 0, len(b.parts)+len(b.kinds)), 0)
	}
	end := int32(0)
	for i := range b.kinds {
		s := c.step(b, i)
		switch s.Kind {
		case Point, MultiPoint:
			end = s.C1
		case LineString:
			if s.C1 > s.C0 {
				g.Rings = append(g.Rings, s.C1)
			}
			end = int32(len(g.Rings) - 1)
		case MultiLineString:
			g.Rings = append(g.Rings, b.rings[s.R0+1:s.R1+1]...)
			end = int32(len(g.Rings) - 1)
		case Polygon:
			if s.R1 > s.R0 {
				g.Parts = append(g.Parts, s.R1)
			}
			end = int32(len(g.Parts) - 1)
		case MultiPolygon:
			g.Parts = append(g.Parts, b.parts[s.P0+1:s.P1+1]...)
			end = int32(len(g.Parts) - 1)
		}
		g.Geoms = append(g.Geoms, end)
	}
}

func (b *GeometryBuilder) finishWKB(g *Geometry) error {
	g.Kinds = slices.Clone(b.kinds)
	g.Offsets = make([]int32, len(b.kinds)+1)
	var size int64
	c := b.cursor()
	for i := range b.kinds {
		switch s := c.step(b, i); s.Kind {
		case NoKind:
		case GeometryCollection:
			size += int64(s.C1 - s.C0)
		default:
			size += int64(s.wkbSize())
		}
		if size > math.MaxInt32 {
			return ErrBatchTooLarge
		}
		g.Offsets[i+1] = int32(size)
	}
	g.WKB = Alloc[byte](b.Memory, int(size))[:size]
	rest := g.WKB
	c = b.cursor()
	for i := range b.kinds {
		switch s := c.step(b, i); s.Kind {
		case NoKind:
		case GeometryCollection:
			rest = rest[copy(rest, b.wkb[s.C0:s.C1]):]
		default:
			rest = s.putWKB(rest)
		}
	}
	return nil
}

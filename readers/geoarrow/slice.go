package geoarrow

import "github.com/apache/arrow/go/v17/arrow"

// Slice returns the rows from (inclusive) to to (exclusive). Values are shared. Offsets start at 0
// again, because the IPC writer of arrow v17 writes others unchanged (fixed in v18,
// apache/arrow#43176), and bitmaps start at bit 0.
//
// The counts Rounded and Replaced, which have no row numbers, stay with the slice that has row 0,
// so that the slices of a table add up to its counts.
func (c *Columns) Slice(from, to int) *Columns {
	if from == 0 && to == c.Rows {
		return c
	}
	return c.pick(oneSpan(from, to), to-from)
}

// Take returns the rows whose numbers are listed, in that order; none may be listed twice. A run of
// consecutive rows is copied as one block, or shared if it is the only one. Rounded and Replaced
// are 0 unless row 0 comes first.
func (c *Columns) Take(rows []int32) *Columns { return c.pick(rowSpans(rows), len(rows)) }

// Slice is that of Columns, for one column.
func (c *Column) Slice(from, to int) *Column {
	out := c.pick(oneSpan(from, to))
	return &out
}

// Take is that of Columns, for one column.
func (c *Column) Take(rows []int32) *Column {
	out := c.pick(rowSpans(rows))
	return &out
}

// Slice is that of Columns, for the geometry. Positions, rings and parts outside the rows are cut
// off.
func (g *Geometry) Slice(from, to int) *Geometry { return g.pick(oneSpan(from, to)) }

// Take is that of Columns, for the geometry.
func (g *Geometry) Take(rows []int32) *Geometry { return g.pick(rowSpans(rows)) }

func oneSpan(from, to int) []span {
	if from == to {
		return nil
	}
	return []span{{int32(from), int32(to)}}
}

func (c *Columns) pick(spans []span, rows int) *Columns {
	out := &Columns{Rows: rows, Attributes: make([]Column, len(c.Attributes))}
	for i := range c.Attributes {
		out.Attributes[i] = c.Attributes[i].pick(spans)
	}
	if c.Geometry != nil {
		out.Geometry = c.Geometry.pick(spans)
	}
	return out
}

func (c *Column) pick(spans []span) Column {
	out := *c
	out.Valid, out.Nulls = pickValid(c.Valid, spans)
	if len(spans) == 0 || spans[0].from > 0 {
		out.Rounded, out.Replaced = 0, 0
	}
	switch t := c.Type.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		var below []span
		out.Offsets, below = pickOffsets(c.Offsets, spans)
		out.Values = pick(c.Values, below, 1)
	case *arrow.ListType:
		var below []span
		out.Offsets, below = pickOffsets(c.Offsets, spans)
		child := c.Child.pick(below)
		out.Child = &child
	case *arrow.BooleanType:
		out.Values = pickBits(c.Values, spans)
	case arrow.FixedWidthDataType:
		out.Values = pickFixed(c.Values, spans, t.BitWidth()/8)
	}
	return out
}

func (g *Geometry) pick(spans []span) *Geometry {
	out := &Geometry{Rows: spansLen(spans), Kind: g.Kind, Dim: g.Dim}
	out.Valid, out.Nulls = pickValid(g.Valid, spans)
	if g.Kinds != nil {
		out.Kinds = pick(g.Kinds, spans, 1)
		out.dropKinds()
	}
	switch g.Kind {
	case NoKind:
		out.Offsets, spans = pickOffsets(g.Offsets, spans)
		out.WKB = pick(g.WKB, spans, 1)
		return out
	case LineString, MultiPoint:
		out.Geoms, spans = pickOffsets(g.Geoms, spans)
	case Polygon, MultiLineString:
		out.Geoms, spans = pickOffsets(g.Geoms, spans)
		out.Rings, spans = pickOffsets(g.Rings, spans)
	case MultiPolygon:
		out.Geoms, spans = pickOffsets(g.Geoms, spans)
		out.Parts, spans = pickOffsets(g.Parts, spans)
		out.Rings, spans = pickOffsets(g.Rings, spans)
	}
	out.pickPositions(g, spans)
	return out
}

// pickPositions sets the positions of g to those of from that are in the spans.
func (g *Geometry) pickPositions(from *Geometry, spans []span) {
	g.X, g.Y, g.Z, g.M = pick(from.X, spans, 1), pick(from.Y, spans, 1), nil, nil
	if from.Dim&HasZ != 0 {
		g.Z = pick(from.Z, spans, 1)
	}
	if from.Dim&HasM != 0 {
		g.M = pick(from.M, spans, 1)
	}
}

// dropKinds drops Kinds if every non-null row has the column's own kind and dimension.
func (g *Geometry) dropKinds() {
	if g.Kind == NoKind {
		return
	}
	own := MakeRowKind(g.Kind, g.Dim)
	for _, k := range g.Kinds {
		if k != own && k != 0 {
			return
		}
	}
	g.Kinds = nil
}

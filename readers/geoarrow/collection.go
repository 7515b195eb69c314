package geoarrow

import "math"

// A GeometryCollection has no native encoding: it is written as WKB as soon as its last member is
// known. Until then its members' positions follow those of the rows.

// BeginCollection starts a GeometryCollection, as a row or as a member of an open one.
func (b *GeometryBuilder) BeginCollection() {
	b.open = append(b.open, len(b.nodes))
	b.nodes = append(b.nodes, collectionNode{kind: GeometryCollection})
}

// endMember ends a geometry inside a collection.
func (b *GeometryBuilder) endMember(k Kind) {
	s := Shape{Kind: k, C1: int32(len(b.X)), R1: int32(len(b.rings) - 1), P1: int32(len(b.parts) - 1)}
	s.C0, s.R0, s.P0 = b.memberStart()
	b.nodes = append(b.nodes, collectionNode{kind: k, shape: s})
	b.nodes[b.open[len(b.open)-1]].members++
}

// memberStart returns the ends of the positions, rings and parts of the last member.
func (b *GeometryBuilder) memberStart() (position, ring, part int32) {
	for i := len(b.nodes) - 1; i >= 0; i-- {
		if n := &b.nodes[i]; n.kind != GeometryCollection {
			return n.shape.C1, n.shape.R1, n.shape.P1
		}
	}
	return int32(b.mark.x), int32(b.mark.rings - 1), int32(b.mark.parts - 1)
}

// collectionSize returns the size of the current collection's WKB.
func (b *GeometryBuilder) collectionSize(dim Dim) (bytes int64) {
	for i := range b.nodes {
		n := &b.nodes[i]
		if n.kind == GeometryCollection {
			bytes += wkbCountedBytes
			continue
		}
		n.shape.Rings, n.shape.Parts, n.shape.Dim = b.rings, b.parts, dim
		bytes += int64(n.shape.wkbSize())
	}
	return bytes
}

// EndCollection ends the innermost open collection. The outermost one ends the row, whose dimension
// is the union of its members'. If the collections of the chunk need more than 2^31-1 bytes, Finish
// returns an error.
func (b *GeometryBuilder) EndCollection() {
	b.open = b.open[:len(b.open)-1]
	if n := len(b.open); n > 0 {
		b.nodes[b.open[n-1]].members++
		return
	}
	if b.Unread {
		b.Undo()
		b.Null()
		return
	}
	dim := b.dim
	if dim&HasZ != 0 {
		b.Z = padNaN(b.Z, len(b.X))
	}
	if dim&HasM != 0 {
		b.M = padNaN(b.M, len(b.X))
	}
	if int64(len(b.wkb))+b.collectionSize(dim) > math.MaxInt32 {
		b.err = ErrBatchTooLarge
		b.nodes = b.nodes[:0]
	}
	for i := range b.nodes {
		n := &b.nodes[i]
		if n.kind == GeometryCollection {
			b.wkb = AppendWKBHeader(b.wkb, GeometryCollection, dim, n.members)
			continue
		}
		n.shape.X, n.shape.Y, n.shape.Z, n.shape.M, n.shape.Rings, n.shape.Parts, n.shape.Dim = b.X, b.Y,
			b.Z, b.M, b.rings, b.parts, dim
		b.wkb = AppendWKB(b.wkb, n.shape)
	}
	b.mark.wkb = len(b.wkb)
	b.Undo() // the members' positions
	b.kinds = append(b.kinds, MakeRowKind(GeometryCollection, dim))
	b.ends = append(b.ends, int32(len(b.wkb)))
	b.endRow()
}

package rtree

import (
	"math/bits"
	"slices"
)

// Builder builds trees, one at a time, and reuses its memory: 16 bytes for each item of the largest
// tree. The zero value is ready for use. A Builder is for one goroutine.
type Builder struct {
	keys, spare []uint64
}

// Build returns a tree in new memory. boxes[i] is the box of row rows[i], and rows are ascending.
// It panics if a box has a NaN or a min greater than its max, or if boxes and rows differ in
// length.
func Build(boxes [][4]float64, rows []int32) []byte {
	return new(Builder).Append(nil, boxes, rows)
}

// Append appends the tree of Build, with Size(len(rows)) bytes, to dst. Equal input gives equal
// bytes.
func (b *Builder) Append(dst []byte, boxes [][4]float64, rows []int32) []byte {
	if len(boxes) != len(rows) {
		panic("rtree: boxes and rows differ in number")
	}
	if len(rows) == 0 {
		return dst
	}
	s := shapeOf(len(rows))
	start, size := len(dst), s.items()*itemBytes
	dst = slices.Grow(dst, size)[:start+size]
	tree := dst[start:]
	leaf := s.levels[0].first
	for _, key := range b.sorted(boxes) {
		i := uint32(key)
		itemAt(tree, leaf).put(boxes[i], uint64(rows[i]))
		leaf++
	}
	for l := range s.height - 1 {
		bound(tree, s.levels[l], s.levels[l+1].first)
	}
	return dst
}

// bound writes the boxes of the items above a level, starting at item up.
func bound(tree []byte, children level, up int) {
	for c := children.first; c < children.end; {
		first := c
		box := itemAt(tree, c).box()
		for c++; c < children.end && c < first+nodeItems; c++ {
			it := itemAt(tree, c)
			box = [4]float64{
				min(box[0], it.float(0)), min(box[1], it.float(1)),
				max(box[2], it.float(2)), max(box[3], it.float(3)),
			}
		}
		itemAt(tree, up).put(box, uint64(first))
		up++
	}
}

// sorted returns a key for each box, in the order of the leaves. The index of the box makes all
// keys different.
//
//	63            32 31            0
//	┌───────────────┬───────────────┐
//	│ ^place        │ index of box  │
//	└───────────────┴───────────────┘
func (b *Builder) sorted(boxes [][4]float64) []uint64 {
	n := len(boxes)
	b.keys = slices.Grow(b.keys[:0], n)[:n]
	e := extentOf(boxes)
	for i, box := range boxes {
		b.keys[i] = uint64(^e.place(box))<<32 | uint64(i)
	}
	// below this size, clearing and summing the counts would cost more
	if bits.Len(uint(n)) <= radixBits-1 {
		slices.Sort(b.keys)
		return b.keys
	}
	b.spare = slices.Grow(b.spare[:0], n)[:n]
	for shift := 32; shift < 64; shift += radixBits {
		scatter(b.spare, b.keys, shift)
		b.keys, b.spare = b.spare, b.keys
	}
	return b.keys
}

const radixBits = 11 // three passes for 32 bits; the counts fit in the L1 cache

// scatter puts keys into out, ordered by radixBits bits from bit shift on. Equal keys keep their
// order. It is one pass of a radix sort.
func scatter(out, keys []uint64, shift int) {
	var at [1 << radixBits]uint32
	for _, k := range keys {
		at[k>>shift%uint64(len(at))]++
	}
	sum := uint32(0)
	for i, n := range at {
		at[i] = sum
		sum += n
	}
	for _, k := range keys {
		p := &at[k>>shift%uint64(len(at))]
		out[*p] = k
		*p++
	}
}

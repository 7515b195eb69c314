// Package rtree finds the rows of a record batch whose bounding box meets a given box. It is a
// packed Hilbert R-tree with the layout of the index of FlatGeobuf 3. The tree is built once from
// all boxes and never changes. Searches read its bytes directly from the file.
//
// The items are in levels: the root is first, and the boxes of the rows are last. An item of an
// inner level is the box around up to 16 consecutive items of the next level, its children. All
// offsets follow from n, the number of items, so a tree is n and its bytes:
//
//	item    0     root: the box of all rows           offset: 1, its first child
//	item    1 …   up to 16 items                      offset: item of the first child, in the whole tree
//	…
//	item    m-n … the leaves, m items in the tree     offset: row in the batch
//
//	byte    0        8        16       24       32       40
//	        ┌────────┬────────┬────────┬────────┬────────┐
//	item    │ xmin   │ ymin   │ xmax   │ ymax   │ offset │   four float64 and a uint64, little-endian
//	        └────────┴────────┴────────┴────────┴────────┘
//
// One row makes two items; no rows make no item. The leaves are in descending order along a Hilbert
// curve through the centres of their boxes. Neighbours are therefore close, and the boxes of inner
// items are small. Rows at the same place on the curve are in ascending order. The only difference
// from FlatGeobuf is the offset of a leaf, which is a byte of the file there.
//
// A box is xmin, ymin, xmax, ymax. It is closed, with min <= max; it has no NaN and may have
// infinities. A row without a box is not in the tree. The package knows no reference system, so a
// box does not cross the antimeridian. It does not verify that the bytes are a tree, which a
// checksum does. For any bytes, a search ends, stays inside them, and returns rows of the batch or
// an error.
package rtree

import (
	"encoding/binary"
	"fmt"
	"math"
)

const (
	itemBytes = 40
	nodeItems = 16 // children of an inner item
	maxLevels = 9  // of MaxInt32 items
)

// Size returns the size in bytes of a tree with n items, one for each row that has a box. n is at
// most MaxInt32.
func Size(items int) int {
	s := shapeOf(items)
	return s.items() * itemBytes
}

// shape has the places of a tree's levels.
type shape struct {
	levels [maxLevels]level // the leaves first
	height int              // number of levels; 0 for an empty tree
}

// level is a range of the tree's items.
type level struct{ first, end int }

func shapeOf(items int) (s shape) {
	if items <= 0 {
		return s
	}
	total := 0
	for n := items; ; n = (n + nodeItems - 1) / nodeItems {
		s.levels[s.height].end = n // a count at first
		s.height++
		total += n
		if n == 1 && s.height > 1 {
			break
		}
	}
	for i := range s.height {
		l := &s.levels[i]
		total -= l.end
		l.first, l.end = total, total+l.end
	}
	return s
}

// items returns the number of items of all levels.
func (s *shape) items() int { return s.levels[0].end }

// Tree is a tree in bytes that it does not own. It is valid as long as they are, and safe for
// concurrent use.
type Tree struct {
	b     []byte
	rows  int
	shape shape
}

// Open returns the tree of n items in b, for a batch with the given number of rows. It checks only
// sizes and reads no byte: b is Size(n) long, n is at most rows, and rows at most MaxInt32.
func Open(b []byte, items, rows int) (Tree, error) {
	if items < 0 || items > rows || rows > math.MaxInt32 {
		return Tree{}, fmt.Errorf("r-tree: %d items of %d rows", items, rows)
	}
	if want := Size(items); len(b) != want {
		return Tree{}, fmt.Errorf("r-tree: %d items in %d bytes, not %d", items, len(b), want)
	}
	return Tree{b: b, rows: rows, shape: shapeOf(items)}, nil
}

// Bounds returns the box around all boxes. ok is false for an empty tree.
func (t *Tree) Bounds() (box [4]float64, ok bool) {
	if len(t.b) == 0 {
		return box, false
	}
	return itemAt(t.b, 0).box(), true
}

// item is one item of a tree.
type item []byte

func itemAt(b []byte, i int) item { return b[i*itemBytes:][:itemBytes:itemBytes] }

func (it item) box() [4]float64 {
	return [4]float64{it.float(0), it.float(1), it.float(2), it.float(3)}
}

func (it item) offset() uint64 { return binary.LittleEndian.Uint64(it[32:40]) }

func (it item) float(i int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(it[8*i:]))
}

func (it item) put(box [4]float64, offset uint64) {
	for i, v := range box {
		binary.LittleEndian.PutUint64(it[8*i:], math.Float64bits(v))
	}
	binary.LittleEndian.PutUint64(it[32:40], offset)
}

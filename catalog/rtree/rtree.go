// Package rtree says which rows of a record batch have a bounding box that meets a given box: a
// packed Hilbert R-tree, laid out as the index of FlatGeobuf 3. It is built once from all boxes, is
// never changed, and is searched in the bytes as they lie in the file.
//
// The items stand in levels, the root first and the rows' own boxes last. An item of an inner level
// is the box around up to 16 consecutive items of the level below, its children. So every place is
// known beforehand, and a tree of n items is its bytes and n:
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
// One row makes two items, no row none. The leaves stand in descending order along a Hilbert curve
// through the centres of their boxes, so that the boxes of neighbours are close and those of inner
// items small; rows of one place on the curve stand in ascending order. In FlatGeobuf the offset of
// a leaf is a byte of the file instead. This is the only difference.
//
// A box is xmin, ymin, xmax, ymax, closed, with min <= max: it has no NaN, and may have infinities.
// A row without a box is not in the tree. The package knows no reference system: a box does not go
// round the antimeridian. It does not prove that a tree is what was built, which is for a checksum;
// but whatever the bytes are, a search ends, stays in them, and gives rows of the batch or an
// error.
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

// Size is the size in bytes of a tree of so many items, which are the rows with a box; at most
// MaxInt32.
func Size(items int) int {
	s := shapeOf(items)
	return s.items() * itemBytes
}

// shape tells where the levels of a tree lie.
type shape struct {
	levels [maxLevels]level // from the leaves up
	height int              // how many there are: 0 of an empty tree
}

// level is a range of the tree's items.
type level struct{ first, end int }

func shapeOf(items int) (s shape) {
	if items <= 0 {
		return s
	}
	total := 0
	for n := items; ; n = (n + nodeItems - 1) / nodeItems {
		s.levels[s.height].end = n // a count for now
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

// items is how many items all levels have.
func (s *shape) items() int { return s.levels[0].end }

// Tree is a tree in bytes that belong to somebody else. It is valid as long as they are, and safe
// for use by several goroutines.
type Tree struct {
	b     []byte
	rows  int
	shape shape
}

// Open gives the tree of so many items in b, over a batch of so many rows. It looks at no byte,
// only at the sizes: b is Size(items) long, items at most rows, and rows at most MaxInt32.
func Open(b []byte, items, rows int) (Tree, error) {
	if items < 0 || items > rows || rows > math.MaxInt32 {
		return Tree{}, fmt.Errorf("r-tree: %d items of %d rows", items, rows)
	}
	if want := Size(items); len(b) != want {
		return Tree{}, fmt.Errorf("r-tree: %d items in %d bytes, not %d", items, len(b), want)
	}
	return Tree{b: b, rows: rows, shape: shapeOf(items)}, nil
}

// Bounds is the box around all boxes; ok is false if there is none.
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

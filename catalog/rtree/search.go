package rtree

import (
	"fmt"
	"math/bits"
	"slices"
)

// Search appends the rows whose box meets box to rows, in ascending order. It uses the free
// capacity of rows as scratch memory. Boxes that touch meet. A box with a NaN or a min greater than
// its max meets no box. read is the number of bytes of the tree that were read.
//
// An error says that the tree is damaged. rows is then returned unchanged.
func (t *Tree) Search(box [4]float64, rows []int32) (found []int32, read int64, err error) {
	if len(t.b) == 0 || !(box[0] <= box[2] && box[1] <= box[3]) {
		return rows, 0, nil
	}
	found = rows
	visited := 0
	// The walk follows the leaves. It goes up where a node ends, and down where a box meets. It
	// needs no stack and reads every level in order.
	top := t.shape.height - 1
	for l, i := top, 0; l <= top; {
		if l == 0 {
			n := min(nodeItems, t.shape.levels[0].end-i)
			if found, err = t.leaves(i, n, box, found); err != nil {
				return rows, int64(visited+n) * itemBytes, err
			}
			visited += n
			l, i = t.next(l, i+n-1)
			continue
		}
		visited++
		it := itemAt(t.b, i)
		if !meets(it, &box) {
			l, i = t.next(l, i)
			continue
		}
		child := t.shape.levels[l-1].first + (i-t.shape.levels[l].first)*nodeItems
		if it.offset() != uint64(child) {
			return rows, int64(visited) * itemBytes, fmt.Errorf("r-tree: item %d has children at %d, not %d",
				i, it.offset(), child)
		}
		l, i = l-1, child
	}
	read = int64(visited) * itemBytes
	found, unique := order(found, len(rows), t.rows)
	if !unique {
		return rows, read, fmt.Errorf("r-tree: a row has two items")
	}
	return found, read, nil
}

// next returns the item after item i of level l: its neighbour in the same node, or the item after
// its parent. After the root it returns a level above all levels.
func (t *Tree) next(l, i int) (int, int) {
	i++
	for {
		level := t.shape.levels[l]
		k := i - level.first
		if k%nodeItems != 0 && i < level.end {
			return l, i
		}
		l++
		if l == t.shape.height {
			return l, 0
		}
		i = t.shape.levels[l].first + (k+nodeItems-1)/nodeItems
	}
}

// leaves appends the rows of the n leaves from item i on that meet box.
func (t *Tree) leaves(i, n int, box [4]float64, rows []int32) ([]int32, error) {
	for b := t.b[i*itemBytes : (i+n)*itemBytes]; len(b) >= itemBytes; b = b[itemBytes:] {
		it := item(b[:itemBytes])
		if !meets(it, &box) {
			continue
		}
		row := it.offset()
		if row >= uint64(t.rows) {
			return rows, fmt.Errorf("r-tree: row %d of a batch of %d", row, t.rows)
		}
		rows = append(rows, int32(row))
	}
	return rows, nil
}

func meets(it item, box *[4]float64) bool {
	return it.float(0) <= box[2] && it.float(2) >= box[0] && it.float(1) <= box[3] && it.float(3) >= box[1]
}

// order sorts rows[from:], which are less than limit, and reports whether they are all different.
func order(rows []int32, from, limit int) (sorted []int32, unique bool) {
	if found := rows[from:]; len(found) < limit/256 {
		slices.Sort(found)
		for i := 1; i < len(found); i++ {
			if found[i] == found[i-1] {
				return rows, false
			}
		}
		return rows, true
	}
	// For many rows, set a bit for each row of the batch, after the rows in the same memory.
	words := (limit + 31) / 32
	rows = slices.Grow(rows, words)
	found, set := rows[from:], rows[len(rows):len(rows)+words]
	clear(set)
	for _, row := range found {
		set[uint32(row)/32] |= 1 << (uint32(row) % 32)
	}
	n := 0
	for w, word := range set {
		for rest := uint32(word); rest != 0; rest &= rest - 1 {
			found[n] = int32(w*32 + bits.TrailingZeros32(rest))
			n++
		}
	}
	return rows, n == len(found)
}

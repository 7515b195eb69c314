package nesting

import "math"

// box is xmin, ymin, xmax, ymax.
type box [4]float64

// nowhere is the empty box.
var nowhere = box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}

// add extends b by a position; NaN is ignored.
func (b *box) add(x, y float64) {
	if x < b[0] {
		b[0] = x
	}
	if y < b[1] {
		b[1] = y
	}
	if x > b[2] {
		b[2] = x
	}
	if y > b[3] {
		b[3] = y
	}
}

// join returns the box of both.
func (b box) join(c box) box {
	return box{min(b[0], c[0]), min(b[1], c[1]), max(b[2], c[2]), max(b[3], c[3])}
}

// contains reports whether no part of c is outside of b.
func (b box) contains(c box) bool {
	return b[0] <= c[0] && b[1] <= c[1] && b[2] >= c[2] && b[3] >= c[3]
}

// meets reports whether the boxes have a position in common.
func (b box) meets(c box) bool {
	return b[0] <= c[2] && c[0] <= b[2] && b[1] <= c[3] && c[1] <= b[3]
}

// meetsRay reports whether the ray from p to the right meets the box.
func (b box) meetsRay(p spot) bool { return b[1] <= p.y && p.y <= b[3] && b[2] >= p.x }

// blockItems is how many items, or blocks, a block has.
const blockItems = 16

// boxTree finds boxes in a sequence whose neighbors are near each other. It is an R-tree packed in
// the given order.
//
//	level 1  [           ...           ]     boxes of 16 blocks
//	level 0  [ 0..15 ][16..31][  ...   ]     boxes of 16 items
//	items    0 1 2 3 4 ...
type boxTree struct {
	items  int
	levels [][]box
}

// newBoxTree returns the tree of n items.
func newBoxTree(n int, boxOf func(i int) box) boxTree {
	t := boxTree{items: n}
	for below := n; ; {
		level := make([]box, (below+blockItems-1)/blockItems)
		for k := range level {
			b := nowhere
			for i := k * blockItems; i < min(below, (k+1)*blockItems); i++ {
				if len(t.levels) == 0 {
					b = b.join(boxOf(i))
				} else {
					b = b.join(t.levels[len(t.levels)-1][i])
				}
			}
			level[k] = b
		}
		t.levels = append(t.levels, level)
		if below = len(level); below <= 1 {
			return t
		}
	}
}

// visit calls leaf for the items [from, to) of every lowest block whose box, and the boxes above
// it, the caller accepts.
func (t *boxTree) visit(want func(box) bool, leaf func(from, to int)) {
	top := len(t.levels) - 1
	for k := range t.levels[top] {
		t.visitBlock(top, k, want, leaf)
	}
}

func (t *boxTree) visitBlock(level, k int, want func(box) bool, leaf func(from, to int)) {
	if !want(t.levels[level][k]) {
		return
	}
	from := k * blockItems
	if level == 0 {
		leaf(from, min(from+blockItems, t.items))
		return
	}
	for i := from; i < min(from+blockItems, len(t.levels[level-1])); i++ {
		t.visitBlock(level-1, i, want, leaf)
	}
}

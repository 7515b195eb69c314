package tiles

import (
	"math"
	"slices"
)

// candidate is a row of a tile, with what decides whether it is drawn.
type candidate struct {
	row   int64
	batch int32
	at    int32  // row of the batch
	key   uint64 // candidates of lower keys are drawn first
	small bool   // smaller than a pixel
	tiny  bool   // a small polygon: drawn as a square
	cell  cell   // pixel of its centre, if it is small
}

// A table is drawn so that at least minShown of its polygons are to be seen at every zoom, however
// small they are, unless they share a pixel.
const minShown = 10_000

// chance returns a number in [0, 1) that is spread evenly over the rows and does not depend on the
// tile.
func chance(row int64) float64 { return float64(mix(uint64(row)+1)>>11) / (1 << 53) }

// size is the size of a geometry in the square: the area of polygons, or minus the length of lines,
// whichever appears larger. It is 0 for points, and NaN for a row without positions.
type size = float32

func (e *extent) size() size {
	switch {
	case !e.valid():
		return size(math.NaN())
	case e.length*e.length > e.area:
		return -size(e.length)
	}
	return size(e.area)
}

// judge decides what becomes of a row of the tile. ok is false if it is not drawn. share is the
// share of tiny polygons that is drawn at least.
//
// A polygon smaller than a pixel is drawn as a whole pixel with the probability of its area in
// pixels. The sum of the areas of many such polygons stays what it was, as if their areas were
// accumulated until they fill a pixel. The decision is the same in all tiles that have the polygon.
func (f *frame) judge(c *candidate, s size, share float64) bool {
	if s != s {
		return false
	}
	large := float64(s) * f.pixels * f.pixels
	if s < 0 {
		large = -float64(s) * f.pixels
	}
	if large >= 1 {
		c.key = uint64(math.Float32bits(math.MaxFloat32) - math.Float32bits(float32(min(large, math.MaxFloat32))))
		return true
	}
	c.small, c.tiny = true, s > 0
	return !c.tiny || chance(c.row) < max(large, share)
}

// shareOf returns the share of the tiny polygons of a table that is drawn at least.
func shareOf(rows int64) float64 { return minShown / float64(max(rows, 1)) }

// cell is a pixel of a tile: column and row from the north-west corner, which the buffer makes
// negative.
type cell struct{ x, y int32 }

// worldBits is the number of bits of an ordinate in the square as an integer.
const worldBits = 32

// fixed returns a place in the square as an integer.
func fixed(v float64) uint32 {
	return uint32(min(max(v, 0)*(1<<worldBits), 1<<worldBits-1))
}

// cellOf returns the pixel of a position in the square.
func (f *frame) cellOf(x, y uint32) cell {
	shift := worldBits - pixelBits - f.z
	return cell{int32(x>>shift) - int32(f.x<<pixelBits), int32(y>>shift) - int32(f.y<<pixelBits)}
}

// centre returns the pixel of the centre of a box.
func (f *frame) centre(e *extent) cell {
	p := f.projection
	return f.cellOf(fixed((p.x(e.xmin)+p.x(e.xmax))/2), fixed((p.y(e.ymin)+p.y(e.ymax))/2))
}

// spread orders the small candidates so that any number of the first ones is spread evenly: first
// one of the whole tile, then one of each quarter, and so on down to pixels. All others of a pixel
// follow; those that are tiny polygons are dropped.
func (f *frame) spread(all []candidate) []candidate {
	if !slices.ContainsFunc(all, func(c candidate) bool { return c.small }) {
		return all
	}
	around := int(f.buffer*pixels/f.extent) + 2
	width := pixels + 2*around
	best := make([]int32, width*width) // 1 + index of the first candidate of a cell
	for i := range all {
		if !all[i].small {
			continue
		}
		x := min(max(int(all[i].cell.x)+around, 0), width-1)
		y := min(max(int(all[i].cell.y)+around, 0), width-1)
		all[i].key = smallKey | uint64(lastLevel)<<levelShift | draw(all[i].row)
		b := &best[y*width+x]
		*b = firstOf(all, *b, int32(i+1))
	}
	for level := 0; ; level++ {
		for _, b := range best {
			if b > 0 {
				all[b-1].key = smallKey | uint64(lastLevel-1-level)<<levelShift | draw(all[b-1].row)
			}
		}
		if width == 1 || level == lastLevel-1 {
			break
		}
		half := (width + 1) / 2
		up := make([]int32, half*half)
		for y := range width {
			for x := range width {
				b := &up[y/2*half+x/2]
				*b = firstOf(all, *b, best[y*width+x])
			}
		}
		best, width = up, half
	}
	return slices.DeleteFunc(all, func(c candidate) bool {
		return c.tiny && c.key>>levelShift == smallKey>>levelShift|lastLevel
	})
}

// The key of a small candidate: a bit, its level, then a number by which those of a level are
// mixed.
//
//	63      62 … 48    47 … 0
//	1       level      chance
const (
	smallKey   = 1 << 63
	levelShift = 48
	lastLevel  = 31 // of those that are not the first of their pixel
)

// draw returns the bits of chance.
func draw(row int64) uint64 { return mix(uint64(row)+1) >> 16 }

// firstOf returns which of two candidates has the lower chance. They are 1 + their indices; 0: none.
func firstOf(all []candidate, a, b int32) int32 {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	p, q := draw(all[a-1].row), draw(all[b-1].row)
	if q < p || q == p && all[b-1].row < all[a-1].row {
		return b
	}
	return a
}

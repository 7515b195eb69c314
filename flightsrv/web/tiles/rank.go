package tiles

import (
	"cmp"
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

// minShown is about the number of polygons of a table that are drawn at every zoom, however small
// they are, unless they share a pixel.
const minShown = 10_000

// chance returns a number in [0, 1) that is spread evenly over the rows and does not depend on the
// tile.
func chance(row int64) float64 { return float64(mix(uint64(row)+1)>>11) / (1 << 53) }

// size is the size of a geometry in the square: the area of polygons, or minus the length of lines,
// whichever appears larger. It is 0 for points, and NaN for a row without positions.
type size = float32

func (e *extent) size() size {
	area, length := e.area, e.length
	if area != area || length != length { // of coordinates so large that a product is infinite
		area, length = math.MaxFloat32, 0
	}
	switch {
	case !e.valid():
		return size(math.NaN())
	case length*length > area:
		return -size(min(length, math.MaxFloat32))
	}
	return size(min(area, math.MaxFloat32))
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
// follow. Tiny polygons among those are dropped. In a crowded tile, which can't have all
// candidates, points and short lines among them are dropped too.
func spread(all []candidate, crowded bool) []candidate {
	var places []pixel
	for i := range all {
		if c := &all[i]; c.small {
			places = append(places, pixel{c.cell.code(), int32(i)})
			c.key = smallKey | lastLevel<<levelShift | draw(c.row)
		}
	}
	slices.SortFunc(places, func(a, b pixel) int { return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.i, b.i)) })
	for level := range uint64(cellBits + 1) {
		places = firsts(all, places)
		for i := range places {
			c := &all[places[i].i]
			c.key = smallKey | (lastLevel-1-level)<<levelShift | draw(c.row)
			places[i].code >>= 2 // the cell of four
		}
	}
	return slices.DeleteFunc(all, func(c candidate) bool {
		return (c.tiny || crowded) && c.key>>levelShift == smallKey>>levelShift|lastLevel
	})
}

// pixel is a candidate, by its index, in a cell.
type pixel struct {
	code uint32
	i    int32
}

// firsts keeps the candidate of the lowest chance of each cell. They are in the order of cells.
func firsts(all []candidate, places []pixel) []pixel {
	kept := places[:0]
	for _, p := range places {
		last := len(kept) - 1
		switch {
		case last < 0 || kept[last].code != p.code:
			kept = append(kept, p)
		case before(&all[p.i], &all[kept[last].i]):
			kept[last] = p
		}
	}
	return kept
}

// before reports whether a candidate has a lower chance than another one.
func before(a, b *candidate) bool {
	p, q := draw(a.row), draw(b.row)
	return p < q || p == q && a.row < b.row
}

// cellBits is the number of bits of a column or row of pixels, from one tile to the west to one to
// the east.
const cellBits = pixelBits + 2

// code returns the bits of column and row in turns (Morton 1966), so that cells of a quarter follow
// each other.
func (c cell) code() uint32 { return spreadBits(c.x) | spreadBits(c.y)<<1 }

// spreadBits moves bit i to bit 2i.
func spreadBits(v int32) uint32 {
	u := uint32(min(max(v+pixels, 0), 1<<cellBits-1))
	u = (u | u<<8) & 0x00ff00ff
	u = (u | u<<4) & 0x0f0f0f0f
	u = (u | u<<2) & 0x33333333
	return (u | u<<1) & 0x55555555
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

// choice collects candidates, and keeps few more than are drawn.
type choice struct {
	limit int // number of those that are drawn at most
	all   []candidate
	count int // of those that were added
}

// add adds candidates. It reports whether others were dropped for them.
func (c *choice) add(more ...candidate) (dropped bool) {
	c.all, c.count = append(c.all, more...), c.count+len(more)
	if len(c.all) <= 4*c.limit {
		return false
	}
	c.all = sorted(spread(c.all, true))
	c.all = c.all[:min(len(c.all), c.limit)]
	return true
}

// result returns the candidates with their keys.
func (c *choice) result() []candidate { return spread(c.all, c.count > c.limit) }

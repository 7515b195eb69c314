package osmpbf

import (
	"cmp"
	"errors"
	"slices"
)

// assembly makes the polygons of a relation of its ways, as GDAL does. Its slices serve one relation
// after the other.
type assembly struct {
	rings []ring
	steps int
	order []int // of rings by area
}

// minRing is the number of positions of the smallest ring.
const minRing = 4

// maxSteps bounds the work for the rings of a relation; real ones take a thousandth of it.
const maxSteps = 1 << 31

var errSteps = errors.New("too many rings, or rings that touch too often, to find which is in which")

// build makes the rings of lines, and finds which are outer ones and which are holes of which. Without
// a ring there is no polygon.
//
//  1. Each closed line is a ring. The others are joined where they end, in order.
//  2. The rings that were joined are nested, and follow the closed lines: of each polygon its holes,
//     the last one first, and its outer ring.
//  3. All rings are nested.
func (a *assembly) build(lines [][]location) error {
	a.rings, a.steps = a.rings[:0], maxSteps
	var open [][]location
	for _, l := range lines {
		if l[0] == l[len(l)-1] {
			a.rings = append(a.rings, ring{line: l})
		} else {
			open = append(open, l)
		}
	}
	closed := len(a.rings)
	if len(open) > 0 {
		a.rings = append(a.rings, join(open)...)
		joined := a.rings[closed:]
		if err := a.nest(joined); err != nil {
			return err
		}
		flat := flatten(joined)
		a.rings = append(a.rings[:closed], flat...)
	}
	return a.nest(a.rings)
}

// flatten returns the rings of nested polygons that are closed and large enough.
func flatten(nested []ring) (flat []ring) {
	holes := make(map[int][]int)
	for i := range nested {
		if !nested[i].outer {
			holes[nested[i].parent] = append(holes[nested[i].parent], i)
		}
	}
	keep := func(r *ring) {
		if len(r.line) >= minRing && r.closed() {
			flat = append(flat, ring{line: r.line})
		}
	}
	for i := range nested {
		if !nested[i].outer {
			continue
		}
		for _, h := range slices.Backward(holes[i]) {
			keep(&nested[h])
		}
		keep(&nested[i])
	}
	return flat
}

// nest finds the outer rings, and the outer ring of each hole. A ring is in the smallest of the
// larger rings that contain it: in an outer ring it is a hole, in a hole an outer ring again. If one
// of the rings is too small to be one, all of them are outer ones.
func (a *assembly) nest(rings []ring) error {
	for i := range rings {
		rings[i].outer = true
	}
	if len(rings) == 1 {
		return nil
	}
	a.order = a.order[:0]
	for i := range rings {
		if len(rings[i].line) < minRing {
			return nil
		}
	}
	for i := range rings {
		rings[i].measure()
		a.order = append(a.order, i)
	}
	slices.SortStableFunc(a.order, func(i, k int) int { return cmp.Compare(rings[k].area, rings[i].area) })
	for n, i := range a.order {
		for _, k := range slices.Backward(a.order[:n]) {
			a.steps--
			if !rings[k].around(&rings[i]) || !rings[k].contains(&rings[i], &a.steps) {
				continue
			}
			if rings[k].outer {
				rings[i].outer, rings[i].parent = false, k
			}
			break
		}
		if a.steps < 0 {
			return errSteps
		}
	}
	return nil
}

// join joins lines that are not closed. A ring begins with the first line that is left. The first
// line that is left, and begins or ends where the ring ends, continues it, until it is closed.
func join(lines [][]location) (rings []ring) {
	ends := make(map[location][]int, 2*len(lines)) // lines that begin or end at a position
	for i, l := range lines {
		first, last := l[0], l[len(l)-1]
		ends[first] = append(ends[first], i)
		ends[last] = append(ends[last], i)
	}
	used := make([]bool, len(lines))
	next := func(at location) int {
		list := ends[at]
		for len(list) > 0 && used[list[0]] {
			list = list[1:]
		}
		ends[at] = list
		if len(list) == 0 {
			return -1
		}
		return list[0]
	}
	for i, l := range lines {
		if used[i] {
			continue
		}
		used[i] = true
		line := slices.Clone(l)
		for line[0] != line[len(line)-1] {
			k := next(line[len(line)-1])
			if k < 0 {
				break
			}
			used[k] = true
			more := lines[k]
			if more[len(more)-1] == line[len(line)-1] {
				for _, p := range slices.Backward(more[:len(more)-1]) {
					line = append(line, p)
				}
			} else {
				line = append(line, more[1:]...)
			}
		}
		rings = append(rings, ring{line: line})
	}
	return rings
}

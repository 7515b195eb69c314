package tiles

import "github.com/vibeflight/vibeflight/readers/geoarrow"

// path is a sequence of vertices of a sketch. A ring does not repeat its first vertex.
type path struct {
	kind     pathKind
	from, to int32
}

func (p path) isRing() bool { return p.kind >= outerRing }

// sketch has geometries in units of a tile, without consecutive vertices that are equal.
type sketch struct {
	vertices []vertex
	paths    []path
	long     bool // a path is to be simplified

	x, y []float64 // scratch
}

// shortPath is the number of vertices up to which a path is not simplified.
const shortPath = 16

// add appends the geometry of row i.
func (s *sketch) add(f *frame, g *geoarrow.Geometry, i int) error {
	return eachPath(g, i, func(k pathKind, x, y []float64) {
		for j := range x {
			if !finite(x[j], y[j]) {
				x, y = s.finitePart(x, y)
				break
			}
		}
		s.addPath(f, k, x, y)
	})
}

// finitePart returns the positions that are neither NaN nor infinite.
func (s *sketch) finitePart(x, y []float64) (fx, fy []float64) {
	s.x, s.y = s.x[:0], s.y[:0]
	for i := range x {
		if finite(x[i], y[i]) {
			s.x, s.y = append(s.x, x[i]), append(s.y, y[i])
		}
	}
	return s.x, s.y
}

// addPath appends a path without what is far outside of the tile. A vertex is left out if it and
// both of its neighbours are beyond the same side of the frame's box. Vertices that are left out in
// a row are therefore beyond one side, as is the edge that replaces them. Which ones are left out
// does not depend on the direction of the path.
func (s *sketch) addPath(f *frame, k pathKind, x, y []float64) {
	from := len(s.vertices)
	n := len(x)
	if k >= outerRing && n > 1 && x[0] == x[n-1] && y[0] == y[n-1] {
		n--
	}
	if n > 0 {
		before, at := f.side(x[0], y[0]), f.side(x[0], y[0])
		switch {
		case k >= outerRing:
			before = f.side(x[n-1], y[n-1])
		case k == linePath:
			before = inBox // the ends of a line stay
		}
		for i := range n {
			after := uint8(inBox)
			switch {
			case i+1 < n:
				after = f.side(x[i+1], y[i+1])
			case k >= outerRing:
				after = f.side(x[0], y[0])
			}
			far := at != inBox && (k == pointPath || before == at && at == after)
			if !far {
				s.addVertex(from, k, vertex{f.unitX(x[i]), f.unitY(y[i])})
			}
			before, at = at, after
		}
	}
	if last := len(s.vertices) - 1; k >= outerRing && last > from && s.vertices[last] == s.vertices[from] {
		s.vertices = s.vertices[:last]
	}
	s.paths = append(s.paths, path{k, int32(from), int32(len(s.vertices))})
	s.long = s.long || k != pointPath && len(s.vertices)-from > shortPath
}

func (s *sketch) addVertex(from int, k pathKind, v vertex) {
	if last := len(s.vertices) - 1; k != pointPath && last >= from && s.vertices[last] == v {
		return
	}
	s.vertices = append(s.vertices, v)
}

// side returns the side of the frame's box that a position is beyond, or inBox. Beyond a corner it
// is that of x: with two sides for a vertex, a path around the corner could be cut short.
func (f *frame) side(x, y float64) uint8 {
	switch {
	case x < f.xmin:
		return 1
	case x > f.xmax:
		return 2
	case y < f.ymin:
		return 3
	case y > f.ymax:
		return 4
	}
	return inBox
}

const inBox = 0

// square appends the square of a pixel.
func (s *sketch) square(f *frame, at cell) {
	from := int32(len(s.vertices))
	x, y := int64(at.x)*f.pixel, int64(at.y)*f.pixel
	s.vertices = append(s.vertices,
		vertex{x, y}, vertex{x + f.pixel, y}, vertex{x + f.pixel, y + f.pixel}, vertex{x, y + f.pixel})
	s.paths = append(s.paths, path{outerRing, from, from + 4})
}

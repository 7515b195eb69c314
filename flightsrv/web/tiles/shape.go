package tiles

import (
	"math"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// pathKind says what a sequence of positions is.
type pathKind uint8

const (
	pointPath pathKind = iota // positions of a Point or a MultiPoint
	linePath                  // a LineString
	outerRing                 // the exterior ring of a Polygon
	innerRing                 // a hole of the last exterior ring
)

// eachPath calls f with every sequence of positions of row i. A null or empty geometry has none.
// Members of collections are visited too. x and y are valid until f returns.
func eachPath(g *geoarrow.Geometry, i int, f func(k pathKind, x, y []float64)) error {
	if g.Kind == geoarrow.NoKind {
		wkb := g.WKB[g.Offsets[i]:g.Offsets[i+1]]
		if len(wkb) == 0 {
			return nil
		}
		t, err := geoarrow.ParseWKB(wkb)
		if err != nil {
			return err
		}
		eachTreePath(&t, f)
		return nil
	}
	s, ok := g.Shape(i)
	if !ok {
		return nil
	}
	switch s.Kind {
	case geoarrow.Point, geoarrow.MultiPoint:
		if s.C1 > s.C0 {
			f(pointPath, s.X[s.C0:s.C1], s.Y[s.C0:s.C1])
		}
	case geoarrow.LineString:
		if s.C1 > s.C0 {
			f(linePath, s.X[s.C0:s.C1], s.Y[s.C0:s.C1])
		}
	case geoarrow.Polygon:
		eachRing(&s, s.R0, s.R1, s.C0, outerRing, innerRing, f)
	case geoarrow.MultiLineString:
		eachRing(&s, s.R0, s.R1, s.C0, linePath, linePath, f)
	case geoarrow.MultiPolygon:
		ring, position := s.R0, s.C0
		for p := s.P0; p < s.P1; p++ {
			end := s.Parts[p+1]
			position = eachRing(&s, ring, end, position, outerRing, innerRing, f)
			ring = end
		}
	}
	return nil
}

// eachRing calls f with the rings [from, to), which start at a position, and returns their end.
func eachRing(s *geoarrow.Shape, from, to, start int32, first, other pathKind,
	f func(k pathKind, x, y []float64),
) int32 {
	k := first
	for r := from; r < to; r++ {
		end := s.Rings[r+1]
		if end > start || k == outerRing { // an empty exterior ring still ends the former polygon
			f(k, s.X[start:end], s.Y[start:end])
		}
		start, k = end, other
	}
	return start
}

// eachTreePath is eachPath for a geometry by itself.
func eachTreePath(t *geoarrow.Tree, f func(k pathKind, x, y []float64)) {
	n := t.Dim.Size()
	for i, run := range t.Runs {
		x, y := make([]float64, 0, len(run)/n), make([]float64, 0, len(run)/n)
		for j := 0; j+1 < len(run); j += n {
			x, y = append(x, run[j]), append(y, run[j+1])
		}
		switch {
		case t.Kind == geoarrow.Polygon && i == 0:
			f(outerRing, x, y)
		case t.Kind == geoarrow.Polygon:
			f(innerRing, x, y)
		case t.Kind == geoarrow.LineString:
			f(linePath, x, y)
		default:
			f(pointPath, x, y)
		}
	}
	for i := range t.Members {
		eachTreePath(&t.Members[i], f)
	}
}

// extent is what the choice of rows needs of a geometry. The box is in the coordinates of the
// table.
type extent struct {
	xmin, ymin, xmax, ymax float64
	area                   float64 // of polygons, holes not subtracted
	length                 float64 // of lines
}

func (e *extent) valid() bool { return e.xmin <= e.xmax && e.ymin <= e.ymax }

// extentOf measures the geometry of row i. Positions with NaN or an infinity don't count.
func extentOf(g *geoarrow.Geometry, i int, p projection) (extent, error) {
	e := extent{xmin: math.Inf(1), ymin: math.Inf(1), xmax: math.Inf(-1), ymax: math.Inf(-1)}
	err := eachPath(g, i, func(k pathKind, x, y []float64) {
		from := e
		e.xmin, e.ymin, e.xmax, e.ymax = math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
		switch k {
		case pointPath:
			e.add(x, y)
		case linePath:
			e.length += e.addLine(x, y, p)
		case outerRing:
			if area := e.addRing(x, y); e.valid() {
				e.area += area * p.areaScale((e.ymin+e.ymax)/2)
			}
		case innerRing: // inside of the exterior ring
			e.xmin, e.ymin, e.xmax, e.ymax = from.xmin, from.ymin, from.xmax, from.ymax
			return
		}
		e.xmin, e.ymin = min(e.xmin, from.xmin), min(e.ymin, from.ymin)
		e.xmax, e.ymax = max(e.xmax, from.xmax), max(e.ymax, from.ymax)
	})
	return e, err
}

// finite reports whether x and y are numbers. It is false for NaN and infinities.
func finite(x, y float64) bool { return x-x == 0 && y-y == 0 }

func (e *extent) add(x, y []float64) {
	for i, v := range x {
		if w := y[i]; finite(v, w) {
			e.xmin, e.ymin = min(e.xmin, v), min(e.ymin, w)
			e.xmax, e.ymax = max(e.xmax, v), max(e.ymax, w)
		}
	}
}

// addRing adds a ring to the box and returns its area.
func (e *extent) addRing(x, y []float64) (area float64) {
	var x0, y0, px, py float64
	first := true
	for i, v := range x {
		w := y[i]
		if !finite(v, w) {
			continue
		}
		e.xmin, e.ymin = min(e.xmin, v), min(e.ymin, w)
		e.xmax, e.ymax = max(e.xmax, v), max(e.ymax, w)
		if first {
			x0, y0, first = v, w, false
		}
		dx, dy := v-x0, w-y0 // relative to the first position, for precision
		area += px*dy - dx*py
		px, py = dx, dy
	}
	return math.Abs(area) / 2
}

// addLine adds a line to the box and returns its length in the square.
func (e *extent) addLine(x, y []float64, p projection) (length float64) {
	e.add(x, y)
	if !e.valid() {
		return 0
	}
	sx, sy := p.lengths((e.ymin + e.ymax) / 2)
	for i := 1; i < len(x); i++ {
		if finite(x[i], y[i]) && finite(x[i-1], y[i-1]) {
			length += math.Hypot((x[i]-x[i-1])*sx, (y[i]-y[i-1])*sy)
		}
	}
	return length
}

package geoarrow

import (
	"encoding/binary"
	"math"

	"github.com/vibeflight/vibeflight/readers/internal/extent"
)

// box grows over positions. A position counts if neither its x nor its y is NaN.
type box struct{ xmin, ymin, xmax, ymax float64 }

var emptyBox = box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}

// Bounds returns the bounding box of row i, in x and y. Positions whose x or y is NaN don't count;
// ok is false if none counts: a null or an empty geometry. For a WKB column it walks the bytes;
// malformed bytes count up to the defect.
func (g *Geometry) Bounds(i int) (xmin, ymin, xmax, ymax float64, ok bool) {
	if !g.valid(i) {
		return 0, 0, 0, 0, false
	}
	b := emptyBox
	switch g.Kind {
	case NoKind:
		b.addWKB(g.WKB[g.Offsets[i]:g.Offsets[i+1]])
	case Point:
		b.add(g.X[i:i+1], g.Y[i:i+1])
	default:
		c0, c1 := g.positionsOf(i)
		b.add(g.X[c0:c1], g.Y[c0:c1])
	}
	if b.xmin > b.xmax {
		return 0, 0, 0, 0, false
	}
	return b.xmin, b.ymin, b.xmax, b.ymax, true
}

// TotalBounds returns xmin, ymin, xmax and ymax over all rows.
func (g *Geometry) TotalBounds() (b [4]float64, ok bool) {
	total := emptyBox
	switch {
	case g.Kind == NoKind:
		for i := range g.Rows {
			if g.valid(i) {
				total.addWKB(g.WKB[g.Offsets[i]:g.Offsets[i+1]])
			}
		}
	case g.Kind == Point && g.Nulls > 0: // the zeros under nulls don't count
		for i := range g.Rows {
			if g.valid(i) {
				total.add(g.X[i:i+1], g.Y[i:i+1])
			}
		}
	default:
		total.add(g.X, g.Y)
	}
	if total.xmin > total.xmax {
		return b, false
	}
	return [4]float64{total.xmin, total.ymin, total.xmax, total.ymax}, true
}

func (b *box) add(x, y []float64) {
	a := extent.Add(extent.Box{b.xmin, b.ymin, b.xmax, b.ymax}, x, y)
	*b = box{a[0], a[1], a[2], a[3]}
}

func (b *box) addPosition(x, y float64) {
	if x != x || y != y {
		return
	}
	if x < b.xmin {
		b.xmin = x
	}
	if x > b.xmax {
		b.xmax = x
	}
	if y < b.ymin {
		b.ymin = y
	}
	if y > b.ymax {
		b.ymax = y
	}
}

func (b *box) addWKB(wkb []byte) {
	// our own bytes: an error would be a broken invariant, and the box is what was read
	_ = wkbRuns(wkb, func(h wkbHead, p []byte) {
		n := h.dim.Size()
		if h.order == binary.LittleEndian { // ours, without a call for each ordinate
			c := *b // in registers
			for ; len(p) >= 16; p = p[min(8*n, len(p)):] {
				c.addPosition(littleEndian(p), littleEndian(p[8:]))
			}
			*b = c
			return
		}
		for i := 0; i < len(p)/8; i += n {
			b.addPosition(h.ordinate(p, i), h.ordinate(p, i+1))
		}
	})
}

func littleEndian(p []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(p)) }

// Positions returns the number of positions of all rows; an empty Point has none.
func (g *Geometry) Positions() int64 {
	if g.Kind != NoKind && g.Kind != Point {
		return int64(len(g.X))
	}
	var n int64
	for i := range g.Rows {
		switch {
		case !g.valid(i):
		case g.Kind == NoKind:
			n += wkbPositions(g.WKB[g.Offsets[i]:g.Offsets[i+1]])
		case g.X[i] == g.X[i]:
			n++
		default:
			if s, _ := g.Shape(i); s.C1 > s.C0 {
				n++
			}
		}
	}
	return n
}

func wkbPositions(wkb []byte) int64 {
	var n int64
	_ = wkbRuns(wkb, func(h wkbHead, p []byte) { // as in addWKB
		if h.kind != Point || !h.allNaN(p) {
			n += int64(len(p) / (8 * h.dim.Size()))
		}
	})
	return n
}

// AppendTypes adds the types of the non-null rows, as the file states them, to the set.
func (g *Geometry) AppendTypes(set map[RowKind]struct{}) {
	if g.Kinds == nil {
		if g.Nulls < g.Rows {
			set[MakeRowKind(g.Kind, g.Dim)] = struct{}{}
		}
		return
	}
	var seen [256]bool
	for _, k := range g.Kinds {
		seen[k] = true
	}
	for k, there := range seen {
		if there && k != 0 {
			set[RowKind(k)] = struct{}{}
		}
	}
}

// String returns the kind and the dimension as GeoParquet's geometry_types write them: "Polygon",
// "Point Z", "Point M", "Point ZM"; "null" for a null geometry.
func (r RowKind) String() string {
	return r.Kind().String() + [...]string{XY: "", XYZ: " Z", XYM: " M", XYZM: " ZM"}[r.Dim()]
}

// ValidPositions reports whether x and y of all positions are numbers. An empty point has none.
func (g *Geometry) ValidPositions() bool {
	switch g.Kind {
	case NoKind:
		return g.validWKB()
	case Point:
		for i := range g.X {
			if math.IsNaN(g.X[i]) || math.IsNaN(g.Y[i]) {
				if s, ok := g.Shape(i); ok && s.C1 > s.C0 { // an empty point is NaN too
					return false
				}
			}
		}
		return true
	}
	for i := range g.X {
		if math.IsNaN(g.X[i]) || math.IsNaN(g.Y[i]) {
			return false
		}
	}
	return true
}

// validWKB is ValidPositions for WKB.
func (g *Geometry) validWKB() bool {
	var d WKBDecoder
	var b GeometryBuilder
	for i := range g.Rows {
		wkb := g.WKB[g.Offsets[i]:g.Offsets[i+1]]
		if len(wkb) == 0 { // null
			continue
		}
		b.Reset()
		if _, _, err := d.Read(&b, wkb); err != nil {
			return false
		}
		for k := range b.X {
			if math.IsNaN(b.X[k]) || math.IsNaN(b.Y[k]) {
				return false
			}
		}
	}
	return true
}

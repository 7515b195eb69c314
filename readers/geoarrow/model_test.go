package geoarrow

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// model is a geometry as plainly as it can be written: what the fast code is compared with.
type model struct {
	kind    Kind // NoKind: null
	dim     Dim
	at      []position // Point (0 or 1), LineString
	members []model    // rings of a Polygon as LineStrings, members of anything else
}

type position []float64

// wkb encodes the slow way, ISO WKB.
func (m model) wkb() []byte {
	if m.kind == NoKind {
		return nil
	}
	b := []byte{1}
	b = binary.LittleEndian.AppendUint32(b, uint32(m.kind)+1000*uint32(m.dim))
	floats := func(p position) {
		for _, v := range p {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	count := func(n int) { b = binary.LittleEndian.AppendUint32(b, uint32(n)) }
	switch m.kind {
	case Point:
		if len(m.at) == 0 {
			floats([]float64{nan, nan, nan, nan}[:m.dim.Size()])
			return b
		}
		floats(m.at[0])
	case LineString:
		count(len(m.at))
		for _, p := range m.at {
			floats(p)
		}
	case Polygon:
		count(len(m.members))
		for _, r := range m.members {
			count(len(r.at))
			for _, p := range r.at {
				floats(p)
			}
		}
	default:
		count(len(m.members))
		for _, c := range m.members {
			b = append(b, c.wkb()...)
		}
	}
	return b
}

// wkt writes the slow way.
func (m model) wkt() string {
	if m.kind == NoKind {
		return ""
	}
	return strings.ToUpper(m.kind.String()) + []string{" ", " Z ", " M ", " ZM "}[m.dim] + m.text()
}

func (m model) text() string {
	var parts []string
	for _, p := range m.at {
		var numbers []string
		for _, v := range p {
			numbers = append(numbers, strings.ToLower(strconv.FormatFloat(v, 'f', -1, 64)))
		}
		parts = append(parts, strings.Join(numbers, " "))
	}
	for _, c := range m.members {
		if m.kind == GeometryCollection {
			parts = append(parts, c.wkt())
		} else {
			parts = append(parts, c.text())
		}
	}
	if len(parts) == 0 {
		return "EMPTY"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// positions lists all positions.
func (m model) positions() []position {
	all := append([]position(nil), m.at...)
	for _, c := range m.members {
		all = append(all, c.positions()...)
	}
	return all
}

// feed gives the geometry to a builder, as a parser would.
func (m model) feed(b *GeometryBuilder) {
	m.add(b)
	switch m.kind {
	case NoKind:
		b.Null()
		return
	case GeometryCollection:
		b.BeginCollection()
		for _, c := range m.members {
			c.feed(b)
		}
		b.dim |= m.dim
		b.EndCollection()
		return
	}
	for _, c := range m.members {
		switch m.kind {
		case MultiPoint:
			c.add(b)
		case Polygon, MultiLineString:
			c.add(b)
			b.EndRing()
		case MultiPolygon:
			for _, r := range c.members {
				r.add(b)
				b.EndRing()
			}
			b.EndPart()
		}
	}
	b.dim |= m.dim // of an empty geometry
	b.End(m.kind)
}

// add gives the builder only the geometry's own positions.
func (m model) add(b *GeometryBuilder) {
	for _, p := range m.at {
		b.X, b.Y = append(b.X, p[0]), append(b.Y, p[1])
		if m.dim&HasZ != 0 {
			b.AddZ(p[2])
		}
		if m.dim&HasM != 0 {
			b.AddM(p[len(p)-1])
		}
	}
}

// randomModel returns a geometry of the kind, empty one time in six.
func randomModel(r *rand.Rand, k Kind, d Dim, depth int) model {
	m := model{kind: k, dim: d}
	if k == NoKind {
		return model{}
	}
	n := max(0, r.IntN(6)-1)
	switch k {
	case Point:
		n = min(n, 1)
		fallthrough
	case LineString:
		for range n {
			p := make(position, d.Size())
			for i := range p {
				p[i] = float64(r.IntN(2000)-1000) / 8
			}
			m.at = append(m.at, p)
		}
	case Polygon:
		for range n {
			m.members = append(m.members, randomModel(r, LineString, d, 0))
		}
	case GeometryCollection:
		kinds := 7
		if depth == 3 {
			kinds = 6
		}
		for range n {
			m.members = append(m.members, randomModel(r, Kind(1+r.IntN(kinds)), d, depth+1))
		}
	default:
		for range n {
			c := randomModel(r, k-3, d, 0)
			for k == MultiPoint && len(c.at) == 0 { // a builder has no empty members of a MultiPoint
				c = randomModel(r, Point, d, 0)
			}
			m.members = append(m.members, c)
		}
	}
	return m
}

// mix is what a random column is made of.
type mix struct {
	name  string
	kinds []Kind
	dims  []Dim
}

// mixes covers each kind alone and with its Multi kind, in one dimension and in several, and
// columns that only WKB can hold.
func mixes() []mix {
	var all []mix
	for _, dims := range [][]Dim{{XY}, {XYZ}, {XYM}, {XYZM}, {XY, XYZ}, {XYZ, XYM}, {XY, XYZ, XYM, XYZM}} {
		for k := Point; k <= MultiPolygon; k++ {
			all = append(all, mix{kinds: []Kind{k}, dims: dims})
		}
		for k := Point; k <= Polygon; k++ {
			all = append(all, mix{kinds: []Kind{k, k.Multi()}, dims: dims})
		}
		all = append(all, mix{kinds: []Kind{Point, Polygon}, dims: dims}, mix{
			kinds: []Kind{GeometryCollection},
			dims:  dims,
		},
			mix{kinds: []Kind{
				Point, LineString, Polygon, MultiPoint, MultiLineString, MultiPolygon,
				GeometryCollection,
			}, dims: dims})
	}
	for i := range all {
		all[i].name = fmt.Sprint(all[i].kinds, all[i].dims)
	}
	return all
}

// column returns n random rows, a share of them null.
func (x mix) column(t testing.TB, r *rand.Rand, n int, nulls float64) ([]model, *Geometry) {
	t.Helper()
	var b GeometryBuilder
	b.Reset()
	rows := make([]model, n)
	for i := range rows {
		if r.Float64() >= nulls {
			rows[i] = randomModel(r, x.kinds[r.IntN(len(x.kinds))], x.dims[r.IntN(len(x.dims))], 0)
		}
		rows[i].feed(&b)
	}
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return rows, g
}

// eachColumn runs f on random columns of all mixes, of sizes around a byte of validity and with no,
// some and only nulls.
func eachColumn(t *testing.T, f func(t *testing.T, r *rand.Rand, rows []model, g *Geometry)) {
	for k, x := range mixes() {
		t.Run(x.name, func(t *testing.T) {
			for i, n := range []int{0, 1, 8, 9, 70} {
				for j, nulls := range []float64{0, 0.3, 1} {
					r := rand.New(rand.NewPCG(uint64(k), uint64(10*i+j)))
					rows, g := x.column(t, r, n, nulls)
					f(t, r, rows, g)
				}
			}
		})
	}
}

package tiles

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geojson"
	"github.com/paulmach/orb/planar"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// hostile are ordinates at which projections and boxes have edges.
var hostile = []float64{
	math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 5e-324, 0, math.Copysign(0, -1),
	180, -180, 180.0000001, -179.9999999, 360, 90, -90, 89.9999, maxLatitude, -maxLatitude, 85.0511287798066,
	1e9, -1e18,
}

// ordinate returns a hostile number or one near the tile of the test.
func ordinate(rng *rand.Rand) float64 {
	if rng.IntN(4) == 0 {
		return hostile[rng.IntN(len(hostile))]
	}
	return rng.Float64()*math.Ldexp(80, -rng.IntN(20)) - math.Ldexp(40, -rng.IntN(20))
}

// wkbOf returns a random geometry as WKB.
func wkbOf(rng *rand.Rand, k geoarrow.Kind, d geoarrow.Dim, depth int, ordinate func() float64) []byte {
	positions := func(b []byte, n int) []byte {
		for range n * d.Size() {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(ordinate()))
		}
		return b
	}
	n := rng.IntN(6)
	if rng.IntN(8) == 0 {
		n = rng.IntN(60)
	}
	switch k {
	case geoarrow.Point:
		b := binary.LittleEndian.AppendUint32([]byte{1}, uint32(k)+1000*uint32(d))
		return positions(b, 1)
	case geoarrow.LineString:
		return positions(geoarrow.AppendWKBHeader(nil, k, d, uint32(n)), n)
	case geoarrow.Polygon:
		n = rng.IntN(4)
		b := geoarrow.AppendWKBHeader(nil, k, d, uint32(n))
		for range n {
			m := rng.IntN(40)
			b = positions(binary.LittleEndian.AppendUint32(b, uint32(m)), m)
		}
		return b
	}
	n = rng.IntN(4)
	b := geoarrow.AppendWKBHeader(nil, k, d, uint32(n))
	for range n {
		member := k - 3
		if k == geoarrow.GeometryCollection {
			member = geoarrow.Kind(1 + rng.IntN(7))
			if depth > 3 {
				member = geoarrow.Point
			}
		}
		b = append(b, wkbOf(rng, member, d, depth+1, ordinate)...)
	}
	return b
}

// columnOf returns a column of some geometries; nil is null.
func columnOf(t testing.TB, wkbs [][]byte) *geoarrow.Geometry {
	t.Helper()
	var b geoarrow.GeometryBuilder
	var d geoarrow.WKBDecoder
	b.Reset()
	for _, w := range wkbs {
		if w == nil {
			b.Null()
			continue
		}
		k, _, err := d.Read(&b, w)
		if err != nil {
			t.Fatal(err)
		}
		if k == geoarrow.GeometryCollection {
			b.EndCollection()
		} else {
			b.End(k)
		}
	}
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// drawn returns the features of a tile of a column: after judgement, or all of them as they are.
func drawn(t testing.TB, f *frame, g *geoarrow.Geometry, all bool) []*geojson.Feature {
	t.Helper()
	box := f.searchBox()
	j := judge{frame: f, geometry: g, box: &box, share: 1}
	found, err := j.all(g.Rows)
	if err != nil {
		t.Fatal(err)
	}
	found = spread(found, false)
	for i := range found {
		found[i].tiny = found[i].tiny && !all
	}
	b := painted(t, f, g, found)
	if b == nil {
		return nil
	}
	return decoded(t, b)
}

// painted returns the tile of some rows of a column, without limits.
func painted(t testing.TB, f *frame, g *geoarrow.Geometry, all []candidate) []byte {
	t.Helper()
	rows := &copies{batches: []*geoarrow.Columns{{Rows: g.Rows, Geometry: g}}}
	d := newPainter(new(workerPool), f, rows, nil, newLayer("l", nil, f.extent, 1<<30), 1<<20)
	defer d.release()
	if err := d.draw(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	return d.layer.tile()
}

// TestHostileCoordinates draws random geometries of all types with hostile coordinates, as native
// columns and as WKB.
func TestHostileCoordinates(t *testing.T) {
	rounds := 4000
	if testing.Short() {
		rounds = 600
	}
	s := New(Config{})
	defer s.Close()
	features := 0
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 11))
		same, dim := geoarrow.Kind(rng.IntN(8)), geoarrow.Dim(rng.IntN(4))
		var rows [][]byte
		for range 1 + rng.IntN(20) {
			k := same
			if k == 0 {
				k = geoarrow.Kind(1 + rng.IntN(7))
			}
			if rng.IntN(9) == 0 {
				rows = append(rows, nil)
			} else {
				rows = append(rows, wkbOf(rng, k, dim, 0, func() float64 { return ordinate(rng) }))
			}
		}
		g := columnOf(t, rows)
		wkb, err := g.ToWKB()
		if err != nil {
			t.Fatal(err)
		}
		z := uint32(rng.IntN(MaxZoom + 1))
		n := math.Ldexp(1, int(z))
		edge := []float64{0, n - 1, n / 2, max(0, n/2-1)}
		f := newFrame(projection(rng.IntN(2)), z, uint32(edge[rng.IntN(4)]), uint32(edge[rng.IntN(4)]), 4096, 64)
		at := fmt.Sprintf("seed %d", seed)
		native, asWKB := drawn(t, f, g, false), drawn(t, f, wkb, false)
		if !reflect.DeepEqual(native, asWKB) {
			t.Errorf("%s: native %v\nWKB %v", at, native, asWKB)
		}
		for _, found := range native {
			checkShape(t, at, s, found.Geometry)
		}
		features += len(native)
	}
	if features < rounds {
		t.Errorf("%d features", features)
	}
}

// TestShapesAreThoseOfTheSource compares geometries with those of the tile: short ones have the
// same vertices, rounded to units; long ones are within the tolerance of the simplification.
func TestShapesAreThoseOfTheSource(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 12))
		z := uint32(rng.IntN(MaxZoom - 2))
		n := math.Ldexp(1, int(z))
		x, y := uint32(rng.Float64()*n), uint32(rng.Float64()*n)
		f := newFrame(degrees, z, x, y, 4096, 64)
		inside := f.box(0)
		inside[1], inside[3] = max(inside[1], -maxLatitude), min(inside[3], maxLatitude)
		count := 2 + rng.IntN(shortPath-1)
		if seed%2 == 0 {
			count = 500
		}
		b := geoarrow.AppendWKBHeader(nil, geoarrow.LineString, geoarrow.XY, uint32(count))
		var source orb.LineString
		lon, lat := (inside[0]+inside[2])/2, (inside[1]+inside[3])/2
		for range count {
			lon += rng.NormFloat64() * (inside[2] - inside[0]) / 400
			lat += rng.NormFloat64() * (inside[3] - inside[1]) / 400
			lon, lat = min(max(lon, inside[0]), inside[2]), min(max(lat, inside[1]), inside[3])
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(lon))
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(lat))
			source = append(source, orb.Point{
				degrees.x(lon)*f.scale - float64(f.left), degrees.y(lat)*f.scale - float64(f.top),
			})
		}
		found := drawn(t, f, columnOf(t, [][]byte{b}), true)
		if len(found) != 1 {
			t.Fatalf("seed %d: %d features", seed, len(found))
		}
		line := found[0].Geometry.(orb.LineString)
		limit := math.Sqrt2/2 + 1e-3
		if count > shortPath {
			limit += float64(f.pixel) / 4
			if len(line) >= count {
				t.Errorf("seed %d: %d vertices, not fewer than %d", seed, len(line), count)
			}
		}
		for _, p := range source {
			if d := planar.DistanceFrom(line, p); d > limit {
				t.Errorf("seed %d, %d vertices: %v is %v units from the line", seed, count, p, d)
			}
		}
		for _, p := range line {
			if d := planar.DistanceFrom(source, p); d > limit {
				t.Errorf("seed %d: vertex %v is %v units from the source", seed, p, d)
			}
		}
	}
}

// FuzzGeometry draws geometries of any bytes that are WKB.
func FuzzGeometry(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 13))
	for k := geoarrow.Point; k <= geoarrow.GeometryCollection; k++ {
		wkb := wkbOf(rng, k, geoarrow.XYZ, 0, func() float64 { return ordinate(rng) })
		f.Add(wkb, uint8(3), uint32(4), uint32(3), false)
	}
	s := New(Config{})
	defer s.Close()
	f.Fuzz(func(t *testing.T, wkb []byte, z uint8, x, y uint32, metric bool) {
		if _, err := geoarrow.ParseWKB(wkb); err != nil {
			t.Skip()
		}
		p := degrees
		if metric {
			p = metres
		}
		zoom := uint32(z) % (MaxZoom + 1)
		frame := newFrame(p, zoom, x&(1<<zoom-1), y&(1<<zoom-1), 4096, 64)
		for _, found := range drawn(t, frame, columnOf(t, [][]byte{wkb, wkb}), false) {
			checkShape(t, "", s, found.Geometry)
		}
	})
}

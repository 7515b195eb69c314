package tiles

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// featureCollection returns a GeoJSON document of geometries, with a crs member if crs is not "".
// The property n is the number of the feature.
func featureCollection(crs string, geometries []string) []byte {
	var b bytes.Buffer
	b.WriteString(`{"type":"FeatureCollection",`)
	if crs != "" {
		fmt.Fprintf(&b, `"crs":{"type":"name","properties":{"name":%q}},`, crs)
	}
	b.WriteString(`"features":[`)
	for i, g := range geometries {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"type":"Feature","properties":{"n":%d},"geometry":%s}`, i, g)
	}
	b.WriteString("]}")
	return b.Bytes()
}

func pointJSON(x, y float64) string {
	return fmt.Sprintf(`{"type":"Point","coordinates":[%v,%v]}`, x, y)
}

// squareJSON is a square around a place.
func squareJSON(x, y, r float64) string {
	return fmt.Sprintf(`{"type":"Polygon","coordinates":[[[%v,%v],[%v,%v],[%v,%v],[%v,%v],[%v,%v]]]}`,
		x-r, y-r, x+r, y-r, x+r, y+r, x-r, y+r, x-r, y-r)
}

func lineJSON(x, y, dx, dy float64) string {
	return fmt.Sprintf(`{"type":"LineString","coordinates":[[%v,%v],[%v,%v]]}`, x, y, x+dx, y+dy)
}

// randomGeometries are of all types and sizes.
func randomGeometries(rng *rand.Rand, n int) (all []string) {
	for range n {
		x, y := rng.NormFloat64()*20, rng.NormFloat64()*15
		r := math.Exp(rng.NormFloat64()*3 - 5)
		switch rng.IntN(5) {
		case 0:
			all = append(all, pointJSON(x, y))
		case 1:
			all = append(all, lineJSON(x, y, r, r/2))
		case 2:
			all = append(all, "null")
		default:
			all = append(all, squareJSON(x, y, min(r, 30)))
		}
	}
	return all
}

// TestPointsAreSpread wants the points that are left out to leave an even spread.
func TestPointsAreSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var all []string
	for i := range 120_000 {
		x, y := rng.Float64()*300-150, rng.Float64()*140-70
		if i%2 == 0 { // half of them in one place
			x, y = 10+rng.NormFloat64(), 50+rng.NormFloat64()
		}
		all = append(all, pointJSON(x, y))
	}
	ref := openText(t, "points.geojson", featureCollection("", all), false)
	s := New(Config{})
	defer s.Close()
	found := tileOf(t, s, ref, 0, 0, 0)
	if len(found) < 20_000 {
		t.Errorf("%d points", len(found))
	}
	blocks := map[[2]int]int{}
	for _, f := range found {
		p := f.Geometry.(orb.Point)
		blocks[[2]int{int(p[0]) / 512, int(p[1]) / 512}]++
	}
	for b, n := range blocks {
		if n > len(found)/8 {
			t.Errorf("block %v has %d points of %d", b, n, len(found))
		}
	}
	again := New(Config{CacheBytes: -1})
	defer again.Close()
	a, _ := s.Tile(t.Context(), ref, 0, 0, 0, []string{"n"})
	b, err := again.Tile(t.Context(), ref, 0, 0, 0, []string{"n"})
	if !bytes.Equal(a, b) || err != nil {
		t.Errorf("another tile: %d and %d bytes, error %v", len(a), len(b), err)
	}
}

// TestLargestStay leaves out what is smallest.
func TestLargestStay(t *testing.T) {
	var all []string
	for i := range 3000 {
		r := 0.2 + float64(i%100)/100
		all = append(all, squareJSON(float64(i%60)*5-150, float64(i/60)*2-50, r))
	}
	ref := openText(t, "squares.geojson", featureCollection("", all), false)
	s := New(Config{MaxFeatures: 1000})
	defer s.Close()
	found := tileOf(t, s, ref, 3, 4, 3, "n")
	everything := New(Config{})
	defer everything.Close()
	whole := tileOf(t, everything, ref, 3, 4, 3, "n")
	if len(whole) < 100 || len(found) != min(len(whole), 1000) {
		t.Fatalf("%d features, and %d without a limit", len(found), len(whole))
	}
	few := New(Config{MaxFeatures: 20})
	defer few.Close()
	largest := map[float64]bool{}
	for _, f := range tileOf(t, few, ref, 3, 4, 3, "n") {
		largest[f.Properties["n"].(float64)] = true
	}
	smallest := math.Inf(1)
	for _, f := range whole {
		if largest[f.Properties["n"].(float64)] {
			smallest = min(smallest, areaOf(all, f.Properties["n"].(float64)))
		}
	}
	for _, f := range whole {
		if n := f.Properties["n"].(float64); !largest[n] && areaOf(all, n) > smallest*1.0001 {
			t.Errorf("feature %v of size %v is left out, one of %v is not", n, areaOf(all, n), smallest)
		}
	}
}

// areaOf returns the area on the map of square n of TestLargestStay.
func areaOf(_ []string, n float64) float64 {
	i := int(n)
	r, y := 0.2+float64(i%100)/100, float64(i/60)*2-50
	return 4 * r * r * degrees.areaScale(y)
}

// TestBytesAreLimited fills tiles with long texts and with long lines.
func TestBytesAreLimited(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `{"type":"Feature","properties":{"text":"%d %s"},"geometry":%s}`+"\n", i, strings.Repeat("x", 200),
			squareJSON(float64(i%100), float64(i/100), 0.4))
	}
	line := make([]string, 100_000)
	for i := range line {
		line[i] = fmt.Sprintf("[%v,%v]", float64(i)/1000, 20*math.Sin(float64(i)*1.7))
	}
	fmt.Fprintf(&b, `{"type":"Feature","properties":{},"geometry":{"type":"LineString","coordinates":[%s]}}`+"\n",
		strings.Join(line, ","))
	ref := openText(t, "texts.geojsonl", []byte(b.String()), false)
	s := New(Config{})
	defer s.Close()
	for z := range uint32(4) {
		if found := tileOf(t, s, ref, z, 1<<z/2, 1<<z/2-min(z, 1), "text"); len(found) < 500 && z < 2 {
			t.Errorf("zoom %d: %d features", z, len(found))
		}
	}
}

// TestOverviewDrawsTheSame compares tiles of a table with an overview with those of all rows.
func TestOverviewDrawsTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	text := featureCollection("", randomGeometries(rng, 20_000))
	tiles := 30
	if testing.Short() {
		tiles = 2
	}
	for _, onDisk := range []bool{false, true} {
		ref := openText(t, "mixed.geojson", text, onDisk)
		plain := New(Config{MaxFeatures: 3000, CacheBytes: -1})
		defer plain.Close()
		with := New(Config{MaxFeatures: 3000, CacheBytes: -1})
		defer with.Close()
		with.overviews.rows = 200
		without := New(Config{MaxFeatures: 3000, CacheBytes: -1, IndexBytes: 1}) // for a table that is too large
		defer without.Close()
		without.overviews.rows = 200
		lists := 0
		for z := range uint32(8) {
			for range tiles {
				n := math.Ldexp(1, int(z))
				x, y := uint32(degrees.x(rng.NormFloat64()*20)*n), uint32(degrees.y(rng.NormFloat64()*15)*n)
				want, err := plain.Tile(t.Context(), ref, z, x, y, nil)
				if err != nil {
					t.Fatal(err)
				}
				got, err := with.Tile(t.Context(), ref, z, x, y, nil)
				if err != nil {
					t.Fatal(err)
				}
				none, err := without.Tile(t.Context(), ref, z, x, y, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(none, want) {
					t.Errorf("without, on disk %v: %d/%d/%d: %d bytes, not %d", onDisk, z, x, y, len(none), len(want))
				}
				if !bytes.Equal(got, want) {
					t.Errorf("on disk %v: %d/%d/%d has %d bytes, not %d", onDisk, z, x, y, len(got), len(want))
				}
			}
		}
		with.overviews.mu.Lock()
		for _, c := range with.overviews.tables {
			lists += len(c.overview.lists)
		}
		with.overviews.mu.Unlock()
		if lists < 20 {
			t.Errorf("%d lists", lists)
		}
	}
}

func TestReferenceSystems(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	var lonLat, meters []string
	for range 500 {
		lon, lat := rng.Float64()*40-20, rng.Float64()*40-20
		lonLat = append(lonLat, pointJSON(lon, lat))
		y := math.Log(math.Tan(math.Pi/4+lat*math.Pi/360)) * 6378137
		meters = append(meters, pointJSON(lon*math.Pi/180*6378137, y))
	}
	s := New(Config{})
	defer s.Close()
	want := tileOf(t, s, openText(t, "a.geojson", featureCollection("", lonLat), false), 3, 3, 3)
	for _, crs := range []string{"EPSG:3857", "urn:ogc:def:crs:EPSG::3857"} {
		got := tileOf(t, s, openText(t, "b.geojson", featureCollection(crs, meters), false), 3, 3, 3)
		if len(got) != len(want) || len(got) < 50 {
			t.Fatalf("%s: %d features, not %d", crs, len(got), len(want))
		}
		for i := range got {
			a, b := got[i].Geometry.(orb.Point), want[i].Geometry.(orb.Point)
			if got[i].ID != want[i].ID || math.Abs(a[0]-b[0]) > 1 || math.Abs(a[1]-b[1]) > 1 {
				t.Errorf("%s: %v, not %v", crs, got[i], want[i])
			}
		}
	}
	utm := openText(t, "c.geojson", featureCollection("EPSG:25832", meters), false)
	_, err := s.Tile(t.Context(), utm, 3, 3, 3, nil)
	var other *CRSError
	if !errors.As(err, &other) || other.CRS != (geoarrow.CRS{Authority: "EPSG", Code: "25832"}) {
		t.Errorf("error %v", err)
	}
}

func TestAddresses(t *testing.T) {
	ref := openText(t, "a.geojson", featureCollection("", []string{pointJSON(1, 2)}), false)
	s := New(Config{})
	defer s.Close()
	for _, a := range [][3]uint32{{0, 1, 0}, {0, 0, 1}, {3, 8, 0}, {23, 0, 0}, {40, 0, 0}, {1 << 31, 0, 0}} {
		_, err := s.Tile(t.Context(), ref, a[0], a[1], a[2], nil)
		if wrong := new(AddressError); !errors.As(err, &wrong) {
			t.Errorf("%v: error %v", a, err)
		}
	}
	_, err := s.Tile(t.Context(), ref, 0, 0, 0, []string{"m"})
	if wrong := new(catalog.UnknownColumnError); !errors.As(err, &wrong) || wrong.Nearest != "n" {
		t.Errorf("error %v", err)
	}
	if b, err := s.Tile(t.Context(), ref, 5, 0, 0, nil); b != nil || err != nil {
		t.Errorf("%d bytes, error %v", len(b), err)
	}
}

package gen

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// write returns the bytes of a file, or those of all of a shapefile, .shp .shx .dbf .prj .cpg, one
// after the other.
func write(t *testing.T, spec Spec) []byte {
	t.Helper()
	var b bytes.Buffer
	if spec.Kind == Shapefile {
		path := filepath.Join(t.TempDir(), "x.shp")
		writeFile(t, path, spec)
		for _, extension := range shapefileExtensions {
			b.Write(readFile(t, strings.TrimSuffix(path, ".shp")+extension))
		}
		return b.Bytes()
	}
	if err := Write(t.Context(), &b, spec); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestGolden pins the bytes: a change of them changes all measurements.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Kind: Buildings, Features: 1}, "78f9c4b19646a399fb77c9fe404f0c10a4046696d0f403eb386792866918ce98"},
		{
			Spec{Kind: Buildings, Features: 10000, Seed: 1},
			"136794c40abbacb7b611a2c4ac39aab76ef7b2d24b70d127425df22273cf4500",
		},
		{Spec{Kind: Mixed, Features: 1}, "0b38b0b95978d662598f6dbab08dfaa4a74792ab21018276f0bb83e0909dcfd7"},
		{
			Spec{Kind: Mixed, Features: 10000, Seed: 1},
			"70d424052c58f20e0e3b686b3883675dfe523014aee257cef2031ba5f64cc146",
		},
		{Spec{Kind: Points, Features: 1}, "8bf00c6833025c2eb140d7ade2c4b36993d282074499a287b7fcffac02c4be36"},
		{
			Spec{Kind: Points, Features: 10000, Seed: 1},
			"df50e328ef6079c3ae45fd0ace27fa9bfe060f5e00c5ff359bda5cab7e1da6a8",
		},
		{Spec{Kind: PointsCSV, Features: 1}, "7ee8bfd232a8fc96d6b9dbbeb1f54c42a6c7e4e46dc8de0a0ffe4e2db503e7fb"},
		{
			Spec{Kind: PointsCSV, Features: 10000, Seed: 1},
			"b59f46b959f558139d0d9c01760ffb599137fa2b9b2bad0a0ee3b4d80cb853c3",
		},
		{Spec{Kind: WKTCSV, Features: 1}, "01970998df8439bb5a338b5049ec77ba2b2732e5156c0eb3fe9d518f0cde3b87"},
		{
			Spec{Kind: WKTCSV, Features: 10000, Seed: 1},
			"d45674e98d9026fa3663b62d8822079406e52595618f0f07dc37da6a3490309f",
		},
		{Spec{Kind: WKT, Features: 1}, "7152c1be967538f8efbfb89da6e20933f15877c9039768565fc7655f5f3ba409"},
		{Spec{Kind: WKT, Features: 10000, Seed: 1}, "735cd228c3be9c1a7e58be11397b44fa23f247dc5ccae6a4694e1016a45bb58f"},
		{Spec{Kind: DBF, Features: 1}, "42486bdd5a451b2e7e91d08a1ac912558fcf4c5d9cffcd01875527f9b88f72d4"},
		{Spec{Kind: DBF, Features: 10000, Seed: 1}, "dc8f4005545ac01a335c482a38ad4fb1699540207c477ee265ff01438cb81db3"},
		{Spec{Kind: Shapefile, Features: 1}, "cff9ad17c544c59be81ecdb90b2926a2d3a37272f133170d25253d5b6f5b96d6"},
		{
			Spec{Kind: Shapefile, Features: 10000, Seed: 1},
			"cae05e0e8d8e0ceba9ad1695df4e887d3208fa11eb5cecc8ae1b84aa42712097",
		},
		{Spec{Kind: KML, Features: 1}, "1bedfe7d74df11a737db9b99fb304b49cd5c0d02d1b81a5eb39e21e105eacb29"},
		{Spec{Kind: KML, Features: 10000, Seed: 1}, "5ef6cc639a1a4cf7472b5cc863d578e0df24fd21fb2fe24eae87c2688654d21f"},
		{Spec{Kind: GML, Features: 1}, "fb056174e107e463d6a3f7645e194344ba16cf9041fd7f126b7d6db443f21eda"},
		{Spec{Kind: GML, Features: 10000, Seed: 1}, "2823fd7e5dacfcaa8cfff4befa31a79f41723a5196674e6fd0daedff839ef50f"},
	} {
		sum := sha256.Sum256(write(t, c.spec))
		if got := hex.EncodeToString(sum[:]); got != c.want {
			t.Errorf("%s, %d features, seed %d: got %s, want %s", c.spec.Kind, c.spec.Features, c.spec.Seed,
				got, c.want)
		}
	}
}

func TestSeeds(t *testing.T) {
	for _, kind := range Kinds() {
		if bytes.Equal(write(t, Spec{Kind: kind, Features: 10, Seed: 1}),
			write(t, Spec{Kind: kind, Features: 10, Seed: 2})) {
			t.Errorf("%s: seeds 1 and 2 give the same", kind)
		}
	}
}

type feature struct {
	Type       string
	Geometry   *geometry
	Properties map[string]any
}

type geometry struct {
	Type        string
	Coordinates any
	Geometries  []geometry
}

func features(t *testing.T, kind string, text []byte) (found []feature) {
	t.Helper()
	if kind != Points {
		var collection struct {
			Type     string
			Features []feature
		}
		if err := json.Unmarshal(text, &collection); err != nil || collection.Type != "FeatureCollection" {
			t.Fatalf("%s: %v, %q in %.300s", kind, err, collection.Type, text)
		}
		return collection.Features
	}
	for line := range bytes.Lines(text) {
		var f feature
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatalf("%s: %v in %s", kind, err, line)
		}
		found = append(found, f)
	}
	return found
}

func TestValidGeoJSON(t *testing.T) {
	for _, kind := range []string{Buildings, Mixed, Points} {
		for _, count := range []int64{
			0, 1, 2, chunkFeatures - 1, chunkFeatures, chunkFeatures + 1,
			5*chunkFeatures + 7,
		} {
			found := features(t, kind, write(t, Spec{Kind: kind, Features: count, Seed: 9}))
			if int64(len(found)) != count {
				t.Fatalf("%s: got %d features, want %d", kind, len(found), count)
			}
			for i, f := range found {
				if f.Type != "Feature" || f.Properties == nil {
					t.Fatalf("%s, feature %d: got %+v", kind, i, f)
				}
				f.Geometry.check(t)
			}
		}
	}
}

// check tells of positions outside the world, of wrong depths and of rings that are not closed.
func (g *geometry) check(t *testing.T) {
	t.Helper()
	if g == nil {
		return
	}
	depth, known := map[string]int{
		"Point": 0, "MultiPoint": 1, "LineString": 1, "MultiLineString": 2,
		"Polygon": 2, "MultiPolygon": 3, "GeometryCollection": -1,
	}[g.Type]
	switch {
	case !known:
		t.Fatalf("unknown type %q", g.Type)
	case depth < 0:
		for i := range g.Geometries {
			g.Geometries[i].check(t)
		}
	default:
		checkPositions(t, g.Coordinates, depth, strings.HasSuffix(g.Type, "Polygon"))
	}
}

func checkPositions(t *testing.T, coordinates any, depth int, rings bool) {
	t.Helper()
	list, ok := coordinates.([]any)
	if !ok || len(list) == 0 {
		t.Fatalf("%v is no list, %d above positions", coordinates, depth)
	}
	if depth == 0 {
		x, y := list[0].(float64), list[1].(float64)
		if len(list) > 3 || math.Abs(x) > 180 || math.Abs(y) > 90 {
			t.Fatalf("%v is no position", list)
		}
		return
	}
	if rings && depth == 1 && (len(list) < 5 || !reflect.DeepEqual(list[0], list[len(list)-1])) {
		t.Fatalf("%v is no ring", list)
	}
	for _, part := range list {
		checkPositions(t, part, depth-1, rings)
	}
}

func TestUnknownKind(t *testing.T) {
	err := Write(t.Context(), io.Discard, Spec{Kind: "roads", Features: 1})
	if err == nil || !strings.Contains(err.Error(), `"roads"`) || FeaturesFor("roads", 1e6) != 0 {
		t.Errorf("got %v, %d", err, FeaturesFor("roads", 1e6))
	}
}

func TestFeaturesFor(t *testing.T) {
	for _, kind := range Kinds() {
		const want = 8e6
		if got := float64(len(write(t, Spec{Kind: kind, Features: FeaturesFor(kind, want)}))); math.Abs(
			got/want-1,
		) > 0.01 {
			t.Errorf("%s: got %.0f bytes, want %.0f; a feature has %.0f thousandths", kind, got, want,
				1000*got/float64(FeaturesFor(kind, want)))
		}
		if got := FeaturesFor(kind, 0); got != 1 {
			t.Errorf("%s: got %d features for no bytes, want 1", kind, got)
		}
		if got := FeaturesFor(kind, math.MaxInt64); got < math.MaxInt64/1000 {
			t.Errorf("%s: got %d features for the largest file", kind, got)
		}
	}
}

func TestProgress(t *testing.T) {
	const total = 3*chunkFeatures + 5
	last := int64(0)
	err := Write(t.Context(), io.Discard, Spec{Kind: Mixed, Features: total, Progress: func(done, of int64) {
		if done <= last || of != total {
			t.Errorf("%d of %d after %d", done, of, last)
		}
		last = done
	}})
	if err != nil || last != total {
		t.Errorf("got %v, %d features, want %d", err, last, total)
	}
}

var errFull = errors.New("full")

// limitedWriter fails, or cancels, when more than left bytes come.
type limitedWriter struct {
	left int
	then func() error
}

func (l *limitedWriter) Write(b []byte) (int, error) {
	if l.left -= len(b); l.left < 0 {
		if err := l.then(); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

func TestStops(t *testing.T) {
	for _, left := range []int{0, 10, 1e6, 10e6} {
		spec := Spec{Kind: Buildings, Features: 1e12}
		if err := Write(t.Context(), &limitedWriter{left, func() error {
			return errFull
		}}, spec); !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: got %v, want %v", left, err, errFull)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if err := Write(ctx, &limitedWriter{left, func() error {
			cancel()
			return nil
		}}, spec); !errors.Is(err, context.Canceled) {
			t.Errorf("after %d bytes: got %v, want %v", left, err, context.Canceled)
		}
		cancel()
	}
}

func TestSineIsSine(t *testing.T) {
	for d := range int64(2 * turn) {
		if want := math.Round(unit * math.Sin(2*math.Pi*float64(d)/turn)); float64(sine(d)) != want {
			t.Errorf("direction %d: got %d, want %.0f", d, sine(d), want)
		}
		if want := math.Round(unit * math.Cos(2*math.Pi*float64(d)/turn)); float64(cosine(d)) != want {
			t.Errorf("direction %d: got %d, want %.0f", d, cosine(d), want)
		}
	}
}

func TestDecimals(t *testing.T) {
	for _, c := range []struct {
		v               int64
		shortest, fixed string
	}{
		{0, "0.0", "0.000000"},
		{1, "0.0000001", "0.000000"},
		{-1, "-0.0000001", "-0.000000"},
		{10_000_000, "1.0", "1.000000"},
		{-876_543_210, "-87.654321", "-87.654321"},
		{1_799_999_999, "179.9999999", "179.999999"},
		{1_000_500_000, "100.05", "100.050000"},
		{24_000_000_000, "2400.0", "2400.000000"},
	} {
		var shortest, fixed chunk
		shortest.shortest(c.v)
		fixed.fixed(c.v, 6)
		if string(shortest.text) != c.shortest || string(fixed.text) != c.fixed {
			t.Errorf("%d: got %s and %s, want %s and %s", c.v, shortest.text, fixed.text, c.shortest, c.fixed)
		}
	}
}

func BenchmarkChunk(b *testing.B) {
	for _, kind := range Kinds() {
		b.Run(kind, func(b *testing.B) {
			s, _ := shapeOf(kind, 0)
			var text []byte
			for number := int64(0); b.Loop(); number++ {
				text = s.chunk(text, Spec{Kind: kind, Features: math.MaxInt64}, number)
			}
			b.SetBytes(int64(len(text)))
		})
	}
}

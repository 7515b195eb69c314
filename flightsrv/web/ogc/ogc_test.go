package ogc

import (
	"bytes"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/flightsrv/web/ogc/cql2"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

func TestPaths(t *testing.T) {
	for in, want := range map[string]path{
		"/ogc":                                      {resource: landing},
		"/ogc/":                                     {resource: landing},
		"/ogc/api":                                  {resource: api},
		"/ogc/collections/":                         {resource: collections},
		"/ogc/collections/a%2Fb.csv":                {resource: collection, collection: "a/b.csv"},
		"/ogc/collections/a/b.csv":                  {resource: collection, collection: "a/b.csv"},
		"/ogc/collections/a/b.csv/items":            {resource: items, collection: "a/b.csv"},
		"/ogc/collections/a%2Fitems/items":          {resource: items, collection: "a/items"},
		"/ogc/collections/a%2Fitems%2F3":            {resource: collection, collection: "a/items/3"},
		"/ogc/collections/a/items/3":                {resource: item, collection: "a", feature: 3},
		"/ogc/collections/items":                    {resource: collection, collection: "items"},
		"/ogc/collections/items/items":              {resource: items, collection: "items"},
		"/ogc/collections/a.kml%23layer/queryables": {resource: queryables, collection: "a.kml#layer"},
		"/ogc/collections/a+b%2Bc%25.csv":           {resource: collection, collection: "a+b+c%.csv"},
		"/ogc/collections/a/items/9223372036854775807": {
			resource: item, collection: "a", feature: math.MaxInt64,
		},
	} {
		if got, err := parsePath(in); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", in, got, err, want)
		}
	}
	for _, in := range []string{"/ogc/x", "/ogc/collections/a/items/x", "/ogc/collections/a/items/-1", "/ogc/api/x"} {
		if got, err := parsePath(in); err == nil {
			t.Errorf("%s: got %+v, want an error", in, got)
		}
	}
}

// TestLinksLeadBack checks that links to any name are parsed as this name.
func TestLinksLeadBack(t *testing.T) {
	q := &request{base: "http://x/ogc"}
	for _, id := range []string{
		"a", "a/b", "a/items", "a/items/3", "a#b", "a?b", "a%2Fb", "a b", "ä", "..", "a;b", "a+b", "x/queryables",
	} {
		u := strings.TrimPrefix(q.collectionURL(id), "http://x")
		for suffix, want := range map[string]resource{"": collection, "/items": items, "/items/5": item} {
			got, err := parsePath(u + suffix)
			if err != nil || got.collection != id || got.resource != want {
				t.Errorf("%s: got %+v, %v", u+suffix, got, err)
			}
		}
	}
}

func TestAccept(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "text/html": true, "application/json": false,
		"text/html;q=0.5, application/json": false,
		"text/html, application/json":       true, "application/json, text/html": false, "text/html,*/*;q=0.8": true,
		"image/png": false, "text/html;q=x": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/ogc", nil)
		r.Header.Set("Accept", accept)
		if got, err := (&request{Request: r}).prefersHTML(); err != nil || got != want {
			t.Errorf("%q: got %t, %v, want %t", accept, got, err, want)
		}
	}
}

// TestMeetsBoxes compares with a test of many points, for boxes and geometries on a small grid, where
// edges and corners often touch.
func TestMeetsBoxes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	at := func() float64 { return float64(random.IntN(9)) }
	for range 20_000 {
		b := cql2.Rect{at(), at(), 0, 0}
		b[2], b[3] = b[0]+float64(random.IntN(4)), b[1]+float64(random.IntN(4))
		segment := geoarrow.Tree{Kind: geoarrow.LineString, Runs: [][]float64{{at(), at(), at(), at()}}}
		if got, want := meets(&segment, b), clips(segment.Runs[0], b); got != want {
			t.Fatalf("%v and %v: got %t, want %t", segment.Runs, b, got, want)
		}
		x0, y0, x1, y1 := at(), at(), at(), at()
		x0, x1, y0, y1 = min(x0, x1), max(x0, x1)+1, min(y0, y1), max(y0, y1)+1
		square := geoarrow.Tree{Kind: geoarrow.Polygon, Runs: [][]float64{{x0, y0, x1, y0, x1, y1, x0, y1, x0, y0}}}
		want := x0 <= b[2] && b[0] <= x1 && y0 <= b[3] && b[1] <= y1
		if got := meets(&square, b); got != want {
			t.Fatalf("%v and %v: got %t, want %t", square.Runs, b, got, want)
		}
		hole := []float64{x0 - 5, y0 - 5, x0 - 5, y1 + 5, x1 + 5, y1 + 5, x1 + 5, y0 - 5, x0 - 5, y0 - 5}
		ring := geoarrow.Tree{Kind: geoarrow.Polygon, Runs: [][]float64{hole, square.Runs[0]}}
		inHole := b[0] > x0 && b[2] < x1 && b[1] > y0 && b[3] < y1
		outside := b[2] < x0-5 || b[0] > x1+5 || b[3] < y0-5 || b[1] > y1+5
		if got, want := meets(&ring, b), !inHole && !outside; got != want {
			t.Fatalf("%v and %v: got %t, want %t", ring.Runs, b, got, want)
		}
	}
}

// clips reports whether a segment with small integers meets a box, by clipping (Liang and Barsky
// 1984), whose divisions are of such integers.
func clips(s []float64, b cql2.Rect) bool {
	from, to := 0.0, 1.0
	for k := range 2 {
		d := s[k+2] - s[k]
		if d == 0 {
			if s[k] < b[k] || s[k] > b[k+2] {
				return false
			}
			continue
		}
		near, far := (b[k]-s[k])/d, (b[k+2]-s[k])/d
		from, to = max(from, min(near, far)), min(to, max(near, far))
	}
	return from <= to
}

func TestSideIsExact(t *testing.T) {
	// The point is one ulp above the line, which doubles can't tell.
	x, y := 12.000000000000002, 12.000000000000004
	if got := side(0.5, 0.5, 24, 24, x, y); got != 1 {
		t.Errorf("got %d, want 1", got)
	}
	if got := side(0.5, 0.5, 24, 24, y, x); got != -1 {
		t.Errorf("got %d, want -1", got)
	}
	if got := side(0.1, 0.1, 0.7, 0.7, 0.3, 0.3); got != 0 {
		t.Errorf("got %d, want 0", got)
	}
}

func TestWKBAxesAreSwapped(t *testing.T) {
	for _, text := range []string{
		"POINT (1 2)", "LINESTRING (1 2,3 4)", "POLYGON ((0 1,2 3,4 5,0 1))", "MULTIPOINT ((1 2),(3 4))",
		"MULTIPOLYGON (((0 1,2 3,4 5,0 1)))", "GEOMETRYCOLLECTION (POINT (1 2),LINESTRING (3 4,5 6))",
	} {
		n, err := cql2.ParseText("S_INTERSECTS(geometry," + text + ")")
		if err != nil {
			t.Fatal(err)
		}
		tree := n.Args[1].Shape.Tree
		wkb := appendWKB(nil, &tree)
		rest, err := swapWKB(wkb)
		if err != nil || len(rest) > 0 {
			t.Fatalf("%s: %v, %d bytes left", text, err, len(rest))
		}
		other := swappedTree(tree)
		if !bytes.Equal(wkb, appendWKB(nil, &other)) {
			t.Errorf("%s: got %x", text, wkb)
		}
		for cut := range len(wkb) {
			if _, err := swapWKB(bytes.Clone(wkb[:cut])); err == nil {
				t.Errorf("%s: no error for %d bytes", text, cut)
			}
		}
	}
	measured := append([]byte{1, 0xb9, 0x0b, 0, 0}, make([]byte, 32)...) // POINT ZM
	measured[5] = 7
	if rest, err := swapWKB(measured); err != nil || len(rest) != 0 || measured[13] != 7 {
		t.Errorf("got %x, %v", measured, err)
	}
}

func FuzzPath(f *testing.F) {
	f.Add("/ogc/collections/a%2Fb/items/3", "bbox=1,2,3,4&f=html")
	f.Fuzz(func(_ *testing.T, in, query string) {
		_, _ = parsePath(in)
		_, _ = parseParameters(query)
	})
}

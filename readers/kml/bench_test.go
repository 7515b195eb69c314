package kml_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/kml"
	"github.com/vibeflight/vibeflight/readers/source"
)

// places returns a text like places.kml of the comparison with other readers (tools/peers/gen.py):
// points, lines and polygons with extended data.
func places(features int) string {
	r := rand.New(rand.NewPCG(8, 4))
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<kml " +
		"xmlns=\"http://www.opengis.net/kml/2.2\"><Document><name>places</name><Folder><name>places</name>\n")
	for i := range features {
		x, y := -87+7*r.Float64(), 25+6*r.Float64()
		tuples := func(n int) string {
			var t []string
			for range n {
				t = append(t, fmt.Sprintf("%.6f,%.6f,0", x+r.Float64()/1e3, y+r.Float64()/1e3))
			}
			return strings.Join(t, " ")
		}
		geometry := point(tuples(1))
		switch r.IntN(3) {
		case 0:
			geometry = line(tuples(2 + r.IntN(6)))
		case 1:
			geometry = "<Polygon><outerBoundaryIs>" + ring(tuples(5+r.IntN(6))) + "</outerBoundaryIs></Polygon>"
		}
		fmt.Fprintf(&b, `<Placemark id="p%d"><name>Palm Bay Blvd &amp; Co</name><description><![CDATA[<b>no. %d</b>]]></description><ExtendedData><Data name="code"><value>%d</value></Data>`+
			"<Data name=\"kind\"><value>Palm</value></Data></ExtendedData>%s</Placemark>\n", i, i,
			r.IntN(1e6), geometry)
	}
	b.WriteString("</Folder></Document></kml>\n")
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	path := filepath.Join(b.TempDir(), "places.kml")
	if err := os.WriteFile(path, []byte(places(50_000)), 0o666); err != nil {
		b.Fatal(err)
	}
	src, err := source.Open("places.kml", path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.SetBytes(src.Size)
			for b.Loop() {
				if _, err := readers.Read(context.Background(), kml.Format(), kml.Format().CPU(readers.Layout{}),
					src, readers.Limits{Workers: workers}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

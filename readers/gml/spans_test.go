package gml_test

import (
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/gml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestSystemOfSpans reads rows without a geometry that come before the first geometry, which names
// the system: spans have it whatever the number of workers and wherever their parts end.
func TestSystemOfSpans(t *testing.T) {
	row := func(point string) string {
		return "<gml:featureMember><a><n>1</n>" + point + "</a></gml:featureMember>"
	}
	plain := row("")
	utm := row(`<p><gml:Point srsName="EPSG:25832"><gml:pos>1 2</gml:pos></gml:Point></p>`)
	unnamed := row("<p><gml:Point><gml:pos>1 2</gml:pos></gml:Point></p>")
	system := geoarrow.CRS{Authority: "EPSG", Code: "25832"}
	for _, c := range []struct {
		name, rows string
		want       *geoarrow.CRS
	}{
		{"first geometry after some rows", strings.Repeat(plain, 12) + utm + plain, &system},
		{"first geometry in the last row", strings.Repeat(plain, 20) + utm, &system},
		{"first geometry in the first row", utm + strings.Repeat(plain, 12), &system},
		{"geometry without a system", strings.Repeat(plain, 12) + unnamed, &geoarrow.CRS{}},
		{"no geometry", strings.Repeat(plain, 12), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			const root = `<gml:FeatureCollection xmlns:gml="http://www.opengis.net/gml">`
			in := readertest.Input{Text: []byte(root + c.rows + "</gml:FeatureCollection>")}
			for _, in.Limits.BatchRows = range []int{1, 3, 5, 1000} {
				in.Parser = nil
				in.Limits.Workers = 1
				one, err := readertest.Parse(t, gml.Format(), in)
				if err != nil {
					t.Fatal(err)
				}
				for i, s := range one.Spans {
					if (s.CRS != nil) != (c.want != nil) || s.CRS != nil && *s.CRS != *c.want {
						t.Errorf("batches of %d rows, span %d: got %v, want %v",
							in.Limits.BatchRows, i, s.CRS, c.want)
					}
				}
				for _, size := range []int{1, 60, 100, 150, 400, 900} {
					in.Parser = func(l readers.Layout) readers.Parser {
						return gml.Parallel(l, size)
					}
					several, err := readertest.Parse(t, gml.Format(), in)
					if err != nil {
						t.Fatal(err)
					}
					if got, want := readertest.Places(several), readertest.Places(one); got != want {
						t.Errorf("batches of %d rows, parts of %d bytes:\ngot  %s\nwant %s",
							in.Limits.BatchRows, size, got, want)
					}
				}
			}
		})
	}
}

package csv_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// cellFile returns records with a geometry, a number and a text.
func cellFile(r *rand.Rand, records int, srid string, geometries ...string) []byte {
	var b strings.Builder
	b.WriteString("id,wkt,name\n")
	for i := range records {
		g := geometries[r.IntN(len(geometries))]
		if g = strings.ReplaceAll(g, "#", fmt.Sprintf("%.*f", r.IntN(9), r.Float64()*90)); g != "" && g[0] != '"' {
			g = `"` + srid + g + `"`
		}
		fmt.Fprintf(&b, "%d,%s,name %d\n", i, g, i%7)
	}
	return []byte(b.String())
}

// TestDeviceReadsGeometries holds geometries in cells that a device reads against those of the CPU
// engine, and has it refuse nothing.
func TestDeviceReadsGeometries(t *testing.T) {
	polygon, line := "POLYGON((# #,# 1,2 #,# #))", "LINESTRING(# #,# #,# #)"
	for _, c := range []struct {
		name, srid string
		geometries []string
	}{
		{"points", "", []string{"POINT(# #)", "point (# #)", "POINT EMPTY"}},
		{"points, some null", "", []string{"POINT(# #)", "", "NULL", " n/a ", `""`}},
		{"polygons", "", []string{polygon, "POLYGON((# #,# 1,2 #,# #),(1 1,2 2,3 1,1 1))", ""}},
		{
			"polygons and several", "SRID=4326;",
			[]string{polygon, "MULTIPOLYGON(((# #,# 1,2 #,# #)),((1 1,2 2,3 1,1 1)))", "POLYGON EMPTY"},
		},
		{"lines", "SRID=3857;", []string{line, "LINESTRING EMPTY"}},
		{"with z", "", []string{"POINT Z (# # #)", "POINTZ(# # 1)"}},
		{"several kinds", "", []string{polygon, line, "POINT(# #)", "MULTIPOINT(# #,# #)", ""}},
		{"blanks and line ends around", "", []string{"\"\r\n POINT(# #)\n\n\"", "\" POINT( #\n# ) \""}},
		{"no geometry", "", []string{"", "NULL"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 3))
			text := cellFile(r, 300, c.srid, c.geometries...)
			d := readertest.NewDevice(t, csv.Format(), 1<<10)
			for _, keep := range []bool{false, true} {
				d.Accepts(t, 1, readertest.Input{
					Name: "a.csv", Text: text, Limits: readers.Limits{BatchRows: 100},
					Options: map[string]any{"geometry": "wkt", "geometry_format": "wkt", "keep_geometry_columns": keep},
				})
			}
		})
	}
}

// TestDeviceUnusualGeometries has a cell of a text of lines that is not what the line says: each of
// these would be taken for something else if it were not looked at.
func TestDeviceOddGeometries(t *testing.T) {
	r, d := rand.New(rand.NewPCG(7, 4)), readertest.NewDevice(t, csv.Format(), 1<<10)
	for i, odd := range []string{
		"POINT(1 2);", ";POINT(1 2)", "POINT(1 2);POINT(3 4)", ";", ";;", "POINT(1 2)\nPOINT(3 4)", "\n",
		"NULL\nPOINT(1 2)", "POINT(1 2)\nNULL", "SRID=5;NULL", "SRID=4326;POINT(1 2);",
		"SRID=4326;SRID=4326;POINT(1 2)", "SRID=5;POINT(1 2)", "SRID=0;POINT(1 2)", "SRID=4326 POINT(1 2)",
		"s;", "POINT(1 \"\"2)", "\"\"POINT(1 2)", "POINT\n(1 2)", "\n\nPOINT(1 2)", "POINT(1 2) x",
		"GEOMETRYCOLLECTION(POINT(1 2))", "CIRCLE(1 2)", "POINT(1)", "POINT(nan nan)", "POINT(1e999 2)",
		"POINT(1 2", "POINT 1 2)", strings.Repeat(" ", 400) + "POINT(1 2)",
		strings.Repeat(" ", 1500), "é", "\x00", "NULLS", "EMPTY", "POINT EMPTY EMPTY", "-", "POINT(1 2)\r\n\t ",
	} {
		if testing.Short() && i%4 > 0 {
			continue
		}
		before := d.Counts().Chunks
		for k, other := range []string{"", ";", "NULL;POINT(1 2)"} { // what may make up for a row too many or too few
			text := cellFile(r, 120, "SRID=4326;", "POINT(# #)", "")
			cut := strings.LastIndex(string(text[:len(text)/2]), "\n") + 1
			text = fmt.Appendf(text[:cut:cut], "7,\"%s\",x\n8,\"%s\",x\n%s", odd, other, text[cut:])
			in := readertest.Input{
				Name: "a.csv", Text: text,
				Options: map[string]any{"on_error": []string{"fail", "skip"}[(i+k)%2]},
			}
			d.Same(t, in)
		}
		if d.Counts().Chunks == before {
			t.Errorf("%q: no chunk was accepted", odd)
		}
	}
}

package gml_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/gml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

var (
	nulls   = readCase{options: map[string]any{"on_error": "null"}}
	repairs = readCase{options: map[string]any{"on_error": "repair"}}
)

// TestCoordinatesSeparators has coordinates whose commas and blanks are not where the standard has
// them.
func TestCoordinatesSeparators(t *testing.T) {
	line := func(text string) string {
		return geom("<LineString><coordinates>" + text + "</coordinates></LineString>")
	}
	check(t, readCase{}, []textCase{
		{
			"stray comma", line("1,2¦, 3,4, 5,6"),
			"want a blank and no separator of ordinates, as a tuple has three at most, found",
		},
		{"stray comma after a blank", line("1,2 ¦,3,4"), "on_error: repair reads the rest"},
		{"comma at the end", line("1,2 3,4,¦"), "on_error: repair reads the rest"},
		{"blanks", line("1 ¦2,3 4"), "on_error: repair reads the rest"},
		{"no reading", line("1 ¦2,3 4 5 6"), "on_error: null reads the rest"},
		{"three and blanks", line("1, 2, 3 4 ,5 ,6"), "geometry: geoarrow.linestring xyz: LINESTRING Z (1 2 3, 4 5 6)"},
		{"pairs and blanks", line("1, 2 3 ,4"), "geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)"},
	})
	check(t, repairs, []textCase{
		{
			"stray comma", line("1,2, 3,4, 5,6"),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4, 5 6)\ndeviations: coordinates-separators 1",
		},
		{
			"stray comma after a blank", line("1,2 ,3,4"),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)\ndeviations: coordinates-separators 1",
		},
		{
			"comma at the end", line("1,2 3,4,"),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)\ndeviations: coordinates-separators 1",
		},
		{"three", line("1,2,3, 4,5,6"), "geometry: geoarrow.linestring xyz: LINESTRING Z (1 2 3, 4 5 " +
			"6)\ndeviations: coordinates-separators 1"},
		{"blanks", line("1 2,3 4"), "geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)\ndeviations: " +
			"coordinates-separators 1"},
		{
			"blanks and a comma", line(" 1 2, 3 4 , "),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)\ndeviations: coordinates-separators 1",
		},
		{
			"a point", geom("<Point><coordinates>1 2</coordinates></Point>"),
			"geometry: geoarrow.point xy: POINT (1 2)\ndeviations: coordinates-separators 1",
		},
		{"no reading", line("1 2,3 4 5 6"), "deviations: malformed-geometry 1"},
		{"all commas", line("1, 2, 3, 4"), "deviations: malformed-geometry 1"},
	})
}

// TestNulls has bad values become null, with the row and its other values kept.
func TestNulls(t *testing.T) {
	const good = "<n>2</n><g><Point><pos>1 2</pos></Point></g>"
	const typed = `<schema xmlns="http://www.w3.org/2001/XMLSchema"><element name="f"><complexType><sequence>` +
		`<element name="n" type="int"/></sequence></complexType></element></schema>`
	for _, how := range []readCase{nulls, repairs} {
		check(t, how, []textCase{
			{
				"number", values("<n>1</n><g><Point><pos>1 x</pos></Point></g>", good),
				"n: int32: 1 | 2\ngeometry: geoarrow.point xy: null | POINT (1 2)\ndeviations: malformed-geometry 1",
			},
			{
				"arc", values("<n>1</n><g><Curve><segments><Arc/></segments></Curve></g><m>3</m>", good),
				"n: int32: 1 | 2\nm: int32: 3 | null\ngeometry: geoarrow.point xy: null | POINT (1 2)\ndeviations: " +
					"geometry-not-read 1",
			},
			{
				"member", values("<g><MultiPoint><pointMember><Point><pos>5 "+
					"6</pos></Point></pointMember><pointMember><Point><pos>5</pos></Point></pointMember>"+
					"</MultiPoint></g>", good),
				"n: int32: null | 2\ngeometry: geoarrow.point xy: null | POINT (1 2)\ndeviations: malformed-geometry 1",
			},
			{
				"second system", geom(point("EPSG:25832", "1 2"), point("EPSG:25833", "3 4"),
					point("EPSG:25832", "5 6")),
				"geometry: geoarrow.point xy: POINT (1 2) | null | POINT (5 6)\ncrs: EPSG:25832\ndeviations: " +
					"other-crs 1",
			},
			{
				"bounds", values(`<boundedBy><Envelope srsDimension="x"/></boundedBy><n>1</n>`),
				"n: int32: 1\ndeviations: malformed-geometry 1",
			},
			{"XML", values("<n>1</n><g><Point><pos>1 2</pos>¦</Pint></Point></g>"), "want"},
		})
		how.xsd = typed
		check(t, how, []textCase{{
			"type", values("<n>1</n>", "<n>one</n>"),
			"n: int32: 1 | null\ndeviations: value-of-type 1",
		}})
	}
}

// TestDeviations looks at what is told of bad values, by one worker and by several.
func TestDeviations(t *testing.T) {
	var features []string
	for i := range 40 {
		features = append(features, fmt.Sprintf(
			"<n>%d</n><g><LineString><coordinates>1,2, 3,4</coordinates></LineString></g>", i,
		))
		features = append(features, fmt.Sprintf(
			"<n>%d</n><g><LineString><coordinates>1,2 3,x</coordinates></LineString></g>", i,
		))
	}
	text := values(features...)
	in := readertest.Input{Name: "a.gml", Text: []byte(text), Options: repairs.options}
	table, err := readertest.Check(t, gml.Format(), in)
	if err != nil {
		t.Fatal(err)
	}
	d := table.Summary.Deviations
	want := readers.Deviation{
		Offset: int64(strings.Index(text, ", 3")), Field: "geometry",
		Rule: "coordinates-separators", Done: "read as 2 tuples",
	}
	if d.Count != 80 || d.Rules["coordinates-separators"] != 40 || d.Rules["malformed-geometry"] != 40 ||
		d.First[0] != want || d.First[79].Row != 79 {
		t.Errorf("got %+v", d)
	}
	readertest.Same(t, gml.Format(), in, []int{1, 50, 300}, windows, parallel)
}

// TestSystemOfLayer has rows of several systems before one that establishes that of the layer,
// where a column turns out to be text: the chunk is read twice, unless that column is not
// requested.
func TestSystemOfLayer(t *testing.T) {
	several := "<MultiPoint><pointMember>" + point("EPSG:25832", "1 2") + "</pointMember><pointMember>" +
		point("¦EPSG:25833", "1 2") + "</pointMember></MultiPoint>"
	for _, front := range []int{0, 3} { // rows without a geometry
		var rows []string
		for i := range front {
			rows = append(rows, fmt.Sprintf("<n>%d</n>", i))
		}
		if front > 0 {
			rows = append(rows, "<n>1</n><g>"+point("EPSG:25834", "1 2")+"</g>")
		}
		rows = append(rows, "<n>1</n><g>"+several+"</g>", "<n>x</n><g>"+point("EPSG:25834", "1 2")+"</g>", "<n>1</n>")
		text, at := readertest.Mark(values(rows...))
		if front > 0 {
			at = int64(strings.Index(text, "EPSG:25832"))
		}
		in := readertest.Input{Name: "a.gml", Text: []byte(text), Options: nulls.options}
		table, err := readertest.Check(t, gml.Format(), in)
		if err != nil {
			t.Fatal(err)
		}
		d := table.Summary.Deviations
		if d.Count != 1 || d.First[0].Offset != at || d.First[0].Rule != "other-crs" || table.CRS.Code != "25834" {
			t.Errorf("%s\ngot %v, %+v\nwant byte %d", text, table.CRS, d, at)
		}
		for range 20 { // parts are guessed before or after the system is known
			readertest.Same(t, gml.Format(), in, []int{1, 50, 100, 150, 200}, windows, parallel)
		}
		geometryOnly := func([]string) []string { return []string{"geometry"} }
		readertest.Projected(t, gml.Format(), in, geometryOnly, windows, parallel)
	}
}

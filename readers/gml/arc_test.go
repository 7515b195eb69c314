package gml_test

import (
	"context"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/gml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

var linear = readCase{options: map[string]any{"linearize": true}}

// segments returns a collection with a Curve of such segments.
func segments(s ...string) string {
	return geom("<Curve><segments>" + strings.Join(s, "") + "</segments></Curve>")
}

// TestArcsAreNamed asks of errors that they name the option that reads the file.
func TestArcsAreNamed(t *testing.T) {
	check(t, readCase{}, []textCase{
		{
			"arc", segments("¦<Arc><posList>0 0 1 1 2 0</posList></Arc>"),
			"<Arc> is not read as a line: only straight segments are; the option linearize reads it as one",
		},
		{"circle", segments("¦<Circle/>"), "the option linearize"},
		{"spline", segments("¦<BSpline/>"), "<BSpline> is not read as a line: only straight segments are;"},
	})
	check(t, linear, []textCase{
		{"positions", segments("<Arc><posList>0 0 1 1</posList>¦</Arc>"), "<Arc> with 2 positions: want 3"},
		{"even", segments("<ArcString><posList>0 0 1 1 2 0 3 1</posList>¦</ArcString>"), "an ArcString of 4 positions"},
		{"spline", segments("¦<BSpline/>"), "<BSpline> is not read as a line"},
		{
			"no radius", segments("<CircleByCenterPoint><pos>1 2</pos>¦</CircleByCenterPoint>"),
			"without a radius above 0",
		},
		{
			"no angles", segments("<ArcByCenterPoint><pos>1 2</pos><radius>1</radius>¦</ArcByCenterPoint>"),
			"without startAngle and endAngle",
		},
		{"gap", segments("<Arc><posList>0 0 1 1 2 0</posList></Arc>",
			"¦<LineStringSegment><posList>3 0 4 0</posList></LineStringSegment>"), "does not begin where"},
		{
			"computed", segments(strings.Repeat(
				"<ArcByCenterPoint><pos>0 "+
					"0</pos><radius>1</radius><startAngle>0</startAngle><endAngle>720</endAngle></ArcByCenterPoint>",
				5826,
			) +
				"<ArcByCenterPoint><pos>0 " +
				"0</pos><radius>1</radius><startAngle>0</startAngle><endAngle>720</endAngle>¦</ArcByCenterPoint>"),
			"arcs of more than 1048576 computed positions",
		},
	}[:6])
}

// TestArcs looks at the positions of arcs: how many there are, that those of the file are exact,
// and where the others are.
func TestArcs(t *testing.T) {
	const half = "<Arc><posList>0 0 1 1 2 0</posList></Arc>"
	cases := []struct {
		name, input string
		positions   int
		given       []string // that the text of the geometry has, in this order
	}{
		{"arc", segments(half), 47, []string{"(0 0,", ",1 1,", ",2 0)"}},
		{
			"arc and line", segments(half, "<LineStringSegment><posList>2 0 3 0</posList></LineStringSegment>"),
			48,
			[]string{"(0 0,", ",1 1,", ",2 0,3 0)"},
		},
		{
			"string", segments("<ArcString><posList>0 0 1 1 2 0 3 -1 4 0</posList></ArcString>"), 93,
			[]string{"(0 0,", ",1 1,", ",2 0,", ",3 -1,", ",4 0)"},
		},
		{"in a line", segments("<Arc><posList>0 0 1 1 2 2</posList></Arc>"), 3, []string{"(0 0,1 1,2 2)"}},
		{
			"circle", segments("<Circle><posList>0 0 1 1 2 0</posList></Circle>"), 93,
			[]string{"(0 0,", ",1 1,", ",2 0,", ",0 0)"},
		},
		{
			"around", segments(`<CircleByCenterPoint><pos>5 6</pos><radius uom="m">2</radius></CircleByCenterPoint>`),
			91,
			[]string{"(3 6,"},
		},
		{"part", segments(`<ArcByCenterPoint><pos>5 6</pos><radius uom="m">2</radius><startAngle uom="deg">0</startAngle><endAngle uom="deg">90</endAngle></ArcByCenterPoint>`), 24, []string{"(7 6,"}},
		{
			"snapped", segments(`<LineStringSegment><posList>9 6 7 6</posList></LineStringSegment>`,
				`<ArcByCenterPoint><pos>5 6</pos><radius uom="m">2.0001</radius><startAngle uom="deg">0</startAngle><endAngle uom="deg">90</endAngle></ArcByCenterPoint>`,
				`<LineStringSegment><posList>5 8 5 9</posList></LineStringSegment>`), 26,
			[]string{"(9 6,7 6,", ",5 8,5 9)"},
		},
		{
			"geodesic", segments("<GeodesicString><posList>0 0 1 1 2 0</posList></GeodesicString>"), 3,
			[]string{"(0 0,1 1,2 0)"},
		},
		{
			"height", segments(`<Arc><posList srsDimension="3">0 0 0 1 1 9 2 0 18</posList></Arc>`), 47,
			[]string{"(0 0 0,", ",1 1 9,", ",2 0 18)"},
		},
		{
			"ring", geom("<Polygon><exterior><Ring><curveMember><Curve><segments>" + half +
				"<LineStringSegment><posList>2 0 0 " +
				"0</posList></LineStringSegment></segments></Curve></curveMember></Ring></exterior></Polygon>"),
			48,
			[]string{"((0 0,", ",1 1,", ",2 0,0 0))"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			table, err := readertest.Check(t, gml.Format(), readertest.Input{
				Name: "a.gml", Text: []byte(c.input),
				Options: linear.options,
			})
			if err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(columns(table), ", ", ",")
			if got := strings.Count(text, ",") + 1; got != c.positions {
				t.Errorf("%d positions, want %d\n%s", got, c.positions, text)
			}
			rest := text
			for _, given := range c.given {
				_, after, found := strings.Cut(rest, given)
				if !found {
					t.Fatalf("no %q in\n%s", given, rest)
				}
				rest = given[len(given)-1:] + after
			}
			readertest.Same(t, gml.Format(), readertest.Input{
				Name: "a.gml", Text: []byte(c.input),
				Options: linear.options,
			}, []int{1, 7, 50}, windows, parallel)
		})
	}
}

// TestCirclesOnTheSphere holds a circle of 60 nautical miles around a place on the equator against
// its extent, which is a degree to each side.
func TestCirclesOnTheSphere(t *testing.T) {
	input := geom(`<Curve srsName="urn:ogc:def:crs:EPSG::4326"><segments><CircleByCenterPoint><pos>0 10</pos><radius uom="[nmi_i]">60</radius></CircleByCenterPoint></segments></Curve>`)
	table, err := readertest.Check(t, gml.Format(), readertest.Input{
		Name: "a.gml", Text: []byte(input),
		Options: linear.options,
	})
	if err != nil {
		t.Fatal(err)
	}
	box, want := boxOf(table), [4]float64{9, -1, 11, 1}
	for i := range box {
		if d := box[i] - want[i]; d > 0.002 || d < -0.002 {
			t.Errorf("box %v, want %v", box, want)
		}
	}
}

func boxOf(table *readers.Table) [4]float64 {
	_ = table.Measure(context.Background())
	return *table.BBox
}

package gml_test

import (
	"strings"
	"testing"
)

// TestSystems is what names do to coordinates 1 2. The expectations are those of GDAL 3.12, but for
// the last four.
func TestSystems(t *testing.T) {
	var cases []textCase
	for _, c := range []struct{ name, want string }{
		{"EPSG:4326", "POINT (1 2)|EPSG:4326"},
		{"urn:ogc:def:crs:EPSG::4326", "POINT (2 1)|EPSG:4326"},
		{"urn:x-ogc:def:crs:EPSG:6.9:4326", "POINT (2 1)|EPSG:4326"},
		{"http://www.opengis.net/def/crs/EPSG/0/4326", "POINT (2 1)|EPSG:4326"},
		{"https://www.opengis.net/def/crs/EPSG/0/4326", "POINT (2 1)|EPSG:4326"},
		{"http://www.opengis.net/gml/srs/epsg.xml#4326", "POINT (1 2)|EPSG:4326"},
		{"urn:ogc:def:crs:OGC:1.3:CRS84", "POINT (1 2)|"},
		{"urn:ogc:def:crs:EPSG::4258", "POINT (2 1)|EPSG:4258"},
		{"urn:ogc:def:crs:EPSG::4979", "POINT (2 1)|EPSG:4979"},
		{"urn:ogc:def:crs:EPSG::31467", "POINT (2 1)|EPSG:31467"},
		{"urn:ogc:def:crs:EPSG::2180", "POINT (2 1)|EPSG:2180"},
		{"urn:ogc:def:crs:EPSG::3035", "POINT (2 1)|EPSG:3035"},
		{"urn:ogc:def:crs:EPSG::3844", "POINT (2 1)|EPSG:3844"},
		{"urn:ogc:def:crs:EPSG::2193", "POINT (2 1)|EPSG:2193"},
		{"urn:ogc:def:crs:EPSG::25832", "POINT (1 2)|EPSG:25832"},
		{"urn:ogc:def:crs:EPSG::3857", "POINT (1 2)|EPSG:3857"},
		{"urn:ogc:def:crs:EPSG::27700", "POINT (1 2)|EPSG:27700"},
		{"urn:ogc:def:crs:EPSG::2154", "POINT (1 2)|EPSG:2154"},
		{"urn:ogc:def:crs:EPSG::3031", "POINT (1 2)|EPSG:3031"},
		{"urn:ogc:def:crs:EPSG::2048", "POINT (1 2)|EPSG:2048"},
		{"urn:ogc:def:crs:EPSG::7035", "POINT (1 2)|EPSG:7035"},
		{"urn:ogc:def:crs,crs:EPSG::25832,crs:EPSG::7837", `POINT (1 2)|EPSG:25832+7837`},
		{"urn:ogc:def:crs,crs:EPSG::4326,crs:EPSG::5773", `POINT (2 1)|EPSG:9707`},
		{"urn:adv:crs:ETRS89_UTM32", "POINT (1 2)|EPSG:25832"},
		{"osgb:BNG", `POINT (1 2)|text "osgb:BNG"`},
	} {
		want := "geometry: geoarrow.point xy: " + c.want[:strings.IndexByte(c.want, '|')]
		if crs := c.want[strings.IndexByte(c.want, '|')+1:]; crs != "" {
			want += "\ncrs: " + crs
		}
		cases = append(cases, textCase{c.name, geom(point(c.name, "1 2")), want})
	}
	check(t, readCase{}, cases)
}

// urn is a system with latitude first.
const urn = "urn:ogc:def:crs:EPSG::4326"

// envelope returns a boundedBy in a system.
func envelope(srs string) string {
	return `<boundedBy><Envelope srsName="` + srs +
		`"><lowerCorner>1 2</lowerCorner><upperCorner>3 4</upperCorner></Envelope></boundedBy>`
}

func TestSystemLevels(t *testing.T) {
	bare := `<Point><pos>1 2</pos></Point>`
	root := func(s string) string {
		return strings.Replace(geom(s), "<FeatureCollection>", "<FeatureCollection>"+envelope(urn), 1)
	}
	want := "geometry: geoarrow.point xy: POINT (2 1)\ncrs: EPSG:4326"
	check(t, readCase{}, []textCase{
		{"geometry", geom(point(urn, "1 2")), want},
		{"collection", root(bare), want},
		{"GML 2 box", strings.Replace(root(bare), "Envelope", "Box", 2), want},
		{"feature", values(envelope(urn) + "<g>" + bare + "</g>"), want},
		{
			"the geometry's own before the collection's", root(point("EPSG:4326", "1 2")),
			"geometry: geoarrow.point xy: POINT (1 2)\ncrs: EPSG:4326",
		},
		{
			"part", geom(`<MultiPoint><pointMember>` + point(urn, "1 2") + `</pointMember></MultiPoint>`),
			"geometry: geoarrow.multipoint xy: MULTIPOINT ((2 1))\ncrs: EPSG:4326",
		},
		{
			"ring", geom(`<Polygon srsName="EPSG:4326"><exterior><LinearRing srsName="` + urn +
				`"><posList>1 2 3 4 5 6 1 2</posList></LinearRing></exterior></Polygon>`),
			"geometry: geoarrow.polygon xy: POLYGON ((2 1, 4 3, 6 5, 2 1))\ncrs: EPSG:4326",
		},
		{
			"dimension of the collection", strings.Replace(
				geom(`<LineString><posList>1 2 9 3 4 9</posList></LineString>`),
				"<FeatureCollection>",
				`<FeatureCollection><boundedBy><Envelope srsName="`+urn+`" srsDimension="3"/></boundedBy>`, 1),
			"geometry: geoarrow.linestring xyz: LINESTRING Z (2 1 9, 4 3 9)\ncrs: EPSG:4326",
		},
		{
			"two spellings", geom(point(urn, "1 2"), point("EPSG:4326", "1 2")),
			"geometry: geoarrow.point xy: POINT (2 1) | POINT (1 2)\ncrs: EPSG:4326",
		},
		{
			"two systems", geom(point(urn, "1 2"), point(urn, "1 2"),
				`<Point srsName="¦EPSG:3857"><pos>1 2</pos></Point>`),
			`feature 2, geometry: a second coordinate reference system in layer f: "EPSG:3857" next to "EPSG:4326"`,
		},
		{"a system and none", geom(point(urn, "1 2"), `<Point><pos>1 2</pos>¦</Point>`), `none next to "EPSG:4326"`},
		{
			"none and a system", geom(bare, `<Point srsName="¦EPSG:3857"><pos>1 2</pos></Point>`),
			`"EPSG:3857" next to none`,
		},
		{"T3: two systems in a geometry", geom(
			`<MultiPoint srsName="EPSG:4326"><pointMember><Point srsName="¦EPSG:3857"><pos>1 2</pos></Point></pointMember></MultiPoint>`,
		), "a second coordinate reference system"},
		{"another layer's", fc("<f><g>"+point(urn, "1 2")+"</g></f>", "<h><g>"+point("EPSG:3857", "1 2")+
			"</g></h>"), want},
	})
	check(t, skipping, []textCase{
		{"two systems are no fault of a feature", geom(point(urn, "1 2"),
			`<Point srsName="¦EPSG:3857"><pos>1 2</pos></Point>`), "a second coordinate reference system"},
	})
	check(t, skipping, []textCase{
		{
			"a feature that is left out has no system",
			geom(`<LineString srsName="EPSG:3857"><posList>1 2 3</posList></LineString>`, point(urn, "1 2")),
			"geometry: geoarrow.point xy: POINT (2 1)\ncrs: EPSG:4326\nskipped: 1 at [34]",
		},
	})
	check(t, readCase{options: map[string]any{"axis_order": "xy"}}, []textCase{
		{"as written", geom(point(urn, "1 2")), "geometry: geoarrow.point xy: POINT (1 2)\ncrs: EPSG:4326"},
	})
	check(t, readCase{options: map[string]any{"axis_order": "yx"}}, []textCase{
		{"swapped", geom(point("EPSG:4326", "1 2")), "geometry: geoarrow.point xy: POINT (2 1)\ncrs: EPSG:4326"},
		{"swapped without a name", geom(bare), "geometry: geoarrow.point xy: POINT (2 1)"},
	})
}

package gml_test

import "testing"

// listIn returns a line of a list of positions in a system.
func listIn(system, list string) string {
	return geom(`<LineString srsName="` + system + `"><posList>` + list + `</posList></LineString>`)
}

// ringIn returns a polygon of one list of positions in a system.
func ringIn(system, list string) string {
	return geom(`<Polygon srsName="` + system + `"><exterior><LinearRing><posList>` + list +
		`</posList></LinearRing></exterior></Polygon>`)
}

// TestDimensions has lists of positions whose number of ordinates only the reference system tells,
// or nobody.
func TestDimensions(t *testing.T) {
	const (
		six    = "1 2 3 4 5 6"
		solid  = "geometry: geoarrow.linestring xyz: LINESTRING Z (1 2 3, 4 5 6)\ncrs: "
		turned = "geometry: geoarrow.linestring xyz: LINESTRING Z (2 1 3, 5 4 6)\ncrs: "
		flat   = "geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4, 5 6)"
		local  = "urn:x-local:plan"
	)
	check(t, readCase{}, []textCase{
		{"compound", listIn("urn:ogc:def:crs:EPSG::7415", six), solid + "EPSG:7415"},
		{"short", listIn("EPSG:7415", six), solid + "EPSG:7415"},
		{"geographic", listIn("http://www.opengis.net/def/crs/EPSG/0/4979", six), turned + "EPSG:4979"},
		{"of two names", listIn("urn:ogc:def:crs,crs:EPSG::25832,crs:EPSG::5783", six), solid + "EPSG:5555"},
		{"German", listIn("urn:adv:crs:ETRS89_UTM32*DE_DHHN92_NH", six), solid + "EPSG:5555"},
		{
			"the bounds say it", "<FeatureCollection><boundedBy><Envelope srsName='EPSG:7415'/></boundedBy>" +
				geom("<LineString><posList>" + six + "</posList></LineString>")[19:],
			solid + "EPSG:7415",
		},
		{"srsDimension counts", geom(`<LineString srsName="EPSG:7415"><posList srsDimension="2">` + six +
			`</posList></LineString>`), flat + "\ncrs: EPSG:7415"},
		{"flat", listIn("EPSG:25832", six), flat + "\ncrs: EPSG:25832"},
		{"nobody names a system", geom("<LineString><posList>" + six + "</posList></LineString>"), flat},
		{
			"two numbers to a pos", geom(`<Point srsName="EPSG:7415"><pos>1 2</pos></Point>`),
			"geometry: geoarrow.point xy: POINT (1 2)\ncrs: EPSG:7415",
		},
		{"not of three", listIn("EPSG:7415", "1 2 3 4¦"), "4 ordinates, which are no positions of 3"},
		{"either", listIn(local, six+"¦"), "6 ordinates, which are positions of 2 or of 3"},
		{"two only", listIn(local, "1 2 3 4"), "geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)\ncrs: text \"" +
			local + "\""},
		{
			"three only", listIn(local, "1 2 3 4 5 6 7 8 9"),
			"geometry: geoarrow.linestring xyz: LINESTRING Z (1 2 3, 4 5 6, 7 8 9)\ncrs: text \"" + local + "\"",
		},
		{"neither", listIn(local, "1 2 3 4 5¦"), "5 ordinates, which are no positions of 2 or 3"},
		{
			"a ring closes by two", ringIn(local, "0 0 1 0 1 1 2 2 3 3 0 0"),
			"geometry: geoarrow.polygon xy: POLYGON ((0 0, 1 0, 1 1, 2 2, 3 3, 0 0))\ncrs: text \"" + local + "\"",
		},
		{
			"a ring closes by three", ringIn(local, "0 0 9 1 0 8 1 1 7 0 0 9"),
			"geometry: geoarrow.polygon xyz: POLYGON Z ((0 0 9, 1 0 8, 1 1 7, 0 0 9))\ncrs: text \"" + local + "\"",
		},
		{"a ring does not close", ringIn(local, six+"¦"), "6 ordinates, which are positions of 2 or of 3"},
	})
	check(t, nulls, []textCase{{"either", listIn(local, six), "deviations: malformed-geometry 1"}})
	check(t, repairs, []textCase{{"either", listIn(local, six), flat + "\ncrs: text \"" + local +
		"\"\ndeviations: unknown-dimension 1"}})
}

// TestNamesOfSystems has names that oblige to north first in every form, and those that are not
// understood.
func TestNamesOfSystems(t *testing.T) {
	const swapped, plain = "geometry: geoarrow.point xy: POINT (2 1)\ncrs: EPSG:4326",
		"geometry: geoarrow.point xy: POINT (1 2)\ncrs: "
	var cases []textCase
	for _, name := range []string{
		"urn:x-ogc:def:crs:EPSG:4326", "urn:ogc:def:crs:EPSG:4326", "urn:opengis:def:crs:EPSG::4326",
		"urn:EPSG:geographicCRS:4326",
		"http://opengis.net/def/crs/EPSG/0/4326", "URN:OGC:DEF:CRS:EPSG:6.9:4326",
	} {
		cases = append(cases, textCase{name, geom(point(name, "1 2")), swapped})
	}
	for _, name := range []string{
		"urn:ogc:def:crs:EPSG::99999", "http://www.opengis.net/def/crs/XYZ/0/1",
		"urn:ogc:def:crs:EPSG::x",
	} {
		cases = append(cases, textCase{
			name, geom(point(name, "1 2"), point(name, "1 2")),
			"geometry: geoarrow.point xy: POINT (1 2) | POINT (1 2)\ncrs: text \"" + name +
				"\"\ndeviations: unknown-crs-name 2",
		})
	}
	check(t, readCase{}, append(cases, textCase{"no form of OGC", geom(point("osgb:BNG", "1 2")), plain +
		`text "osgb:BNG"`}))
	check(t, readCase{options: map[string]any{"axis_order": "xy"}},
		[]textCase{{"the option says it", geom(point("urn:ogc:def:crs:EPSG::99999", "1 2")), plain +
			`text "urn:ogc:def:crs:EPSG::99999"`}})
	fme := func(name string) string {
		return `<FeatureCollection xmlns:fme="http://www.safe.com/gml/fme">` +
			geom(point(name, "1 2"))[len("<FeatureCollection>"):]
	}
	check(t, readCase{}, []textCase{
		{"FME", fme("EPSG:4326"), swapped},
		{"FME, easting first", fme("EPSG:25832"), plain + "EPSG:25832"},
		{"FME, GML 2", fme("http://www.opengis.net/gml/srs/epsg.xml#4326"), plain + "EPSG:4326"},
	})
}

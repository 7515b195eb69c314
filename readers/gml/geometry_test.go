package gml_test

import "testing"

const (
	square = `<exterior><LinearRing><posList>0 0 9 0 9 9 0 0</posList></LinearRing></exterior>`
	hole   = `<interior><LinearRing><posList>1 1 2 1 2 2 1 1</posList></LinearRing></interior>`
	lines  = `<LineString><posList>1 2 3 4</posList></LineString>`
)

func TestGeometry(t *testing.T) {
	check(t, readCase{}, []textCase{
		{"point", geom(`<Point><pos>1 2</pos></Point>`, `<Point><pos> 3
 4 </pos></Point>`), "geometry: geoarrow.point xy: POINT (1 2) | POINT (3 4)"},
		{
			"pos of three", geom(`<Point><pos>1 2 3</pos></Point>`, `<Point><pos>1 2</pos></Point>`),
			"geometry: geoarrow.point xyz: POINT Z (1 2 3) | POINT (1 2)",
		},
		{
			"pos of four", geom(`<Point><pos>1 2 3 4</pos></Point>`),
			"geometry: geoarrow.point xyz: POINT Z (1 2 3)\nignored ordinates: 1",
		},
		{
			"line", geom(lines, `<LineString><pos>1 2</pos><pos>3 4</pos></LineString>`),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4) | LINESTRING (1 2, 3 4)",
		},
		{
			"line of points", geom(`<LineString><pointProperty><Point><pos>1 2</pos></Point></pointProperty><pos>3 4</pos></LineString>`),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)",
		},
		{
			"srsDimension", geom(`<LineString srsDimension="3"><posList>1 2 3 4 5 6</posList></LineString>`,
				`<LineString><posList srsDimension="3">1 2 3 4 5 6</posList></LineString>`,
				`<LineString><posList dimension=" 3 ">1 2 3 4 5 6</posList></LineString>`,
				`<MultiCurve srsDimension="3"><curveMember><LineString><posList>1 2 3 4 5 6</posList></LineString></curveMember></MultiCurve>`),
			"geometry: geoarrow.multilinestring xyz: LINESTRING Z (1 2 3, 4 5 6) | LINESTRING Z (1 2 3, 4 5 6) | " +
				"LINESTRING Z (1 2 3, 4 5 6) | MULTILINESTRING Z ((1 2 3, 4 5 6))",
		},
		{
			"srsDimension 4", geom(`<LineString srsDimension="4"><posList>1 2 3 9 4 5 6 9</posList></LineString>`),
			"geometry: geoarrow.linestring xyz: LINESTRING Z (1 2 3, 4 5 6)\nignored ordinates: 2",
		},
		{
			"numbers of XML Schema", geom(`<LineString><posList>+1 .5 5. 01.50 -.5e1 1E2 -0 -0.0</posList></LineString>`),
			"geometry: geoarrow.linestring xy: LINESTRING (1 0.5, 5 1.5, -5 100, -0 -0)",
		},
		{
			"hard numbers", geom(`<Point><pos>108.96767681626763 90.81246689931749</pos></Point>`,
				`<Point><pos>2.2250738585072014e-308 1.7976931348623157e308</pos></Point>`),
			"geometry: geoarrow.point xy: POINT (108.96767681626763 90.81246689931749) | POINT " +
				"(2.2250738585072014e-308 1.7976931348623157e+308)",
		},
		{
			"comments between numbers", geom(
				`<LineString><posList>1 2 <!-- a --> 3<![CDATA[ 4]]></posList></LineString>`,
			),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)",
		},
		{
			"polygon", geom(`<Polygon>` + square + hole + `</Polygon>`),
			"geometry: geoarrow.polygon xy: POLYGON ((0 0, 9 0, 9 9, 0 0), (1 1, 2 1, 2 2, 1 1))",
		},
		{
			"K6: inner boundary first", geom(`<Polygon>` + hole + square + hole + `</Polygon>`),
			"geometry: geoarrow.polygon xy: POLYGON ((0 0, 9 0, 9 9, 0 0), (1 1, 2 1, 2 2, 1 1), (1 1, 2 1, 2 2, 1 1))",
		},
		{
			"open and short rings", geom(`<Polygon><exterior><LinearRing><posList>0 0 9 0</posList></LinearRing></exterior></Polygon>`, `<LineString><pos>1 2</pos></LineString>`),
			"geometry: geoarrow.wkb xy: POLYGON ((0 0, 9 0)) | LINESTRING (1 2)\nunclosed rings: 1\nshort rings: " +
				"1\nshort lines: 1",
		},
		{
			"GML 2", geom(`<Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 9,0 9,9 0,0</coordinates></LinearRing></outerBoundaryIs>` +
				`<innerBoundaryIs><LinearRing><coordinates>1,1 2,1 2,2 1,1</coordinates></LinearRing></innerBoundaryIs></Polygon>`),
			"geometry: geoarrow.polygon xy: POLYGON ((0 0, 9 0, 9 9, 0 0), (1 1, 2 1, 2 2, 1 1))",
		},
		{
			"multi", geom(`<MultiPoint><pointMember><Point><pos>1 2</pos></Point></pointMember><pointMembers><Point><pos>3 4</pos></Point><Point/></pointMembers></MultiPoint>`),
			"geometry: geoarrow.multipoint xy: MULTIPOINT ((1 2), (3 4), EMPTY)",
		},
		{
			"multi line", geom(`<MultiLineString><lineStringMember>`+lines+`</lineStringMember></MultiLineString>`,
				`<MultiCurve><curveMembers>`+lines+lines+`</curveMembers></MultiCurve>`),
			"geometry: geoarrow.multilinestring xy: MULTILINESTRING ((1 2, 3 4)) | MULTILINESTRING ((1 2, 3 4), (1 " +
				"2, 3 4))",
		},
		{
			"multi polygon", geom(`<MultiPolygon><polygonMember><Polygon>`+square+
				`</Polygon></polygonMember></MultiPolygon>`,
				`<MultiSurface><surfaceMembers><Polygon>`+square+hole+`</Polygon><Surface><patches><PolygonPatch>`+
					square+`</PolygonPatch><Triangle>`+square+
					`</Triangle></patches></Surface></surfaceMembers></MultiSurface>`),
			"geometry: geoarrow.multipolygon xy: MULTIPOLYGON (((0 0, 9 0, 9 9, 0 0))) | MULTIPOLYGON (((0 0, 9 0, " +
				"9 9, 0 0), (1 1, 2 1, 2 2, 1 1)), ((0 0, 9 0, 9 9, 0 0)), ((0 0, 9 0, 9 9, 0 0)))",
		},
		{
			"surface", geom(`<Surface><patches><PolygonPatch>` + square + `</PolygonPatch></patches></Surface>`),
			"geometry: geoarrow.polygon xy: POLYGON ((0 0, 9 0, 9 9, 0 0))",
		},
		{
			"surface of two patches", geom(`<Surface><patches><PolygonPatch>` + square +
				`</PolygonPatch><PolygonPatch>` + square + `</PolygonPatch></patches></Surface>`),
			"geometry: geoarrow.multipolygon xy: MULTIPOLYGON (((0 0, 9 0, 9 9, 0 0)), ((0 0, 9 0, 9 9, 0 0)))",
		},
		{
			"composite surface", geom(`<CompositeSurface><surfaceMember><Polygon>` + square +
				`</Polygon></surfaceMember></CompositeSurface>`),
			"geometry: geoarrow.multipolygon xy: MULTIPOLYGON (((0 0, 9 0, 9 9, 0 0)))",
		},
		{
			"curve", geom(`<Curve><segments><LineStringSegment><posList>1 2 3 4</posList></LineStringSegment><LineStringSegment><posList>3 4 5 6</posList></LineStringSegment></segments></Curve>`),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4, 5 6)",
		},
		{
			"curve with z", geom(`<Curve srsDimension="3"><segments><LineStringSegment><posList>1 2 9 3 4 9</posList></LineStringSegment><LineStringSegment><posList>3 4 9 5 6 8</posList></LineStringSegment></segments></Curve>`),
			"geometry: geoarrow.linestring xyz: LINESTRING Z (1 2 9, 3 4 9, 5 6 8)",
		},
		{
			"composite curve", geom(`<CompositeCurve><curveMember>` + lines +
				`</curveMember><curveMember><OrientableCurve orientation="-"><baseCurve><LineString><posList>5 6 3 4</posList></LineString></baseCurve></OrientableCurve></curveMember></CompositeCurve>`),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4, 5 6)",
		},
		{
			"ring of curves", geom(`<Polygon><exterior><Ring><curveMember>` + lines +
				`</curveMember><curveMember><LineString><posList>3 4 3 2 1 2</posList></LineString></curveMember></Ring></exterior></Polygon>`),
			"geometry: geoarrow.polygon xy: POLYGON ((1 2, 3 4, 3 2, 1 2))",
		},
		{
			"collection", geom(`<MultiGeometry><geometryMember><Point><pos>1 2</pos></Point></geometryMember><geometryMembers>` + lines + `<MultiGeometry/></geometryMembers></MultiGeometry>`),
			"geometry: geoarrow.wkb xy: GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (1 2, 3 4), GEOMETRYCOLLECTION " +
				"EMPTY)",
		},
		{
			"empty", geom(`<Point/>`, `<Point><pos/></Point>`, `<LineString/>`, `<LineString><posList/></LineString>`,
				`<Polygon/>`, `<Surface/>`, `<MultiPoint/>`, `<MultiSurface/>`, `<MultiCurve/>`),
			"geometry: geoarrow.wkb xy: POINT EMPTY | POINT EMPTY | LINESTRING EMPTY | LINESTRING EMPTY | POLYGON " +
				"EMPTY | POLYGON EMPTY | MULTIPOINT EMPTY | MULTIPOLYGON EMPTY | MULTILINESTRING EMPTY",
		},
		{
			"several geometries", values(`<g><Point><pos>1 2</pos></Point></g><h>`+lines+`</h>`,
				`<h><Point><pos>3 4</pos></Point></h>`),
			"h: binary: AQIAAAACAAAAAAAAAAAA8D8AAAAAAAAAQAAAAAAAAAhAAAAAAAAAEEA= | null\ngeometry: geoarrow.point " +
				"xy: POINT (1 2) | POINT (3 4)",
		},
		{
			"deep inside", values(`<a><B><c>1</c><g><Point><pos>1 2</pos></Point></g></B></a>`),
			"c: int32: 1\ngeometry: geoarrow.point xy: POINT (1 2)",
		},
		{"without a property", values(`<Point><pos>1 2</pos></Point>`), "geometry: geoarrow.point xy: POINT (1 2)"},
		{
			"properties called so", values(`<Point>7</Point><Surface/><a><Curve>8</Curve></a>`),
			"Point: int32: 7\nSurface: string: null\nCurve: int32: 8",
		},
		{"what says nothing of shape", geom(
			`<Point gml:id="p"><gml:name>n</gml:name><gml:description>d</gml:description><pos>1 2</pos></Point>`,
		), "geometry: geoarrow.point xy: POINT (1 2)"},
		{
			"any prefix", geom(`<a:LineString><b:posList>1 2 3 4</b:posList></a:LineString>`),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)",
		},
		{
			"K1: geometry in a section", values(`<a><![CDATA[<Point><pos>9 9</pos></Point>]]></a>`),
			`a: string: "<Point><pos>9 9</pos></Point>"`,
		},
	})
}

func TestCoordinates(t *testing.T) {
	line := func(attributes, text string) string {
		return geom(`<LineString><coordinates` + attributes + `>` + text + `</coordinates></LineString>`)
	}
	check(t, readCase{}, []textCase{
		{"pairs", line("", "1,2 3,4"), "geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)"},
		{
			"K3: lines and tabs", line("", "\n\t1,2,0\n\t3,4,0\n"),
			"geometry: geoarrow.linestring xyz: LINESTRING Z (1 2 0, 3 4 0)",
		},
		{
			"K2: two and three", line("", "1,2 3,4,5"),
			"geometry: geoarrow.linestring xyz: LINESTRING Z (1 2 nan, 3 4 5)",
		},
		{"K7: blanks around commas", line("", "1, 2 3 ,4"), "geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)"},
		{
			"four", line("", "1,2,3,4 5,6,7,8"),
			"geometry: geoarrow.linestring xyz: LINESTRING Z (1 2 3, 5 6 7)\nignored ordinates: 2",
		},
		{
			"decimal comma", line(` decimal="," cs=" " ts=";"`, "1,5 2;3 4"),
			"geometry: geoarrow.linestring xy: LINESTRING (1.5 2, 3 4)",
		},
		{
			"commas between tuples", line(` cs=" " ts=","`, "1 2,3 4 , 5 6"),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4, 5 6)",
		},
		{
			"semicolons between tuples", line(` ts=";"`, "1,2;3,4; 5,6"),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4, 5 6)",
		},
		{"numbers of XML Schema", line("", "+1,.5 5.,01"), "geometry: geoarrow.linestring xy: LINESTRING (1 0.5, 5 1)"},
		{"references", line("", "1&#44;2 3,4"), "geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)"},
		{"coord", geom(`<LineString><coord><X>1</X><Y> 2 </Y></coord><coord><X>3</X><Y>4</Y><Z>5</Z></coord></LineString>`), "geometry: geoarrow.linestring xyz: LINESTRING Z (1 2 nan, 3 4 5)"},
		{"empty", line("", " "), "geometry: geoarrow.linestring xy: LINESTRING EMPTY"},
		{"one number", line("", "1,2 3¦"), "want a second ordinate of a tuple"},
		{"one number before another", line("", "1 ¦2"), "want a second ordinate of a tuple"},
		{"no number", line("", "1,¦x"), "want an ordinate, which is a number"},
		{
			"point where a comma is the point", line(` decimal="," cs=" " ts=";"`, "¦1.5 2"),
			"want an ordinate, which is a number",
		},
		{"separators of two characters", line(` cs="¦, "`, "1,2"), "want one character"},
		{
			"equal separators", geom(`<LineString>¦<coordinates decimal=",">1,2</coordinates></LineString>`),
			"two of decimal, cs and ts are the same",
		},
	})
}

func TestGeometryFaults(t *testing.T) {
	check(t, readCase{}, []textCase{
		{
			"no number", geom(`<Point><pos>1 ¦x</pos></Point>`),
			`feature 0, geometry: want an ordinate, which is a number, found "x"`,
		},
		{"not a number", geom(`<Point><pos>1 ¦NaN</pos></Point>`), "want an ordinate, which is a number"},
		{
			"G11: null", geom(`<LineString><posList>1 ¦null 3 4</posList></LineString>`),
			"want an ordinate, which is a number",
		},
		{"N6: 1.2.3", geom(`<Point><pos>1 ¦1.2.3</pos></Point>`), "want an ordinate, which is a number"},
		{"N6: 1,5", geom(`<Point><pos>¦1,5 2</pos></Point>`), "want an ordinate, which is a number"},
		{"beyond float64", geom(`<Point><pos>1 ¦1e400</pos></Point>`), "want an ordinate within the range of float64"},
		{"G12: one ordinate", geom(`<Point><pos>1¦</pos></Point>`), "want a second ordinate of a position"},
		{
			"odd posList", geom(`<LineString><posList>1 2 3¦</posList></LineString>`),
			"3 ordinates, which are no positions of 2",
		},
		{
			"posList of threes", geom(`<LineString srsDimension="3"><posList>1 2 3 4¦</posList></LineString>`),
			"4 ordinates, which are no positions of 3",
		},
		{
			"srsDimension", geom(`<LineString srsDimension="¦1"><posList>1 2</posList></LineString>`),
			"want a number of ordinates from 2 to 16",
		},
		{"point of two", geom(`<Point><pos>1 2</pos><pos>3 4</pos>¦</Point>`), "a Point of 2 positions"},
		{"unknown child", geom(`<Point>¦<where>1 2</where></Point>`), "<where> is not read as a part of a geometry"},
		{"element among numbers", geom(`<Point><pos>1 2¦<b/></pos></Point>`), "<b> is not read as text"},
		{
			"arc", geom(`<Curve><segments>¦<gml:Arc><posList>0 0 1 1 2 0</posList></gml:Arc></segments></Curve>`),
			"<Arc> is not read as a line",
		},
		{"circle in a ring", geom(`<Polygon><exterior><Ring><curveMember><Curve><segments>¦<Circle/></segments></Curve></curveMember></Ring></exterior></Polygon>`), "<Circle> is not read as a line"},
		{"solid", geom(`¦<Solid><exterior/></Solid>`), "<Solid> is not read as a geometry"},
		{
			"gap in a curve", geom(`<CompositeCurve><curveMember>` + lines +
				`</curveMember><curveMember>¦<LineString><posList>3 5 5 6</posList></LineString></curveMember></CompositeCurve>`),
			"a curve does not begin where the one before it ends",
		},
		{"two exteriors", geom(`<Polygon>` + square + `¦` + square + `</Polygon>`), "a second exterior of a polygon"},
		{"no exterior", geom(`<Polygon>¦` + hole + `</Polygon>`), "a polygon with an interior and no exterior"},
		{
			"fault in an interior before the exterior",
			geom(`<Polygon><interior><LinearRing><posList>1 ¦x</posList></LinearRing></interior>` + square +
				`</Polygon>`), "want an ordinate",
		},
		{
			"line in a MultiPoint", geom(`<MultiPoint><pointMember>¦` + lines + `</pointMember></MultiPoint>`),
			"<LineString> is not read as a member of a MultiPoint",
		},
		{
			"line as a ring", geom(`<Polygon><exterior>¦` + lines + `</exterior></Polygon>`),
			"<LineString> is not read as a ring",
		},
		{"coord without Y", geom(`<Point><coord><X>1</X>¦</coord></Point>`), "a coord without X and Y"},
		{
			"coord out of order", geom(`<Point><coord>¦<Y>1</Y><X>1</X></coord></Point>`),
			"a coord holds X, then Y, then Z",
		},
		{
			"point elsewhere", geom(`¦<Point xlink:href="#p1"/>`),
			"<Point> refers to another element by xlink:href, which is not followed",
		},
		{"member elsewhere", geom(`<MultiCurve>¦<curveMember xlink:href="#c1"/></MultiCurve>`), "<curveMember> refers"},
		{"piece elsewhere", geom(`<Polygon><exterior><Ring>¦<curveMember xlink:href="#c1"/></Ring></exterior></Polygon>`), "<curveMember> refers"},
		{
			"surface elsewhere", geom(`<MultiSurface>¦<surfaceMember xlink:href="#s1"/></MultiSurface>`),
			"<surfaceMember> refers",
		},
		{"ring elsewhere", geom(`<Polygon>¦<exterior xlink:href="#r1"/></Polygon>`), "<exterior> refers"},
		{"the second feature", geom(lines, `<Point><pos>1 ¦x</pos></Point>`), "feature 1, geometry"},
	})
}

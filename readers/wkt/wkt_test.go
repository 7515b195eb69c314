package wkt_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// variants are other moods of the CPU engine.
var variants = []readertest.Variant{
	{Name: "windows", Parser: wkt.Windowed},
	{Name: "portable", Parser: wkt.Portable},
	{Name: "parallel", Parser: wkt.Parallel},
	{Name: "parallel windows", Parser: wkt.ParallelWindowed},
}

func TestFormat(t *testing.T) { readertest.Run(t, wkt.Format(), variants...) }

func FuzzFormat(f *testing.F) { readertest.Fuzz(f, wkt.Format(), variants...) }

// textCase is a text and the table that it becomes, as readertest.Columns writes it; or, where the
// input has the mark ¦, a part of the error that is there.
type textCase struct{ name, input, want string }

// readCase is how the cases of a table are read.
type readCase struct {
	options map[string]any
	limits  readers.Limits
}

// check reads each case whole, in windows and parts of every size, and in small batches.
func check(t *testing.T, how readCase, cases []textCase) {
	t.Helper()
	device := readertest.NewDevice(t, wkt.Format(), 12).Variant()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text, offset := readertest.Mark(c.input)
			in := readertest.Input{Name: "a.wkt", Text: []byte(text), Options: how.options, Limits: how.limits}
			in.Limits.Workers = 1
			table, err := readertest.Check(t, wkt.Format(), in)
			switch {
			case offset >= 0:
				readertest.Fault(t, text, err, offset, c.want)
			case err != nil:
				t.Fatalf("%q\ngot error: %v\nwant:\n%s", text, err, c.want)
			case strings.TrimSpace(readertest.Columns(table)) != c.want:
				t.Fatalf("%q\ngot:\n%s\nwant:\n%s", text, readertest.Columns(table), c.want)
			}
			var sizes []int
			for size := 1; size <= len(text); size += 1 + size/24 {
				sizes = append(sizes, size)
			}
			readertest.Same(t, wkt.Format(), in, sizes, variants...)
			readertest.Same(t, wkt.Format(), in, []int{0}, device)
			for _, rows := range []int{1, 2} {
				in.Limits.BatchRows = rows
				again, err := readertest.Check(t, wkt.Format(), in)
				if (err == nil) != (offset < 0) || err == nil &&
					strings.TrimSpace(readertest.Columns(again)) != c.want {
					t.Errorf("%q\nbatches of %d rows\ngot:\n%v\n%v\nwant:\n%s", text, rows, again, err, c.want)
				}
				readertest.Same(t, wkt.Format(), in, []int{1, 7, 20, 50}, variants...)
			}
		})
	}
}

// none is a table without rows.
const none = "geometry: geoarrow.wkb xy: \ncrs: none"

func TestRows(t *testing.T) {
	check(t, readCase{}, []textCase{
		{"nothing", "", none},
		{"blank lines", " \n\r\n\t\r\n", none},
		{"BOM alone", "\xEF\xBB\xBF", none},
		{"no final line end", "POINT(1 2)\nPOINT(3 4)", points("POINT (1 2) | POINT (3 4)")},
		{"LF", "POINT(1 2)\nPOINT(3 4)\n", points("POINT (1 2) | POINT (3 4)")},
		{"CRLF", "POINT(1 2)\r\nPOINT(3 4)\r\n", points("POINT (1 2) | POINT (3 4)")},
		{"CR", "POINT(1 2)\rPOINT(3 4)\r", points("POINT (1 2) | POINT (3 4)")},
		{"blanks at line ends", "POINT(1 2) \t \n  POINT(3 4)  ", points("POINT (1 2) | POINT (3 4)")},
		{"blank lines between", "\n\nPOINT(1 2)\n \n\nPOINT(3 4)\n\n", points("POINT (1 2) | POINT (3 4)")},
		{"T1 BOM", "\xEF\xBB\xBFPOINT(1 2)\n", points("POINT (1 2)")},
		{"semicolons", "POINT(1 2);POINT(3 4);", points("POINT (1 2) | POINT (3 4)")},
		{"semicolons and lines", ";POINT(1 2) ;\n;; POINT(3 4)\n;", points("POINT (1 2) | POINT (3 4)")},
		{
			"a geometry over lines", "POLYGON(\n (0 0,\r\n  1 0.5,\n1 1\n,0 0)\n)\nPOLYGON\n((0 0,1 0,1 1,0 0))",
			"geometry: geoarrow.polygon xy: POLYGON ((0 0, 1 0.5, 1 1, 0 0)) | POLYGON ((0 0, 1 0, 1 1, 0 " +
				"0))\ncrs: none",
		},
		{
			"a collection over lines", "GEOMETRYCOLLECTION(\nPOINT(1 2),\nPOINT(3 4)\n)\nPOINT(5 6)",
			"geometry: geoarrow.wkb xy: GEOMETRYCOLLECTION (POINT (1 2), POINT (3 4)) | POINT (5 6)\ncrs: none",
		},
		{"G9 null", "NULL\nPOINT(1 2)\nnull;Null", points("null | POINT (1 2) | null | null")},
		{"only nulls", "NULL\nNULL", "geometry: geoarrow.wkb xy: null | null\ncrs: none"},
		{"J16 a word", "¦garbage", `a.wkt: wkt: byte 0, line 1, row 0, geometry: want the name of a geometry, found "garbage"`},
		{"not null", "¦NULLS", `want the name of a geometry, found "NULLS"`},
		{"after null", "NULL ¦x", `want the end of the line or ";" behind the geometry, found "x"`},
		{
			"two in a line", "POINT(1 2)\nPOINT(1 2) ¦POINT(3 4)",
			`byte 22, line 2, row 1, geometry: want the end of the line or ";" behind the geometry, found "POINT"`,
		},
		{"J17 cut", "POINT(1 2)\nPOINT(1 2¦", "found the end of the file"},
		{
			"cut by the next row", "POINT(1 2\n¦POINT(3 4)",
			`line 2, row 0, geometry: want a number, "," or ")", found "POINT"`,
		},
		{"cut in a list", "LINESTRING(1 2,\n¦POINT(3 4)", `want a number, found "POINT"`},
		{"J15 UTF-16", "¦\xff\xfeP\x00O\x00", "found byte 0xff"},
		{"BOM further on", "POINT(1 2)\n¦\xEF\xBB\xBFPOINT(1 2)", "want the name of a geometry"},
		{"a zero", "POINT(1 2)\n¦\x00", "want the name of a geometry"},
		{"a zero after", "POINT(1 2)¦\x00", `want the end of the line`},
	})
}

// points returns a table of points.
func points(rows string) string { return "geometry: geoarrow.point xy: " + rows + "\ncrs: none" }

func TestGeometries(t *testing.T) {
	check(t, readCase{}, []textCase{
		{
			"T1 dimensions", "POINT Z(1 2 3)\nPOINT(1 2 3)\npointz (1 2 3)\nPoint ZM(1 2 3 4)\nPOINT(1 2 3 4)\nPOINT M " +
				"(1 2 3)\nPOINTM(1 2 3)\nPOINT(1 2)",
			"geometry: geoarrow.point xyzm: POINT Z (1 2 3) | POINT Z (1 2 3) | POINT Z (1 2 3) | POINT ZM (1 2 3 " +
				"4) | POINT ZM (1 2 3 4) | POINT M (1 2 3) | POINT M (1 2 3) | POINT (1 2)\ncrs: none",
		},
		{
			"EMPTY keeps its dimension", "POINT Z EMPTY\nPOINT M EMPTY\nPOINT EMPTY",
			"geometry: geoarrow.point xyzm: POINT Z EMPTY | POINT M EMPTY | POINT EMPTY\ncrs: none",
		},
		{
			"EMPTY of every kind", "LINESTRING ZM EMPTY\nPOLYGON EMPTY\nMULTIPOINT Z EMPTY\nMULTILINESTRING " +
				"EMPTY\nMULTIPOLYGON M EMPTY\nGEOMETRYCOLLECTION Z EMPTY",
			"geometry: geoarrow.wkb xyzm: LINESTRING ZM EMPTY | POLYGON EMPTY | MULTIPOINT Z EMPTY | " +
				"MULTILINESTRING EMPTY | MULTIPOLYGON M EMPTY | GEOMETRYCOLLECTION Z EMPTY\ncrs: none",
		},
		{
			"EMPTY inside", "MULTIPOLYGON(EMPTY,((0 0,1 0,1 1,0 0),EMPTY))",
			"geometry: geoarrow.multipolygon xy: MULTIPOLYGON (EMPTY, ((0 0, 1 0, 1 1, 0 0), EMPTY))\ncrs: " +
				"none\nshort rings: 1",
		},
		{
			"EMPTY line inside", "MULTILINESTRING Z(EMPTY,(1 2 3,4 5 6))\nMULTILINESTRING M(EMPTY)",
			"geometry: geoarrow.multilinestring xyzm: MULTILINESTRING Z (EMPTY, (1 2 3, 4 5 6)) | MULTILINESTRING M " +
				"(EMPTY)\ncrs: none",
		},
		{
			"EMPTY in a MULTIPOINT", "MULTIPOINT(EMPTY,1 2 3)\nMULTIPOINT M (EMPTY)",
			"geometry: geoarrow.multipoint xyzm: MULTIPOINT Z (EMPTY, (1 2 3)) | MULTIPOINT M (EMPTY)\ncrs: none",
		},
		{
			"MULTIPOINT in both notations", "MULTIPOINT(1 2,3 4)\nMULTIPOINT((1 2),(3 4))\nMULTIPOINT((1 2),3 4)",
			"geometry: geoarrow.multipoint xy: MULTIPOINT ((1 2), (3 4)) | MULTIPOINT ((1 2), (3 4)) | MULTIPOINT " +
				"((1 2), (3 4))\ncrs: none",
		},
		{
			"G1 G4 line with z", "LINESTRING(1 2 100,3 4 200)\nLINESTRING(1 2,3 4)",
			"geometry: geoarrow.linestring xyz: LINESTRING Z (1 2 100, 3 4 200) | LINESTRING (1 2, 3 4)\ncrs: none",
		},
		{
			"G2 polygons of two dimensions", "POLYGON((0 0 1,1 0 2,1 1 3,0 0 4))\nPOLYGON((0 0,1 0,1 1,0 0))",
			"geometry: geoarrow.polygon xyz: POLYGON Z ((0 0 1, 1 0 2, 1 1 3, 0 0 4)) | POLYGON ((0 0, 1 0, 1 1, 0 " +
				"0))\ncrs: none",
		},
		{
			"G3 point with z next to a line", "POINT(9 9 1)\nLINESTRING(1 2,3 4)",
			"geometry: geoarrow.wkb xyz: POINT Z (9 9 1) | LINESTRING (1 2, 3 4)\ncrs: none",
		},
		{"G5 empty, then a point", "POINT EMPTY\nPOINT(1 2)", points("POINT EMPTY | POINT (1 2)")},
		{
			"G6 empty point, then a line", "POINT EMPTY\nLINESTRING(1 2,3 4)",
			"geometry: geoarrow.wkb xy: POINT EMPTY | LINESTRING (1 2, 3 4)\ncrs: none",
		},
		{
			"G7 empty, then a line", "LINESTRING EMPTY\nLINESTRING(1 2,3 4)",
			"geometry: geoarrow.linestring xy: LINESTRING EMPTY | LINESTRING (1 2, 3 4)\ncrs: none",
		},
		{
			"G8 empty, then points", "MULTIPOINT EMPTY\nMULTIPOINT(1 2)",
			"geometry: geoarrow.multipoint xy: MULTIPOINT EMPTY | MULTIPOINT ((1 2))\ncrs: none",
		},
		{
			"G10 null and empty", "NULL\nPOLYGON EMPTY\nPOLYGON((0 0,1 0,1 1,0 0))",
			"geometry: geoarrow.polygon xy: null | POLYGON EMPTY | POLYGON ((0 0, 1 0, 1 1, 0 0))\ncrs: none",
		},
		{
			"G13 T1 collection", "GEOMETRYCOLLECTION(POINT(1 2),GEOMETRYCOLLECTION(LINESTRING(1 2,3 4)," +
				"GEOMETRYCOLLECTION EMPTY))\nPOINT(5 6)",
			"geometry: geoarrow.wkb xy: GEOMETRYCOLLECTION (POINT (1 2), GEOMETRYCOLLECTION (LINESTRING (1 2, 3 4), " +
				"GEOMETRYCOLLECTION EMPTY)) | POINT (5 6)\ncrs: none",
		},
		{
			"collection of several dimensions", "GEOMETRYCOLLECTION(POINT(1 2),POINT(1 2 3))",
			"geometry: geoarrow.wkb xyz: GEOMETRYCOLLECTION Z (POINT Z (1 2 nan), POINT Z (1 2 3))\ncrs: none",
		},
		{
			"collection with M", "GEOMETRYCOLLECTION M(POINT(1 2 3),POINT M(4 5 6),POINT Z(7 8 9))",
			"geometry: geoarrow.wkb xyzm: GEOMETRYCOLLECTION ZM (POINT ZM (1 2 nan 3), POINT ZM (4 5 nan 6), POINT " +
				"ZM (7 8 9 nan))\ncrs: none",
		},
		{"G14 single and multi", "POLYGON((0 0,4 0,4 4,0 0),(1 1,2 1,2 2,1 1))\nMULTIPOLYGON(((0 0,1 0,1 1,0 0))," +
			"((5 5,6 5,6 6,5 5)))", "geometry: geoarrow.multipolygon xy: POLYGON ((0 0, 4 0, 4 4, 0 0), (1 1, 2 1, " +
			"2 2, 1 1)) | MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((5 5, 6 5, 6 6, 5 5)))\ncrs: none"},
		{
			"G15 open and short", "POLYGON((0 0,1 0,1 1,0 1),(0 0,1 1,0 0))\nMULTILINESTRING((1 2))\nLINESTRING(1 2)",
			"geometry: geoarrow.wkb xy: POLYGON ((0 0, 1 0, 1 1, 0 1), (0 0, 1 1, 0 0)) | MULTILINESTRING ((1 2)) | " +
				"LINESTRING (1 2)\ncrs: none\nunclosed rings: 1\nshort rings: 1\nshort lines: 2",
		},
		{
			"nan and inf", "POINT(NaN nan)\nPOINT Z(1 nan -NAN)\nPOINT(inf -Infinity)\nPOINT Z(nan nan 5)",
			"geometry: geoarrow.point xyz: POINT EMPTY | POINT Z (1 nan nan) | POINT (inf -inf) | POINT Z (nan nan " +
				"5)\ncrs: none",
		},
		{
			"a point of NaN next to points", "POINT(nan nan)\nMULTIPOINT(nan nan,1 2)",
			"geometry: geoarrow.multipoint xy: POINT EMPTY | MULTIPOINT (EMPTY, (1 2))\ncrs: none",
		},
		{
			"N7 numbers of strtod", "POINT(+5 .5)\nPOINT(5. 00012)\nPOINT(-.5e1 +1.E+2)",
			points("POINT (5 0.5) | POINT (5 12) | POINT (-5 100)"),
		},
		{
			"N2 N3 ends of the range", "POINT(4.9e-324 2.2250738585072014e-308)\nPOINT(1.7976931348623157e308 1e-400)",
			points("POINT (5e-324 2.2250738585072014e-308) | POINT (1.7976931348623157e+308 0)"),
		},
		{"N13 minus zero", "POINT(-0 -0.0)\nPOINT(-.0 -0.)", points("POINT (-0 -0) | POINT (-0 -0)")},
		{
			"N1 T2 exact", "POINT(108.96767681626763 90.81246689931749)",
			points("POINT (108.96767681626763 90.81246689931749)"),
		},
		{
			"N11 beyond float64", "POINT(1 2)\nPOINT(1 ¦1e400)",
			"byte 19, line 2, row 1, geometry: a number beyond the range of float64",
		},
		{
			"curve", "POINT(1 2)\n¦COMPOUNDCURVE((0 0,1 1))",
			"a COMPOUNDCURVE: curves, triangles and surfaces have no place",
		},
	})
}

func TestSRID(t *testing.T) {
	check(t, readCase{}, []textCase{
		{
			"T3 SRID", "SRID=4326;POINT(1 2)\nSRID=4326;POINT(3 4)",
			"geometry: geoarrow.point xy: POINT (1 2) | POINT (3 4)\ncrs: EPSG:4326",
		},
		{
			"any case and blanks", "srid = 3857 ; POINT(1 2);Srid=3857;POINT(3 4);",
			"geometry: geoarrow.point xy: POINT (1 2) | POINT (3 4)\ncrs: EPSG:3857",
		},
		{
			"zeros in front", "SRID=003857;POINT(1 2)\nSRID=3857;POINT(3 4)",
			"geometry: geoarrow.point xy: POINT (1 2) | POINT (3 4)\ncrs: EPSG:3857",
		},
		{
			"0 is none", "SRID=0;POINT(1 2)\nSRID=25832;POINT(3 4)\nSRID=0;POINT(5 6)",
			"geometry: geoarrow.point xy: POINT (1 2) | POINT (3 4) | POINT (5 6)\ncrs: EPSG:25832",
		},
		{
			"rows without", "POINT(1 2)\nPOINT(3 4)\nSRID=4326;POINT(5 6)\nPOINT(7 8)",
			"geometry: geoarrow.point xy: POINT (1 2) | POINT (3 4) | POINT (5 6) | POINT (7 8)\ncrs: EPSG:4326",
		},
		{
			"T3 several", "SRID=4326;POINT(1 2)\nPOINT(3 4)\n¦SRID=3857;POINT(5 6)\nSRID=4326;POINT(7 8)",
			"byte 32, line 3, row 2, geometry: SRID 3857, while the rows before have 4326: a table has one " +
				"coordinate reference system",
		},
		{"several after rows without", "POINT(1 2)\nPOINT(3 4)\nSRID=4326;POINT(5 6)\nPOINT(7 8)\n¦SRID=3857;" +
			"POINT(5 6)", "SRID 3857, while the rows before have 4326"},
		{"several and malformed", "SRID=1;POINT(1 2)\n¦SRID=2;POINT(x)", "SRID 2, while"},
		{"alone", "SRID=4326;¦", "want the name of a geometry, found the end of the file"},
		{"without semicolon", "SRID=4326 ¦POINT(1 2)", `want ";" behind the SRID, found "POINT"`},
	})
	check(t, readCase{options: map[string]any{"crs": "epsg:25833"}}, []textCase{
		{"crs option", "POINT(1 2)", "geometry: geoarrow.point xy: POINT (1 2)\ncrs: EPSG:25833"},
		{
			"crs option in place of the SRID", "SRID=900913;POINT(1 2)",
			"geometry: geoarrow.point xy: POINT (1 2)\ncrs: EPSG:25833",
		},
		{"crs option and several SRIDs", "SRID=900913;POINT(1 2)\n¦SRID=1;POINT(1 2)", "SRID 1, while"},
	})
}

func TestSkip(t *testing.T) {
	check(t, readCase{options: map[string]any{"on_error": "skip"}}, []textCase{
		{"T1 one bad row", "POINT(1 2)\nPOINT(x 2)\nPOINT(3 4)", points("POINT (1 2) | POINT (3 4)") +
			"\nskipped: 1 at [11]"},
		{"only bad rows", "x\ny;z\n", none + "\nskipped: 3 at [0 2 4]"},
		{"cut by the next row", "POINT(1 2\nPOINT(3 4)", points("POINT (3 4)") + "\nskipped: 1 at [0]"},
		{"cut at the end", "POINT(1 2)\nPOLYGON Z((1 2 3,4", points("POINT (1 2)") + "\nskipped: 1 at [11]"},
		{"semicolons", "POINT(1 2);POINT(x);SRID=1;POINT(x);POINT(3 4)", points("POINT (1 2) | POINT (3 4)") +
			"\nskipped: 2 at [11 20]"},
		{"a malformed SRID", "SRID=x;POINT(1 2);POINT(3 4)", points("POINT (3 4)") + "\nskipped: 1 at [0]"},
		{
			"an SRID that is not there", "SRID=1;POINT(x)\nSRID=2;POINT(1 2)",
			"geometry: geoarrow.point xy: POINT (1 2)\ncrs: text \"EPSG:2\"\nskipped: 1 at [0]",
		},
		{"after a geometry", "POINT(1 2) x\nPOINT(3 4)", points("POINT (3 4)") + "\nskipped: 1 at [0]"},
		{
			"counts of rows left out", "POLYGON((0 0,1 1),(1\nLINESTRING(1 2),\nPOINT(1 2)",
			points("POINT (1 2)") + "\nskipped: 2 at [0 21]",
		},
		{"several SRIDs are not passed", "SRID=1;POINT(1 2)\n¦SRID=2;POINT(1 2)", "SRID 2, while"},
		{
			"another SRID of a row left out", "SRID=1;POINT(1 2)\nSRID=2;POINT(x)\nSRID=1;POINT(3 4)",
			"geometry: geoarrow.point xy: POINT (1 2) | POINT (3 4)\ncrs: text \"EPSG:1\"\nskipped: 1 at [18]",
		},
		{"curves", "CIRCULARSTRING(0 0,1 1,2 2)\nPOINT(1 2)", points("POINT (1 2)") + "\nskipped: 1 at [0]"},
	})
}

// TestNull is a malformed row that is a null geometry.
func TestNull(t *testing.T) {
	check(t, readCase{options: map[string]any{"on_error": "null"}}, []textCase{
		{"T1 one bad row", "POINT(1 2)\nPOINT(x 2)\nPOINT(3 4)", points("POINT (1 2) | null | POINT (3 4)") +
			deviations("geometry", "value is null", 1, 17)},
		{"curve", "POINT(1 2)\nCIRCULARSTRING(0 0, 1 1, 2 0)", points("POINT (1 2) | null") +
			deviations("geometry", "value is null", 1, 11)},
		{"cut at the end", "POINT(1 2);POINT(1", points("POINT (1 2) | null") + deviations("geometry",
			"value is null", 1, 18)},
		{"two SRIDs", "SRID=1;POINT(1 2)\n¦SRID=2;POINT(1 2)", "SRID 2"},
		{
			"an SRID that is not there", "SRID=1;POINT(x)\nSRID=2;POINT(1 2)",
			"geometry: geoarrow.point xy: null | POINT (1 2)\ncrs: text \"EPSG:2\"" +
				deviations("geometry", "value is null", 0, 13),
		},
	})
}

// TestRepair is defects that have one reading.
func TestRepair(t *testing.T) {
	const crsNone = "\ncrs: none"
	check(t, readCase{options: map[string]any{"on_error": "repair"}}, []textCase{
		{"Microsoft's NaN", "POINT Z (1 2 1.#QNAN)", "geometry: geoarrow.point xyz: POINT Z (1 2 nan)" +
			crsNone + deviations("number-word", "read as NaN", 0, 13)},
		{"Microsoft's NaN, printf", "POINT Z (1 2 -1.#IND00)", "geometry: geoarrow.point xyz: POINT Z (1 2 nan)" +
			crsNone + deviations("number-word", "read as NaN", 0, 13)},
		{"Microsoft's NaN, new", "POINT Z (1 2 -nan(ind))", "geometry: geoarrow.point xyz: POINT Z (1 2 nan)" +
			crsNone + deviations("number-word", "read as NaN", 0, 13)},
		{"Microsoft's infinity", "POINT Z (1 2 -1.#INF)", "geometry: geoarrow.point xyz: POINT Z (1 2 -inf)" +
			crsNone + deviations("number-word", "read as infinity", 0, 13)},
		{
			"ring", "LINEARRING (0 0, 1 0, 1 1, 0 0)",
			"geometry: geoarrow.linestring xy: LINESTRING (0 0, 1 0, 1 1, 0 0)" + crsNone +
				deviations("linear-ring", "read as LineString", 0, 0),
		},
		{"no height", "POINT Z (1 2)", "geometry: geoarrow.point xyz: POINT Z (1 2 nan)" + crsNone +
			deviations("uneven-positions", "missing ordinates are NaN", 0, 12)},
		{
			"no height at first", "LINESTRING (1 2, 3 4 5)",
			"geometry: geoarrow.linestring xyz: LINESTRING Z (1 2 nan, 3 4 5)" + crsNone +
				deviations("uneven-positions", "missing ordinates are NaN", 0, 22),
		},
		{"empty brackets", "POINT ( )", "geometry: geoarrow.point xy: POINT EMPTY" + crsNone +
			deviations("empty-brackets", "read as EMPTY", 0, 6)},
		{"empty lists", "MULTIPOLYGON()", "geometry: geoarrow.multipolygon xy: MULTIPOLYGON EMPTY" +
			crsNone + deviations("empty-brackets", "read as EMPTY", 0, 12)},
		{"last comma", "LINESTRING (1 2, 3 4, )", "geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)" +
			crsNone + deviations("stray-comma", "not read", 0, 20)},
		{"point with a comma", "POINT (1, 2)", points("POINT (1 2)") + deviations("stray-comma",
			"read as one position", 0, 7)},
		{"quotes", "'POINT (1 2)'\n", points("POINT (1 2)") + deviations("quotes", "not read", 0, 0)},
		{"bracket", "POINT (1 2))\n", points("POINT (1 2)") + deviations("stray-bracket", "not read", 0, 11)},
		{"no reading", "POINT (1 2) x\nLINESTRING(1,2,3)\nPOINT(3 4)", points("null | null | POINT (3 4)") +
			"\ndeviations: geometry 2\ndeviation: byte 12, row 0, \"geometry\": geometry: value is null\ndeviation: " +
			"byte 26, row 1, \"geometry\": geometry: value is null"},
		{
			"a head that is not learned", "LINEARRING(0 0, 1 1)\nPOINT(1 2)\n",
			"geometry: geoarrow.wkb xy: LINESTRING (0 0, 1 1) | POINT (1 2)" + crsNone +
				deviations("linear-ring", "read as LineString", 0, 0),
		},
	})
}

// deviations returns what a table says of one deviation.
func deviations(rule, done string, row, at int) string {
	return fmt.Sprintf("\ndeviations: %s 1\ndeviation: byte %d, row %d, \"geometry\": %s: %s", rule, at,
		row, rule, done)
}

// TestRepairedSRID has a row that repair reads, with another SRID than the rows before it, in every
// size of parts: the file has two reference systems, as it would if the row were well formed.
func TestRepairedSRID(t *testing.T) {
	text := "SRID=4326;POINT (1 2)\nPOINT (3 4)\nSRID=3857;POINT (5 6))\nPOINT (7 8)\n"
	for size := int64(1); size < 80; size++ {
		for _, workers := range []int{1, 3} {
			in := readertest.Input{
				Name: "a.ewkt", Text: []byte(text), Options: map[string]any{"on_error": "repair"},
				Limits: readers.Limits{PartBytes: size, Workers: workers},
			}
			_, err := readertest.Parse(t, wkt.Format(), in)
			var parse *readers.ParseError
			if !errors.As(err, &parse) || parse.Row != 2 || !strings.Contains(err.Error(), "SRID 3857") {
				t.Fatalf("parts of %d bytes, %d workers: %v", size, workers, err)
			}
		}
	}
}

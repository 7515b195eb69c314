package shapefile_test

import (
	"math"
	"testing"
)

// noData is a measure that is not one.
const noData = -1e39

func TestPoints(t *testing.T) {
	check(t, alone, []shpCase{
		{
			"Point", shp(point, at(point, 1, 2), at(point, -0.5, 1e300)),
			"geometry: geoarrow.point xy: POINT (1 2) | POINT (-0.5 1e+300)", 0,
		},
		{
			"S1: Null among points", shp(point, nothing, at(point, 1, 2), nothing),
			"geometry: geoarrow.point xy: null | POINT (1 2) | null", 0,
		},
		{"Null alone", shp(point, nothing), "geometry: geoarrow.wkb xy: null", 0},
		{"a file of Null", shp(null, nothing, nothing), "geometry: geoarrow.wkb xy: null | null", 0},
		{
			"N13: negative zero", shp(point, at(point, math.Copysign(0, -1), 0)),
			"geometry: geoarrow.point xy: POINT (-0 0)", 0,
		},
		{
			"no numbers", shp(point, at(point, math.NaN(), math.Float64frombits(0xfff8000000000001))),
			"geometry: geoarrow.point xy: POINT EMPTY", 0,
		},
		{"infinite", shp(point, at(point, math.Inf(1), 0)), "geometry: geoarrow.point xy: POINT (inf 0)", 0},
		{
			"S3: PointZ with m", shp(pointZ, at(pointZ, 1, 2, 3, 4)),
			"geometry: geoarrow.point xyzm: POINT ZM (1 2 3 4)",
			0,
		},
		{
			"S3: PointZ with m of no data", shp(pointZ, at(pointZ, 1, 2, 3, noData)),
			"geometry: geoarrow.point xyz: POINT Z (1 2 3)", 0,
		},
		{"S3: PointZ without m", shp(pointZ, at(pointZ, 1, 2, 3)), "geometry: geoarrow.point xyz: POINT Z (1 2 3)", 0},
		{
			"PointZ with m and without", shp(pointZ, at(pointZ, 1, 2, 3, noData), at(pointZ, 4, 5, 6, 7)),
			"geometry: geoarrow.point xyzm: POINT Z (1 2 3) | POINT ZM (4 5 6 7)", 0,
		},
		{"S3: PointM", shp(pointM, at(pointM, 1, 2, 3)), "geometry: geoarrow.point xym: POINT M (1 2 3)", 0},
		{"S3: PointM of no data", shp(pointM, at(pointM, 1, 2, noData)), "geometry: geoarrow.point xy: POINT (1 2)", 0},
		{
			"the largest measure of no data", shp(pointM, at(pointM, 1, 2, -1e38)),
			"geometry: geoarrow.point xy: POINT (1 2)", 0,
		},
		{
			"the least measure", shp(pointM, at(pointM, 1, 2, math.Nextafter(-1e38, 0))),
			"geometry: geoarrow.point xym: POINT M (1 2 -9.999999999999998e+37)", 0,
		},
		{
			"numbered from 0", shpFrom(0, point, at(point, 1, 2), nothing),
			"geometry: geoarrow.point xy: POINT (1 2) | null", 0,
		},
		{"no record", shp(polygon), "geometry: geoarrow.wkb xy:", 0},
	})
}

func TestLines(t *testing.T) {
	a, b := xy{0, 0, 1, 1}, xy{5, 5, 6, 6, 7, 5}
	check(t, alone, []shpCase{
		{
			"one part", shp(polyLine, parts(polyLine, []xy{a})),
			"geometry: geoarrow.linestring xy: LINESTRING (0 0, 1 1)",
			0,
		},
		{
			"several parts", shp(polyLine, parts(polyLine, []xy{a, b}), parts(polyLine, []xy{b})),
			"geometry: geoarrow.multilinestring xy: MULTILINESTRING ((0 0, 1 1), (5 5, 6 6, 7 5)) | LINESTRING (5 5," +
				" 6 6, 7 5)", 0,
		},
		{
			"no part", shp(polyLine, parts(polyLine, nil), nothing),
			"geometry: geoarrow.linestring xy: LINESTRING EMPTY | null", 0,
		},
		{
			"a part of a point", shp(polyLine, parts(polyLine, []xy{{1, 2}})),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2)\ncrs: none\nshort lines: 1", 0,
		},
		{
			"S3: PolyLineZ", shp(polyLineZ, parts(polyLineZ, []xy{a}, ordinates(3, 4))),
			"geometry: geoarrow.linestring xyz: LINESTRING Z (0 0 3, 1 1 4)", 0,
		},
		{
			"S3: PolyLineZ with m", shp(polyLineZ, parts(polyLineZ, []xy{a}, ordinates(3, 4), ordinates(noData, 6))),
			"geometry: geoarrow.linestring xyzm: LINESTRING ZM (0 0 3 nan, 1 1 4 6)", 0,
		},
		{
			"S3: PolyLineM", shp(polyLineM, parts(polyLineM, []xy{a}, ordinates(3, noData))),
			"geometry: geoarrow.linestring xym: LINESTRING M (0 0 3, 1 1 nan)", 0,
		},
		{
			"PolyLineM without m", shp(polyLineM, parts(polyLineM, []xy{a})),
			"geometry: geoarrow.linestring xy: LINESTRING (0 0, 1 1)", 0,
		},
		{
			"PolyLineZ of no part", shp(polyLineZ, parts(polyLineZ, nil, ordinates())),
			"geometry: geoarrow.linestring xyz: LINESTRING Z EMPTY", 0,
		},
	})
}

func TestMultiPoints(t *testing.T) {
	check(t, alone, []shpCase{
		{
			"MultiPoint", shp(multiPoint, several(multiPoint, xy{1, 2, 3, 4}), several(multiPoint, nil)),
			"geometry: geoarrow.multipoint xy: MULTIPOINT ((1 2), (3 4)) | MULTIPOINT EMPTY", 0,
		},
		{
			"MultiPointZ", shp(multiPointZ, several(multiPointZ, xy{1, 2, 3, 4}, ordinates(5, 6))),
			"geometry: geoarrow.multipoint xyz: MULTIPOINT Z ((1 2 5), (3 4 6))", 0,
		},
		{
			"MultiPointZ with m", shp(multiPointZ, several(multiPointZ, xy{1, 2}, ordinates(5), ordinates(6))),
			"geometry: geoarrow.multipoint xyzm: MULTIPOINT ZM ((1 2 5 6))", 0,
		},
		{
			"MultiPointM", shp(multiPointM, several(multiPointM, xy{1, 2}, ordinates(5))),
			"geometry: geoarrow.multipoint xym: MULTIPOINT M ((1 2 5))", 0,
		},
	})
}

func TestPolygons(t *testing.T) {
	check(t, alone, []shpCase{
		{
			"a ring", shp(polygon, parts(polygon, []xy{square(0, 0, 1)})),
			"geometry: geoarrow.polygon xy: POLYGON ((0 0, 0 1, 1 1, 1 0, 0 0))", 0,
		},
		{"no ring", shp(polygon, parts(polygon, nil)), "geometry: geoarrow.polygon xy: POLYGON EMPTY", 0},
		{
			"a hole, then its shell", shp(polygon, parts(polygon, []xy{hole(1, 1, 1), square(0, 0, 4)})),
			"geometry: geoarrow.polygon xy: POLYGON ((0 0, 0 4, 4 4, 4 0, 0 0), (1 1, 2 1, 2 2, 1 2, 1 1))", 0,
		},
		{
			"S2: two outer rings", shp(polygon, parts(polygon, []xy{square(0, 0, 1), square(5, 5, 1)}),
				parts(polygon, []xy{square(0, 0, 1)})),
			"geometry: geoarrow.multipolygon xy: MULTIPOLYGON (((0 0, 0 1, 1 1, 1 0, 0 0)), ((5 5, 5 6, 6 6, 6 5, 5 " +
				"5))) | POLYGON ((0 0, 0 1, 1 1, 1 0, 0 0))", 0,
		},
		{
			"S3: PolygonZ, whose rings change places",
			shp(polygonZ, parts(polygonZ, []xy{hole(1, 1, 1), square(0, 0, 4)}, ordinates(1, 2, 3, 4, 5,
				6, 7, 8, 9, 10), ordinates(11, 12, 13, 14, 15, 16, 17, 18, 19, 20))),
			"geometry: geoarrow.polygon xyzm: POLYGON ZM ((0 0 6 16, 0 4 7 17, 4 4 8 18, 4 0 9 19, 0 0 10 20), (1 1 " +
				"1 11, 2 1 2 12, 2 2 3 13, 1 2 4 14, 1 1 5 15))", 0,
		},
		{
			"S3: PolygonM", shp(polygonM, parts(polygonM, []xy{square(0, 0, 1)}, ordinates(1, 2, 3, 4, 5))),
			"geometry: geoarrow.polygon xym: POLYGON M ((0 0 1, 0 1 2, 1 1 3, 1 0 4, 0 0 5))", 0,
		},
		{
			"open and short rings", shp(polygon, parts(polygon, []xy{{0, 0, 0, 1, 1, 1, 1, 0}, {9, 9, 8, 8}})),
			"geometry: geoarrow.multipolygon xy: MULTIPOLYGON (((0 0, 0 1, 1 1, 1 0)), ((9 9, 8 8)))\ncrs: " +
				"none\nunclosed rings: 2\nshort rings: 1", 0,
		},
	})
}

func TestMultiPatches(t *testing.T) {
	ring, inner := square(0, 0, 4), hole(1, 1, 1)
	check(t, alone, []shpCase{
		{
			"S3: strip", shp(multiPatch, patch(multiPatch, []uint32{0}, []xy{{0, 0, 0, 1, 1, 0, 1, 1}},
				ordinates(1, 2, 3, 4))),
			"geometry: geoarrow.multipolygon xyz: MULTIPOLYGON Z (((0 0 1, 0 1 2, 1 0 3, 0 0 1)), ((0 1 2, 1 0 3, 1 " +
				"1 4, 0 1 2)))", 0,
		},
		{
			"S3: fan with m", shp(multiPatch, patch(multiPatch, []uint32{1}, []xy{{0, 0, 0, 1, 1, 1, 1, 0}},
				ordinates(1, 2, 3, 4), ordinates(5, 6, 7, 8))),
			"geometry: geoarrow.multipolygon xyzm: MULTIPOLYGON ZM (((0 0 1 5, 0 1 2 6, 1 1 3 7, 0 0 1 5)), ((0 0 1 " +
				"5, 1 1 3 7, 1 0 4 8, 0 0 1 5)))", 0,
		},
		{
			"triangles", shp(multiPatch, patch(multiPatch, []uint32{6}, []xy{{0, 0, 0, 1, 1, 1, 5, 5, 5, 6, 6, 6}},
				ordinates(1, 2, 3, 4, 5, 6))),
			"geometry: geoarrow.multipolygon xyz: MULTIPOLYGON Z (((0 0 1, 0 1 2, 1 1 3, 0 0 1)), ((5 5 4, 5 6 5, 6 " +
				"6 6, 5 5 4)))", 0,
		},
		{
			"S3: outer and inner rings", shp(multiPatch, patch(multiPatch, []uint32{2, 3, 2},
				[]xy{ring, inner, {9, 9, 9, 8, 8, 8, 9, 9}}, ordinates(make([]float64, 14)...))),
			"geometry: geoarrow.multipolygon xyz: MULTIPOLYGON Z (((0 0 0, 0 4 0, 4 4 0, 4 0 0, 0 0 0), (1 1 0, 2 1 " +
				"0, 2 2 0, 1 2 0, 1 1 0)), ((9 9 0, 9 8 0, 8 8 0, 9 9 0)))", 0,
		},
		{
			"first rings and rings", shp(multiPatch, patch(multiPatch, []uint32{4, 5, 4},
				[]xy{ring, inner, {9, 9, 9, 8, 8, 8, 9, 9}}, ordinates(make([]float64, 14)...))),
			"geometry: geoarrow.multipolygon xyz: MULTIPOLYGON Z (((0 0 0, 0 4 0, 4 4 0, 4 0 0, 0 0 0), (1 1 0, 2 1 " +
				"0, 2 2 0, 1 2 0, 1 1 0)), ((9 9 0, 9 8 0, 8 8 0, 9 9 0)))", 0,
		},
		{
			"an inner ring next to the outer one", shp(multiPatch, patch(multiPatch, []uint32{2, 3, 3},
				[]xy{square(0, 0, 9), square(1, 1, 1), square(20, 0, 1)}, ordinates(make([]float64, 15)...))),
			"geometry: geoarrow.multipolygon xyz: MULTIPOLYGON Z (((0 0 0, 0 9 0, 9 9 0, 9 0 0, 0 0 0), (1 1 0, 1 2 " +
				"0, 2 2 0, 2 1 0, 1 1 0)), " +
				"((20 0 0, 20 1 0, 21 1 0, 21 0 0, 20 0 0)))", 0,
		},
		{
			"a ring next to the first one", shp(multiPatch, patch(multiPatch, []uint32{4, 5, 5},
				[]xy{square(20, 0, 1), square(0, 0, 9), square(1, 1, 1)}, ordinates(make([]float64, 15)...))),
			"geometry: geoarrow.multipolygon xyz: MULTIPOLYGON Z (((20 0 0, 20 1 0, 21 1 0, 21 0 0, 20 0 0)), " +
				"((0 0 0, 0 9 0, 9 9 0, 9 0 0, 0 0 0), (1 1 0, 1 2 0, 2 2 0, 2 1 0, 1 1 0)))", 0,
		},
		{
			"a window in a wall", shp(multiPatch, patch(multiPatch, []uint32{2, 3},
				[]xy{{0, 0, 9, 9, 9, 9, 0, 0, 0, 0}, {1, 1, 2, 2, 2, 2, 1, 1, 1, 1}},
				ordinates(0, 0, 9, 9, 0, 1, 1, 2, 2, 1))),
			"geometry: geoarrow.multipolygon xyz: MULTIPOLYGON Z (((0 0 0, 9 9 0, 9 9 9, 0 0 9, 0 0 0), (1 1 1, 2 2 " +
				"1, 2 2 2, 1 1 2, 1 1 1)))", 0,
		},
		{
			"a ring after triangles", shp(multiPatch, patch(multiPatch, []uint32{0, 3},
				[]xy{{0, 0, 0, 1, 1, 1}, inner}, ordinates(make([]float64, 8)...))),
			"geometry: geoarrow.multipolygon xyz: MULTIPOLYGON Z (((0 0 0, 0 1 0, 1 1 0, 0 0 0)), ((1 1 0, 2 1 0, 2 " +
				"2 0, 1 2 0, 1 1 0)))", 0,
		},
		{
			"no part", shp(multiPatch, patch(multiPatch, nil, nil, ordinates())),
			"geometry: geoarrow.multipolygon xyz: MULTIPOLYGON Z EMPTY", 0,
		},
	})
}

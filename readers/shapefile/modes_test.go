package shapefile_test

import "testing"

// squareAt returns a square of a polygon at x, 0.
func squareAt(x float64) xy { return square(x, 0, 1) }

func TestLongRecords(t *testing.T) {
	behind := words(7)
	one := "geometry: geoarrow.polygon xy: POLYGON ((0 0, 0 1, 1 1, 1 0, 0 0)) | null\ncrs: none\ndeviations: " +
		"long-record 2\n" +
		"deviation: byte 100, row 0, \"geometry\": long-record: the 4 bytes after the shape are not read\n" +
		"deviation: byte 240, row 1, \"geometry\": long-record: the 4 bytes after the shape are not read"
	check(t, alone, []shpCase{
		{
			"a polygon and Null", shp(polygon, join(parts(polygon, []xy{squareAt(0)}), behind), join(nothing, behind)),
			one, 0,
		},
		{
			"a point", shp(point, join(at(point, 1, 2), behind), at(point, 3, 4)),
			"geometry: geoarrow.point xy: POINT (1 2) | POINT (3 4)\ncrs: none\ndeviations: long-record 1\n" +
				"deviation: byte 100, row 0, \"geometry\": long-record: the 4 bytes after the shape are not read", 0,
		},
		{
			"PointZ with m and more, and with half of m", shp(pointZ, join(at(pointZ, 1, 2, 3, 4), behind),
				join(at(pointZ, 1, 2, 3), behind)),
			"geometry: geoarrow.point xyzm: POINT ZM (1 2 3 4) | POINT Z (1 2 3)\ncrs: none\ndeviations: " +
				"long-record 2\n" +
				"deviation: byte 100, row 0, \"geometry\": long-record: the 4 bytes after the shape are not read\n" +
				"deviation: byte 148, row 1, \"geometry\": long-record: the 4 bytes after the shape are not read", 0,
		},
		{
			"PolyLineZ with half of the measures", shp(polyLineZ, parts(polyLineZ, []xy{{0, 0, 1, 1}},
				ordinates(1, 2), ordinates(1))),
			"geometry: geoarrow.linestring xyz: LINESTRING Z (0 0 1, 1 1 2)\ncrs: none\ndeviations: long-record 1\n" +
				"deviation: byte 100, row 0, \"geometry\": long-record: the 24 bytes after the shape are not read", 0,
		},
	})
}

// deviated returns a table's text with one deviation of a row.
func deviated(table, place, rule, done string) string {
	return table + "\ncrs: none\ndeviations: " + rule + " 1\ndeviation: " + place + ": " + rule + ": " + done
}

// turned returns the contents of a polygon of these points with other numbers of first points.
func turned(points xy, firsts ...uint32) []byte {
	head := join(words(polygon), doubles(0, 0, 0, 0), words(uint32(len(firsts)), uint32(len(points)/2)),
		words(firsts...))
	return join(head, doubles(points...))
}

func TestModes(t *testing.T) {
	good, two := parts(polygon, []xy{squareAt(0)}), append(squareAt(0), squareAt(5)...)
	const a = "POLYGON ((0 0, 0 1, 1 1, 1 0, 0 0))"
	const wkb, plain = "geometry: geoarrow.wkb ", "geometry: geoarrow.polygon "
	const place = `byte 272, row 1, "geometry"`
	for _, c := range []struct {
		name          string
		bad           []byte
		nulled        string // how the second row is read under null, if that is another rule than bad-shape
		place         string
		encoding      string
		row           string // under repair
		rule, mending string
	}{
		{
			"another type", at(point, 1, 2), "shape-type", `byte 244, row 1, "geometry"`, wkb + "xy",
			"POINT (1 2)", "shape-type", "read as a Point in a file of Polygon",
		},
		{
			"an unknown type", words(77), "bad-shape", `byte 244, row 1, "geometry"`, plain + "xy", "null",
			"bad-shape", "geometry is null",
		},
		{
			"too short", good[:120], "bad-shape", `byte 280, row 1, "geometry"`, plain + "xy", "null",
			"bad-shape", "geometry is null",
		},
		{"part 1 of a ring", turned(squareAt(0), 1), "bad-shape", `byte 288, row 1, "geometry"`, plain +
			"xy", a, "part-index", "points are counted from 1"},
		{
			"a point in no part", turned(append(xy{9, 9}, squareAt(0)...), 1), "bad-shape",
			`byte 288, row 1, "geometry"`, plain + "xy", a,
			"part-index", "the 1 points before part 0 are left out",
		},
		{
			"parts counted from 1", turned(two, 1, 6), "bad-shape", `byte 288, row 1, "geometry"`,
			"geometry: geoarrow.multipolygon xy",
			"MULTIPOLYGON (((0 0, 0 1, 1 1, 1 0, 0 0)), ((5 0, 5 1, 6 1, 6 0, 5 0)))", "part-index",
			"points are counted from 1",
		},
		{
			"the first number alone", turned(two, 2, 5), "bad-shape", `byte 288, row 1, "geometry"`,
			"geometry: geoarrow.multipolygon xy",
			"MULTIPOLYGON (((0 0, 0 1, 1 1, 1 0, 0 0)), ((5 0, 5 1, 6 1, 6 0, 5 0)))", "part-index",
			"part 0 begins at point 0",
		},
		{
			"a part without points", turned(two, 0, 5, 5), "bad-shape", `byte 296, row 1, "geometry"`,
			plain + "xy", "null", "bad-shape", "geometry is null",
		},
	} {
		file := shp(polygon, good, c.bad, good)
		check(t, siblingFiles{options: map[string]any{"on_error": "null"}}, []shpCase{{
			c.name + ", null", file, deviated(plain+"xy: "+a+" | null | "+a, c.place, c.nulled, "geometry is null"), 0,
		}})
		check(t, siblingFiles{options: map[string]any{"on_error": "repair"}}, []shpCase{{
			c.name + ", repair", file, deviated(c.encoding+": "+a+" | "+c.row+" | "+a, c.place, c.rule, c.mending), 0,
		}})
	}
}

func TestRepairOfRecords(t *testing.T) {
	three := shp(point, at(point, 1, 2), at(point, 3, 4), at(point, 5, 6)) // records at 100, 128 and 156
	const points = "geometry: geoarrow.point xy: POINT (1 2) | POINT (3 4) | POINT (5 6)"
	repair := siblingFiles{options: map[string]any{"on_error": "repair"}}
	check(t, repair, []shpCase{
		{"a wrong number", put(three, 131, 7), deviated(points, `byte 128, row 1, ""`, "record-number",
			"record 7 is read as 2"), 0},
		{"a length too short", put(three, 135, 8), deviated(points, `byte 132, row 1, ""`, "record-length",
			"the content has the 20 bytes of its shape, not 16"), 0},
		{"a length too long", put(three, 135, 14), deviated(points, `byte 132, row 1, ""`, "record-length",
			"the content has the 20 bytes of its shape, not 28"), 0},
		{"a last length too long", put(three, 163, 14), deviated(points, `byte 160, row 2, ""`, "record-length",
			"the content has the 20 bytes of its shape, not 28"), 0},
		{"cut", three[:183], "the file ends inside of a record", 160},
		{
			"bytes after the last record", append(three[:len(three):len(three)], 0, 0),
			"the file ends inside of a record", 184,
		},
	})
	// Record 1 is as long as if it held record 2 too, which is so of the lengths of all records, or
	// not of their numbers.
	four, want := shp(point, at(point, 1, 2), at(point, 3, 4), at(point, 5, 6), at(point, 7, 8)),
		points+" | POINT (7 8)"
	hides := put(four, 135, 24)
	repair.siblings = number("   1", "   2", "   3", "   4")
	const attributes = "N: int32: 1 | 2 | 3 | 4\n"
	check(t, repair, []shpCase{
		{
			"a length that hides a record, with attributes", hides,
			attributes + deviated(want, `byte 132, row 1, ""`, "record-length",
				"the content has the 20 bytes of its shape, not 48"), 0,
		},
	})
	repair.siblings[".shx"] = shx(100, 20, 128, 20, 156, 20, 184, 20)
	const byIndex = "the content has the 20 bytes that the .shx says, not "
	check(t, repair, []shpCase{
		{"a length that hides a record, with an index", hides, attributes + deviated(want, `byte 132, row 1, ""`,
			"record-length", byIndex+"48"), 0},
		{"a length beyond the file, with an index", put(four, 134, 1), attributes +
			deviated(want, `byte 132, row 1, ""`, "record-length", byIndex+"532"), 0},
		{
			"a length that hides a record of another number, with an index", put(hides, 159, 9),
			attributes + want + "\ncrs: none\n" +
				"deviations: record-length 1\ndeviations: record-number 1\n" +
				`deviation: byte 132, row 1, "": record-length: ` + byIndex + "48\n" +
				`deviation: byte 156, row 2, "": record-number: record 9 is read as 3`, 0,
		},
	})
	repair.siblings = index(shx(100, 20, 128, 20, 156, 20))
	check(t, repair, []shpCase{
		{"a wrong number, with an index", put(three, 131, 7), deviated(points, `byte 128, row 1, ""`,
			"record-number", "record 7 is read as 2"), 0},
		{
			"a length that hides the last record, which no number says", put(three, 135, 24),
			"geometry: geoarrow.point xy: POINT (1 2) | POINT (3 4)\ncrs: none\n" +
				"deviations: long-record 1\n" +
				`deviation: byte 128, row 1, "geometry": long-record: the 28 bytes after the shape are not read`, 0,
		},
	})
	check(t, siblingFiles{options: map[string]any{"on_error": "null"}}, []shpCase{
		{
			"null is not for numbers", put(three, 131, 7),
			"the .shx must say where they are (ESRI Shapefile Technical Description, July 1998); on_error: repair " +
				"reads the rest", 128,
		},
	})
}

// TestRecordsReadAgain has batches that read parts of parts again, since characters of theirs are
// replaced: a record has the number then that it had the first time.
func TestRecordsReadAgain(t *testing.T) {
	four := shp(point, at(point, 1, 2), at(point, 3, 4), at(point, 5, 6), at(point, 7, 8)) // at 100, 128, 156 and 184
	const want = "C: string: \"a\ufffd\" | \"b\" | \"c\" | \"\ufffdd\"\ngeometry: geoarrow.point xy: " +
		"POINT (1 2) | POINT (3 4) | POINT (5 6) | POINT (7 8)\ncrs: none\nreplaced characters: 2"
	const mended = "\ndeviations: record-length 1\n" +
		`deviation: byte 132, row 1, "": record-length: the content has the 20 bytes `
	for _, c := range []struct {
		name        string
		file, index []byte
		deviations  string
	}{
		{"a length that hides a record", put(four, 135, 24), nil, mended + "of its shape, not 48"},
		{
			"a length that hides a record, with an index", put(four, 135, 24), shx(100, 20, 128, 20, 156, 20, 184, 20),
			mended + "that the .shx says, not 48",
		},
		{"an index of other records", four, shx(100, 20, 128, 48, 184, 20), ""},
		{"an index of more records", four, shx(100, 4, 112, 8, 128, 20, 156, 20, 184, 20), ""},
	} {
		with := siblingFiles{
			options:  map[string]any{"on_error": "repair"},
			siblings: map[string][]byte{".cpg": []byte("UTF-8")},
		}
		with.siblings[".dbf"] = dbf([]field{{"C", 'C', 2, 0}}, " a\xff", " b ", " c ", " \xffd")
		if c.index != nil {
			with.siblings[".shx"] = c.index
		}
		check(t, with, []shpCase{{c.name, c.file, want + c.deviations, 0}})
	}
}

func TestAttributesOfNull(t *testing.T) {
	file := shp(point, at(point, 1, 2), at(point, 3, 4), at(point, 5, 6))
	const points = "geometry: geoarrow.point xy: POINT (1 2) | POINT (3 4) | POINT (5 6)"
	for _, mode := range []string{"null", "repair"} {
		with := siblingFiles{options: map[string]any{"on_error": mode}}
		with.siblings = number("   1", "   2")
		check(t, with, []shpCase{{"fewer attributes, " + mode, file, "N: int32: 1 | 2 | null\n" +
			deviated(points, `byte 156, row 2, ""`, "no-attributes", "attributes are null"), 0}})
		with.siblings = number("   1", "   2", "   3", "   4", "   5")
		check(t, with, []shpCase{{
			"more attributes, " + mode, file, "N: int32: 1 | 2 | 3\n" + points +
				"\ncrs: none\ndeviations: no-shape 2\n" +
				`deviation: byte 184, row 3, "": no-shape: 2 records of a.dbf have no shape and are left out`, 0,
		}})
		with.siblings = number("   1", "*  2", "   x")
		check(t, with, []shpCase{{
			"a bad value and a deleted record, " + mode, put(file, 136, 77), "N: int32: 1 | null\n" +
				deviated("geometry: geoarrow.point xy: POINT (1 2) | POINT (5 6)", `byte 156, row 2, "N"`,
					"bad-number", "value is null"), 0,
		}})
	}
}

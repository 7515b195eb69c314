package shapefile_test

import (
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/shapefile"
)

// put returns a file with other bytes at an offset.
func put(file []byte, offset int, b ...byte) []byte {
	file = append([]byte(nil), file...)
	copy(file[offset:], b)
	return file
}

func TestStructure(t *testing.T) {
	two := shp(point, at(point, 1, 2), at(point, 3, 4)) // records at 100 and 128
	points := "geometry: geoarrow.point xy: POINT (1 2) | POINT (3 4)"
	check(t, alone, []shpCase{
		{"the length in the header is wrong", put(two, 24, 0, 0, 0, 9), points, 0},
		{"boxes are wrong", put(two, 36, 1, 2, 3, 4, 5, 6, 7, 8), points, 0},
		{"the header is cut", two[:99], "the file ends in its header of 100 bytes", 99},
		{"version", put(two, 28, 1), "the version is 769, expected 1000", 28},
		{"no shape type", put(two, 32, 2), "the shape type of the file is 2, which is none", 32},
		{"no shape type with z", put(two, 32, 17), "the shape type of the file is 17, which is none", 32},
		{"an unknown shape type", put(two, 32, 255, 255, 255, 255), "which is none", 32},
		{
			"cut in the second record's header", two[:135],
			"record 1: the file ends inside of a record: 7 bytes are left, expected a header of 8", 128,
		},
		{
			"cut in the second record", two[:155],
			"record 1: the file ends inside of a record: its content has 20 bytes, of which 19 are there", 132,
		},
		{
			"bytes after the last record", append(two[:len(two):len(two)], 0),
			"record 2: the file ends inside of a record: 1 bytes are left", 156,
		},
		{
			"a length beyond the file", put(two, 104, 0xff, 0xff, 0xff, 0xff),
			"record 0: the file ends inside of a record: its content has 8589934590 bytes", 104,
		},
		{"numbers out of sequence", put(two, 131, 7), "record 1: the record has the number 7, expected 2", 128},
		{"the first number", put(two, 103, 2), "record 0: the record has the number 2, expected 1", 100},
	})
	if _, err := readertest.Check(t, shapefile.Format(), readertest.Input{Name: "a.shp"}); err == nil {
		t.Error("empty file: got no error")
	} else if at, _ := readertest.Place(err); at == nil || at.Offset != 0 {
		t.Errorf("empty file: got %v, want an error at byte 0", err)
	}
	if _, err := readertest.Check(t, shapefile.Format(), readertest.Input{
		Name: "a.shp",
		Text: []byte("PK\x03\x04 no shapefile"),
	}); err == nil {
		t.Error("another file: got no error")
	}
}

func TestMalformedShapes(t *testing.T) {
	good := at(point, 1, 2)
	one, ring := parts(polygon, []xy{square(0, 0, 1)}), parts(polygon, []xy{square(0, 0, 1), square(5, 5, 1)})
	strip := patch(multiPatch, []uint32{0}, []xy{{0, 0, 0, 1, 1, 1}}, ordinates(1, 2, 3))
	for _, c := range []struct {
		name   string
		kind   uint32
		bad    []byte
		offset int64 // in the content
		want   string
	}{
		{"no content", point, nil, 0, "a content of 0 bytes has no room for a shape type"},
		{"half a type", point, []byte{1, 0}, 0, "a content of 2 bytes has no room for a shape type"},
		{"another type", point, at(pointZ, 1, 2, 3), 0, "the shape is a PointZ in a file of Point"},
		{"an unknown type", point, words(77), 0, "the shape is a type 77 in a file of Point"},
		{"a short point", point, good[:18], 4, "a Point has 18 bytes, expected 20"},
		{"a short PointZ", pointZ, at(pointZ, 1, 2), 4, "a PointZ has 20 bytes, expected 28, or 36 with measures"},
		{"a short polygon", polygon, one[:42], 0, "a Polygon has 42 bytes, expected 44 at least"},
		{
			"a MultiPoint without count", multiPoint, several(multiPoint, nil)[:38], 0,
			"a MultiPoint has 38 bytes, expected 40 at least",
		},
		{
			"2^32-1 points", polygon, put(one, 40, 255, 255, 255, 255), 36,
			"a Polygon of 1 parts with 4294967295 points has 128 bytes",
		},
		{
			"2^32-1 parts", polygon, put(one, 36, 255, 255, 255, 255), 36,
			"a Polygon of 4294967295 parts with 5 points has 128 bytes",
		},
		{
			"points in no part", polygon, join(words(polygon), doubles(0, 0, 0, 0), words(0, 1), doubles(1, 2)),
			36, "1 points are in no part",
		},
		{"a part without points", polygon, put(ring, 48, 0), 48, "part 1 begins at point 0, expected 1 or more"},
		{"a part after all points", polygon, put(ring, 48, 10), 48, "part 1 begins at point 10 of 10"},
		{"the first part", polygon, put(ring, 44, 1), 44, "part 0 begins at point 1, expected 0"},
		{
			"a part of no points", polygon, join(words(polygon), doubles(0, 0, 0, 0), words(1, 0, 0)), 44,
			"part 0 begins at point 0 of 0",
		},
		{"a negative part", polygon, put(ring, 48, 255, 255, 255, 255), 48, "part 1 begins at point 4294967295 of 10"},
		{"an unknown kind of a part", multiPatch, put(strip, 48, 7), 48, "part 0 is of kind 7, which is none"},
		{
			"a strip of two points", multiPatch, patch(multiPatch, []uint32{1}, []xy{{0, 0, 1, 1}}, ordinates(1, 2)),
			48, "part 0 is a strip or fan of 2 points",
		},
		{"four points for triangles", multiPatch, patch(multiPatch, []uint32{6}, []xy{{0, 0, 1, 1, 2, 2, 3, 3}},
			ordinates(1, 2, 3, 4)), 48, "part 0 is triangles of 4 points"},
	} {
		file := shp(c.kind, nothing, c.bad, nothing)
		check(t, alone, []shpCase{
			{c.name, file, "a.shp: shapefile: byte ", 120 + c.offset},
			{c.name, file, "record 1, geometry: " + c.want, 120 + c.offset},
		})
		if testing.Short() {
			continue
		}
		check(t, siblingFiles{options: map[string]any{"on_error": "skip"}},
			[]shpCase{{
				c.name + ", skipped", file,
				"geometry: geoarrow.wkb xy: null | null\ncrs: none\nskipped: 1 at [112]", 0,
			}})
	}
}

func TestSkipIsNotForStructure(t *testing.T) {
	two := shp(point, at(point, 1, 2), at(point, 3, 4))
	check(t, siblingFiles{options: map[string]any{"on_error": "skip"}}, []shpCase{
		{"cut", two[:155], "of which 19 are there", 132},
		{"out of sequence", put(two, 131, 7), "the record has the number 7", 128},
	})
}

func TestLimits(t *testing.T) {
	file := shp(polygon, nothing, parts(polygon, []xy{square(0, 0, 1)}))
	in := readertest.Input{Name: "a.shp", Text: file, Limits: readers.Limits{MaxFeatureBytes: 127}}
	_, err := readertest.Check(t, shapefile.Format(), in)
	const want = "a.shp: record 1, of 128 bytes, is beyond the limit 127 of --max-feature-bytes"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	readertest.Same(t, shapefile.Format(), in, sizes(len(file)), windows, parallel)
}

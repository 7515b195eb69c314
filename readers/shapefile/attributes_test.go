package shapefile_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/shapefile"
)

// number returns a table with one field of integers.
func number(records ...string) map[string][]byte {
	return map[string][]byte{".dbf": dbf([]field{{"N", 'N', 3, 0}}, records...)}
}

func skipping(siblings map[string][]byte) siblingFiles {
	return siblingFiles{siblings: siblings, options: map[string]any{"on_error": "skip"}}
}

// broken is the content of a record that is no point.
var broken = words(point, 0)

func TestAttributes(t *testing.T) {
	p := at(point, 1, 2)
	three := shp(point, p, nothing, at(point, 5, 6)) // records at 100, 128, 140
	const geometry = "\ngeometry: geoarrow.point xy: "
	check(t, siblingFiles{siblings: number("   1", "   2", "    ")}, []shpCase{
		{"by number", three, "N: int32: 1 | 2 | null" + geometry + "POINT (1 2) | null | POINT (5 6)", 0},
		{"too many", shp(point, p, p), "the file ends, but a.dbf has 3 records", 156},
		{"too many for no shape", shp(point), "the file ends, but a.dbf has 3 records", 100},
		{"too few", shp(point, p, p, p, p, broken), "record 3: the shape has no attributes: a.dbf has 3 records", 184},
		{"a malformed shape before", shp(point, p, broken, p, p), "record 1, geometry: a Point has 8 bytes", 140},
		{"a cut file with too few", shp(point, p, p, p, p)[:200], "of which 8 are there", 188},
	})
	check(t, siblingFiles{siblings: number("   1", "*  2", "   3")}, []shpCase{
		{"B10: deleted", three, "N: int32: 1 | 3" + geometry + "POINT (1 2) | POINT (5 6)", 0},
		{"B10: deleted with a malformed shape", shp(point, p, broken, p), "N: int32: 1 | 3" + geometry +
			"POINT (1 2) | POINT (1 2)", 0},
		{"a malformed shape after", shp(point, p, broken, broken), "record 2, geometry: a Point has 8 bytes", 156},
	})
	check(t, siblingFiles{siblings: number("*  1", "*  2", "*  3")}, []shpCase{
		{"all deleted", three, "N: int32:\ngeometry: geoarrow.wkb xy:", 0},
	})
	check(t, siblingFiles{siblings: number("   1", "*  2", "   3"), options: map[string]any{"include_deleted": "true"}},
		[]shpCase{
			{"deleted ones included", three, "N: int32: 1 | 2 | 3" + geometry + "POINT (1 2) | null | POINT (5 6)", 0},
		})
	check(t, siblingFiles{siblings: number("   1", " 1,5", "   3")}, []shpCase{
		{"a malformed attribute", three, "record 1, N: attributes: a.dbf: dbf: byte 70, record 1, N: ", 128},
		{"a malformed shape before it", shp(point, broken, p, p), "record 0, geometry: a Point has 8 bytes", 112},
		{
			"a malformed shape of the same record", shp(point, p, broken, p),
			"record 1, geometry: a Point has 8 bytes", 140,
		},
		{"a malformed shape after it", shp(point, p, p, broken), "record 1, N: attributes: ", 128},
	})
	check(t, siblingFiles{siblings: number("*  1", " 1,5", "   3")}, []shpCase{
		{
			"a malformed attribute after a deleted record with a malformed shape", shp(point, broken, p, p),
			"record 1, N: attributes: ", 116,
		},
	})
}

func TestSkippedAttributes(t *testing.T) {
	p := at(point, 1, 2)
	const geometry = "\ngeometry: geoarrow.point xy: "
	check(t, skipping(number("   1", " 1,5", "   3")), []shpCase{
		{"a malformed attribute", shp(point, p, p, p), "N: int32: 1 | 3" + geometry +
			"POINT (1 2) | POINT (1 2)\ncrs: none\nskipped: 1 at [128]", 0},
		{"with a malformed shape", shp(point, p, broken, p), "N: int32: 1 | 3" + geometry +
			"POINT (1 2) | POINT (1 2)\ncrs: none\nskipped: 1 at [128]", 0},
		{"after a malformed shape", shp(point, broken, p, p), "N: int32: 3" + geometry +
			"POINT (1 2)\ncrs: none\nskipped: 2 at [100 116]", 0},
		{"too few", shp(point, p, p, p, p, broken), "N: int32: 1 | 3" + geometry +
			"POINT (1 2) | POINT (1 2)\ncrs: none\nskipped: 3 at [128 184 212]", 0},
		{"too many", shp(point, p), "N: int32: 1" + geometry + "POINT (1 2)\ncrs: none\nskipped: 2 at [128]", 0},
	})
	check(t, skipping(number("   1", " 2.5", "   3", "*  4")), []shpCase{
		{"what is skipped has no say in types", shp(point, p, broken, p, p), "N: int32: 1 | 3" + geometry +
			"POINT (1 2) | POINT (1 2)\ncrs: none\nskipped: 1 at [128]", 0},
		{"types before and after differ", shp(point, broken, p, broken, p), "N: float64: 2.5" + geometry +
			"POINT (1 2)\ncrs: none\nskipped: 2 at [100 144]", 0},
		{
			"nothing is left", shp(point, broken, broken, broken, p),
			"N: int32:\ngeometry: geoarrow.wkb xy:\ncrs: none\nskipped: 3 at [100 116 132]", 0,
		},
	})
	check(t, skipping(number("   1", "   2", " 3.5")), []shpCase{
		{"integers and fractions around it", shp(point, p, broken, p), "N: float64: 1 | 3.5" + geometry +
			"POINT (1 2) | POINT (1 2)\ncrs: none\nskipped: 1 at [128]", 0},
	})
	promised := number("   1", "   2")
	promised[".dbf"][4] = 5
	check(t, skipping(promised), []shpCase{
		{"a cut .dbf", shp(point, p, p, p), "N: int32: 1 | 2" + geometry +
			"POINT (1 2) | POINT (1 2)\ncrs: none\nskipped: 3 at [156 184]", 0},
	})
}

// What a part counts does not say in which of its rows, so batches that end inside of parts read
// their rows again.
func TestReplacedCharacters(t *testing.T) {
	table := dbf([]field{{"C", 'C', 2, 0}}, " a\xff", "*d ", " b ", " \xffc")
	check(t, siblingFiles{siblings: map[string][]byte{".dbf": table, ".cpg": []byte("UTF-8")}}, []shpCase{
		{
			"replaced", shp(point, at(point, 1, 2), nothing, nothing, at(point, 3, 4)),
			"C: string: \"a\ufffd\" | \"b\" | \"\ufffdc\"\ngeometry: geoarrow.point xy: POINT (1 2) | null | POINT " +
				"(3 4)\ncrs: none\nreplaced characters: 2", 0,
		},
	})
}

// A geometry column leaves no room for an attribute of its name.
func TestAttributeCalledGeometry(t *testing.T) {
	siblings := map[string][]byte{".dbf": dbf([]field{{"geometry", 'C', 2, 0}}, " ab")}
	check(t, siblingFiles{siblings: siblings}, []shpCase{
		{
			"geometry", shp(point, at(point, 1, 2)),
			"geometry_1: string: \"ab\"\ngeometry: geoarrow.point xy: POINT (1 2)", 0,
		},
	})
}

func TestMalformedTable(t *testing.T) {
	in := readertest.Input{Name: "a.shp", Text: shp(point), Siblings: map[string][]byte{".dbf": []byte("no table")}}
	_, err := readertest.Check(t, shapefile.Format(), in)
	if err == nil || !strings.HasPrefix(err.Error(), "a.shp: shapefile: byte 0: attributes: a.dbf: dbf: byte ") {
		t.Errorf("got %v, want an error of a.dbf", err)
	}
	in = readertest.Input{
		Name: "a.shp", Text: shp(point), Siblings: number(),
		Options: map[string]any{"encoding": "klingon"},
	}
	_, err = readertest.Parse(t, shapefile.Format(), in)
	var option *readers.OptionError
	if !errors.As(err, &option) || option.Option != "encoding" {
		t.Errorf("got %v, want an error of the option encoding", err)
	}
}

func TestSpellings(t *testing.T) {
	for _, ext := range []string{".dbf", ".DBF", ".Dbf"} {
		in := readertest.Input{
			Name: "a.shp", Text: shp(point, nothing),
			Siblings: map[string][]byte{ext: number("   7")[".dbf"], ".PRJ": []byte("EPSG:1")},
		}
		table, err := readertest.Check(t, shapefile.Format(), in)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := columns(table), "N: int32: 7\ngeometry: geoarrow.wkb xy: null\ncrs: text \"EPSG:1\""; got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", ext, got, want)
		}
	}
}

func TestCRS(t *testing.T) {
	for _, c := range []struct{ name, prj, want string }{
		{"none", "", ""},
		{"blank", " \r\n\x00", ""},
		{"a code", `GEOGCS["WGS 84",AUTHORITY["EPSG","4326"]]`, "\ncrs: EPSG:4326"},
		{"text, with a byte order mark", "\uFEFFGEOGCS[\"a\"]\n", "\ncrs: text \"GEOGCS[\\\"a\\\"]\""},
		{"not UTF-8", "GEOGCS[\"\xe9\"]", "\ncrs: text \"GEOGCS[\\\"\ufffd\\\"]\""},
	} {
		check(t, siblingFiles{siblings: map[string][]byte{".prj": []byte(c.prj)}}, []shpCase{
			{c.name, shp(point, at(point, 1, 2)), "geometry: geoarrow.point xy: POINT (1 2)" + c.want, 0},
		})
	}
	in := readertest.Input{Name: "a.shp", Text: shp(point), Siblings: map[string][]byte{".prj": make([]byte, 1<<20+1)}}
	if _, err := readertest.Check(t, shapefile.Format(), in); err == nil || !strings.Contains(err.Error(),
		"a.prj has 1048577 bytes") {
		t.Errorf("got %v, want an error of a.prj", err)
	}
}

// Many records, in parts that hold some of each: rows in the order of the file, a caller that reads
// them.
func TestManyRecords(t *testing.T) {
	var contents [][]byte
	var records []string
	for i := range 1000 {
		flag, v := " ", float64(i)
		switch {
		case i%7 == 0:
			contents = append(contents, nothing)
		case i%5 == 0:
			contents = append(contents, parts(polygon, []xy{hole(v+1, 1, 1), square(v, 0, 4), square(v, 9, 1)}))
		default:
			contents = append(contents, parts(polygon, []xy{square(v, 0, 1)}))
		}
		if i%11 == 0 {
			flag = "*"
		}
		records = append(records, fmt.Sprintf("%s%4d", flag, i))
	}
	siblings := map[string][]byte{".dbf": dbf([]field{{"N", 'N', 4, 0}}, records...)}
	in := readertest.Input{Name: "a.shp", Text: shp(polygon, contents...), Siblings: siblings}
	table, err := readertest.Check(t, shapefile.Format(), in)
	if err != nil || table.Rows != 1000-91 {
		t.Fatalf("%v rows, error %v, want %d", table, err, 1000-91)
	}
	readertest.Same(t, shapefile.Format(), in, []int{500, 10_000, 50_000}, windows, parallel)
	in.Limits.BatchRows = 100
	readertest.Same(t, shapefile.Format(), in, []int{5000}, windows, parallel)
}

// A memo that is too long is met where it is: what is malformed before it, or in its record,
// comes first.
func TestMemoLimitAndErrors(t *testing.T) {
	memos := append(make([]byte, 512), bytes.Repeat([]byte{'x'}, 2000)...)
	good, bad := at(point, 1, 2), at(point, 1)
	for _, c := range []struct {
		name     string
		contents [][]byte
		records  []string
		want     string
		offset   int64
	}{
		{
			"the shape first",
			[][]byte{good, bad, good, good},
			[]string{"  ", "  ", "  ", " 1"},
			"record 1, geometry: a Point has 12 bytes, expected 20", 140,
		},
		{
			"the memo first",
			[][]byte{good, good, bad},
			[]string{"  ", " 1", "  "},
			"beyond the limit 1000 of --max-feature-bytes", 0,
		},
		{
			"both in one record",
			[][]byte{good, bad, good},
			[]string{"  ", " 1", "  "},
			"record 1, geometry: a Point has 12 bytes, expected 20", 140,
		},
		{
			"the shape first, of a deleted record",
			[][]byte{good, bad, good},
			[]string{"  ", "* ", " 1"},
			"beyond the limit 1000 of --max-feature-bytes", 0,
		},
		{
			"two shapes, the first of a deleted record",
			[][]byte{bad, bad, good},
			[]string{"* ", "  ", " 1"},
			"record 1, geometry: a Point has 12 bytes, expected 20", 132,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := readertest.Input{
				Name: "a.shp", Text: shp(point, c.contents...), Limits: readers.Limits{MaxFeatureBytes: 1000},
				Siblings: map[string][]byte{".dbf": dbf([]field{{"M", 'M', 1, 0}}, c.records...), ".dbt": memos},
			}
			_, err := readertest.Check(t, shapefile.Format(), in)
			if c.offset > 0 {
				checkFault(t, err, c.offset, c.want)
			} else if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %s", err, c.want)
			}
			readertest.Same(t, shapefile.Format(), in, sizes(len(in.Text)), windows, parallel)
		})
	}
}

// TestSharedMemos: a part ends where the memos of its records pass some parts' worth, and a batch
// counts them, whatever else is wrong with the records.
func TestSharedMemos(t *testing.T) {
	memos := append(make([]byte, 512), bytes.Repeat([]byte{'x'}, 3000)...)
	for _, bad := range []bool{false, true} {
		var contents [][]byte
		var records []string
		for i := range 300 {
			contents, records = append(contents, at(point, float64(i), 2)), append(records, " 1")
			switch {
			case i%7 == 3:
				records[i] = "*1"
			case i%11 == 5 && bad:
				contents[i] = at(point, 1)
			case i%5 == 1:
				records[i] = "  "
			}
		}
		in := readertest.Input{
			Name: "a.shp", Text: shp(point, contents...), Limits: readers.Limits{BatchBytes: 20_000, PartBytes: 4000},
			Options:  map[string]any{"on_error": "skip"},
			Siblings: map[string][]byte{".dbf": dbf([]field{{"M", 'M', 1, 0}}, records...), ".dbt": memos},
		}
		table, err := readertest.Check(t, shapefile.Format(), in)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range table.Batches {
			if got := len(b.Attributes[0].Values); got > 24_000 || i+1 < len(table.Batches) && got < 18_000 {
				t.Errorf("malformed shapes: %v: batch %d has %d bytes of memos, want about 20,000", bad, i, got)
			}
		}
		readertest.Same(t, shapefile.Format(), in, []int{28, 1000, 5000}, windows, parallel)
	}
}

// A table without fields, as programs write it that have no attributes, says which records are
// deleted, and how many there are.
func TestNoFields(t *testing.T) {
	siblings := map[string][]byte{".dbf": dbf(nil, " ", "*", " ")}
	p := at(point, 1, 2)
	check(t, siblingFiles{siblings: siblings}, []shpCase{
		{"deleted", shp(point, p, p, nothing), "geometry: geoarrow.point xy: POINT (1 2) | null", 0},
		{"too few", shp(point, p, p, p, p), "record 3: the shape has no attributes: a.dbf has 3 records", 184},
	})
	check(t, skipping(siblings), []shpCase{
		{
			"a malformed shape", shp(point, broken, p, p),
			"geometry: geoarrow.point xy: POINT (1 2)\ncrs: none\nskipped: 1 at [100]", 0,
		},
		{
			"between others", shp(point, p, p, p, broken, p),
			"geometry: geoarrow.point xy: POINT (1 2) | POINT (1 2)\ncrs: none\nskipped: 2 at [184 200]", 0,
		},
	})
	siblings[".dbf"] = dbf(nil, " ", " ", " ")
	check(t, skipping(siblings), []shpCase{
		{
			"a malformed shape between others", shp(point, p, broken, p),
			"geometry: geoarrow.point xy: POINT (1 2) | POINT (1 2)\ncrs: none\nskipped: 1 at [128]", 0,
		},
	})
	siblings[".dbf"] = dbf(nil)
	check(t, siblingFiles{siblings: siblings}, []shpCase{{"no record", shp(point), "geometry: geoarrow.wkb xy:", 0}})
}

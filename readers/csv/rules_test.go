package csv_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

type options = map[string]any

// header returns the columns of a table, "name: type" each.
func header(t *readers.Table) string {
	columns, _, _ := strings.Cut(readertest.Rows(t), "\ncrs: ")
	return strings.ReplaceAll(columns, "\n", ", ")
}

func parse(t *testing.T, name, text string, opts options) (*readers.Table, error) {
	t.Helper()
	in := readertest.Input{Name: name, Text: []byte(text), Options: opts}
	readertest.Same(t, csv.Format(), in, []int{1, 2, 3, 5, 8, 13, len(text)}, variants...)
	return readertest.Check(t, csv.Format(), in)
}

// TestColumns is what a file's names and options make of its columns.
func TestColumns(t *testing.T) {
	for _, c := range []struct {
		name, text string
		opts       options
		want       string
	}{
		{"C14 latitude before y", "y,x,lat,lon\n1,2,3,4\n", nil, "y: int32, x: int32, geometry: geoarrow.point xy"},
		{
			"cell before a pair", "lat,lon,geom\n1,2,POINT(3 4)\n", nil,
			"lat: int32, lon: int32, geometry: geoarrow.point xy",
		},
		{
			"names of cells have an order", "geometry,wkt\nPOINT(1 2),POINT(3 4)\n", nil,
			"geometry_1: string, geometry: geoarrow.point xy",
		},
		{
			"a cell that is none, then a pair", "geom,lat,lon\ncircle,1,2\n", nil,
			"geom: string, geometry: geoarrow.point xy",
		},
		{"any case, blanks around", " LAT ,LoNgItUdE\n1,2\n", nil, "geometry: geoarrow.point xy"},
		{"prefix", "a,pickup.lng,pickup.lat\n1,2,3\n", nil, "a: int32, geometry: geoarrow.point xy"},
		{"two prefixes", "a_lat,b_lon\n1,2\n", nil, "a_lat: int32, b_lon: int32"},
		{"no prefix of x", "a_x,a_y\n1,2\n", nil, "a_x: int32, a_y: int32"},
		{"a word is no prefix", "flat,flon\n1,2\n", nil, "flat: int32, flon: int32"},
		{"x goes with y", "x,lat\n1,2\n", nil, "x: int32, lat: int32"},
		{"first values after nulls", "lat,lon\n,\nNA,null\n,5\n4,\n3,4\n", nil, "geometry: geoarrow.point xy"},
		{"no value at all", "lat,lon,v\n,,1\n", nil, "lat: string, lon: string, v: int32"},
		{"an infinite first value", "lat,lon\ninf,1\n", nil, "lat: float64, lon: int32"},
		{"C15", "shape,lat,lon\ncircle,1,2\n", nil, "shape: string, geometry: geoarrow.point xy"},
		{
			"hexadecimal digits that are no WKB", "wkb\n0102030405060708090a0b0c0d0e0f101112131415161718\n",
			nil, "wkb: string",
		},
		{"the format is given, WKT is there", "wkb\nPOINT(1 2)\n", options{"geometry_format": "wkb"}, "wkb: string"},
		{
			"latitude and longitude", "n,e,lat,lon\n1,2,x,y\n",
			options{"latitude": "n", "longitude": "e"},
			"lat: string, lon: string, geometry: geoarrow.point xy",
		},
		{"a cell", "a,wkt\nPOINT(1 2),x\n", options{"geometry": "a"}, "wkt: string, geometry: geoarrow.point xy"},
		{"a cell without values", "a,b\n,1\n", options{"geometry": "a"}, "b: int32, geometry: geoarrow.wkb xy"},
		{"letters", "a,b,c,d\nT,Y,no,f\nT,Y,no,f\n", nil, "a: string, b: string, c: string, d: string"},
		{
			"Darwin Core next to what was written",
			"verbatimLatitude,verbatimLongitude,decimalLatitude,decimalLongitude\n5,6,1,2\n", nil,
			"verbatimLatitude: int32, verbatimLongitude: int32, geometry: geoarrow.point xy",
		},
		{
			"decimal degrees before others", "lat_va,long_va,dec_lat_va,dec_long_va\n403015,735000,40.5,-73.8\n",
			nil, "lat_va: int32, long_va: int32, geometry: geoarrow.point xy",
		},
		{
			"degrees out of range", "latitude_deg,longitude_deg\n91,2\n", nil,
			"latitude_deg: int32, longitude_deg: int32",
		},
		{"one word for both", "lat lon\n\"52.5, 13.4\"\n", nil, "geometry: geoarrow.point xy"},
		{"whole numbers are no pair", "lat lon\n\"52, 13\"\n", nil, "lat lon: string"},
		{"a place is none", "location\nParis\n", nil, "location: string"},
		{"units and punctuation", "LATITUDE [°];Long. (WGS84)\n1.5;2.5\n", nil, "geometry: geoarrow.point xy"},
		{"words of two languages", "Latitude;Longitud\n1.5;2.5\n", nil, "Latitude: float64, Longitud: float64"},
		{
			"plain names first", "decimalLatitude,decimalLongitude,lat,lon\n1,2,3,4\n", nil,
			"decimalLatitude: int32, decimalLongitude: int32, geometry: geoarrow.point xy",
		},
		{"easting", "Easting,Northing\n530000,180000\n", nil, "geometry: geoarrow.point xy"},
		{"coordinates of a point", "POINT_X,POINT_Y\n1,2\n", nil, "geometry: geoarrow.point xy"},
		{"thousands are no fractions", "x;y\n456,789;5\n", nil, "x: string, y: int32"},
		{"commas of metres", "x;y\n456789,5;5712345,25\n", nil, "geometry: geoarrow.point xy"},
		{"commas after whole numbers", "lat;lon\n52;13\n52,5;13\n", nil, "geometry: geoarrow.point xy"},
		{"a point by option", "lat;lon\n52,5;13,5\n", options{"decimal": "."}, "lat: string, lon: string"},
		{
			"named columns have commas", "a;b\n52,5;13,5\n",
			options{"latitude": "a", "longitude": "b"},
			"geometry: geoarrow.point xy",
		},
		{
			"a guess that is wrong", "lat,lon,v\n1,2,3\nx,2,3\n", nil,
			"lat: string, lon: string, v: int32, geometry: geoarrow.point xy",
		},
		{
			"a wrong guess of text", "lat,lon\n1,2\nx,2\n",
			options{"types": "string"},
			"lat: string, lon: string, geometry: geoarrow.point xy",
		},
		{"none", "lat,lon\n1,2\n", options{"geometry": "none"}, "lat: int32, lon: int32"},
		{
			"kept", "lat,lon\n1,2.5\n",
			options{"keep_geometry_columns": "true"},
			"lat: int32, lon: float64, geometry: geoarrow.point xy",
		},
		{"C16 a number in the first record", "a,1\nb,2\n", nil, "col_0: string, col_1: int32"},
		{"a number in quotes is a name", "a,\"1\"\nb,2\n", nil, "a: string, 1: int32"},
		{"nan is a name", "a,nan\nb,2\n", nil, "a: string, nan: int32"},
		{"no header has names that are taken", "1,2\n", nil, "col_0: int32, col_1: int32"},
		{
			"names that are taken", "col_1,,a,a,a_1\n1,2,3,4,5\n", nil,
			"col_1: int32, col_1_1: int32, a: int32, a_2: int32, a_1: int32",
		},
		{"all empty", "a,b\n,\n,\"\"\n", nil, "a: string, b: string"},
		{"bool with 0 and 1", "a\ntrue\n0\n", nil, "a: string"},
		{"date with int", "a\n2024-01-01\n5\n", nil, "a: string"},
		{"zones", "a\n2024-01-01T00:00:00+01:00\n2024-01-01T00:00:00+01:00\n", nil, "a: timestamp[ms, tz=+01:00]"},
		{"zone and none", "a\n2024-01-01T00:00Z\n2024-01-01T00:00\n", nil, "a: string"},
		{"nanoseconds far away", "a\n1000-01-01\n2024-01-01T00:00:00.123456789\n", nil, "a: string"},
		{"microseconds far away", "a\n1000-01-01\n2024-01-01T00:00:00.123456\n", nil, "a: timestamp[us]"},
		{
			"N6", "a,b,c,d,e,f,g\n1.2.3,1-2,--1,0x10,\"1,5\",1e,1_000\n", nil,
			"a: string, b: string, c: string, d: string, e: string, f: string, g: string",
		},
		{"N8", "a,b\n9223372036854775807,9223372036854775808\n", nil, "a: int64, b: string"},
		{"beyond float64", "a\n1.5\n1e400\n", nil, "a: string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := parse(t, "a.csv", c.text, c.opts)
			if err != nil {
				t.Fatalf("%q: %v", c.text, err)
			}
			if got := header(table); got != c.want {
				t.Errorf("%q\ngot  %s\nwant %s", c.text, got, c.want)
			}
		})
	}
}

// TestPassedFields is a record with fields after the last column, which are not read: they have no
// say in what is the geometry, whatever they hold and in every mode.
func TestPassedFields(t *testing.T) {
	for _, extra := range []string{`""6`, "\xff", `"a` + "\n" + `b"`, `"" ,""x`} {
		text := "a,x,y\n1,2\n3,\n3,4,5," + extra + "\n7\n"
		for _, mode := range []string{"fail", "skip", "null", "repair"} {
			table, err := parse(t, "a.csv", text, options{"ragged": "pad", "on_error": mode})
			if err != nil {
				t.Fatalf("%s: %q: %v", mode, text, err)
			}
			const want = "a: int32, geometry: geoarrow.point xy"
			if got := header(table); got != want {
				t.Errorf("%s: %q\ngot  %s\nwant %s", mode, text, got, want)
			}
			if sum := &table.Summary; !sum.Deviations.IsEmpty() || sum.Skipped.Count > 0 {
				t.Errorf("%s: %q: deviations %+v, %+v", mode, text, sum.Deviations, sum.Skipped)
			}
		}
	}
}

// TestDelimiters is C20: which one is found.
func TestDelimiters(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"comma", "a.csv", "a,b\n1,2\n", "a: int32, b: int32"},
		{"tab", "a.csv", "a\tb\n1\t2\n", "a: int32, b: int32"},
		{"semicolon", "a.csv", "a;b\n1;2\n", "a: int32, b: int32"},
		{"pipe", "a.csv", "a|b\n1|2\n", "a: int32, b: int32"},
		{"none", "a.csv", "a\n1\n", "a: int32"},
		{"in quotes", "a.csv", "\"a,b,c\";d\n\"1,2,3\";4\n", "a,b,c: string, d: int32"},
		{"in both records as often", "a.csv", "a,b,c;d\n1;2\n", "a,b,c: int32, d: int32"},
		{"the most fields", "a.csv", "a;b,c;d\n1;2,3;4\n", "a: int32, b,c: string, d: int32"},
		{"the first of equals", "a.csv", "a,b;c\n1,2;3\n", "a: int32, b;c: string"},
		{"tsv", "a.tsv", "a,b\n1,2\n", "a,b: string"},
		{"tab extension", "a.TAB", "a\tb,c\n1\t2\n", "a: int32, b,c: int32"},
		{"psv", "a.psv", "a|b\n1|2\n", "a: int32, b: int32"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := parse(t, c.file, c.text, nil)
			if err != nil {
				t.Fatalf("%q: %v", c.text, err)
			}
			if got := header(table); got != c.want {
				t.Errorf("%q\ngot  %s\nwant %s", c.text, got, c.want)
			}
		})
	}
}

// TestErrors finds the error at the mark, whatever the windows and the workers.
func TestErrors(t *testing.T) {
	named := options{"latitude": "lat", "longitude": "lon"}
	for _, c := range []struct {
		name, text string
		opts       options
		row        int64
		field      string
	}{
		{"C13 short", "a,b,c\n1,2¦\n", nil, 0, ""},
		{"C13 long", "a,b\n1,2\n1,2,¦3\n", nil, 1, ""},
		{"an empty field too many", "a,b\n1,2,¦\n", nil, 0, ""},
		{"short at the end of the file", "a,b\n1,2\n3¦", nil, 1, ""},
		{"after a quote", "a,b\n\"x\"¦ ,1\n", nil, 0, "a"},
		{"C19 a blank in front of a quote", "a,b,c\n1, \"a,b\",¦2\n", nil, 0, ""},
		{"an open quote", "a,b\n1,¦\"x\n2,3\n", nil, 0, "b"},
		{"an open quote in the header", "a,¦\"b\n1,2\n", nil, -1, ""},
		{"C18", "a,b\n1,x¦\xe4\n", nil, 0, "b"},
		{"C18 in quotes", "a,b\n1,\"\"\"x¦\xe4\"\n", nil, 0, "b"},
		{"C18 in a name", "a,b¦\xff\n1,2\n", nil, -1, ""},
		{"half a character", "a\nx¦\xc3\n", nil, 0, "a"},
		{"a surrogate", "a\nx¦\xed\xa0\x80\n", nil, 0, "a"},
		{"C4", "lat,lon\n1,2\n¦40 42 46 N,2\n", named, 1, "lat"},
		{"an infinite ordinate", "lat,lon\n1,2\n1,¦-inf\n", named, 1, "lon"},
		{"an ordinate beyond float64", "lat,lon\n1,2\n1,¦1e400\n", named, 1, "lon"},
		{"the other ordinate is null", "lat,lon\n1,2\n,¦x\n", named, 1, "lon"},
		{"WKT", "id,wkt\n1,POINT(1 2)\n2,\"POINT(1 ¦x)\"\n", options{"geometry": "wkt"}, 1, "wkt"},
		{"WKT with quotes", "wkt\nPOINT(1 2)\n\"POINT(1 ¦\"\"x)\"\n", options{"geometry": "wkt"}, 1, "wkt"},
		{
			"WKB", "wkb\n0101000000000000000000F03F0000000000000040\n0101000000000000000000F03F000000000000004¦Z\n",
			options{"geometry": "wkb"},
			1, "wkb",
		},
		{"T3", "wkt\nSRID=3857;POINT(1 2)\nPOINT(1 2)\n¦SRID=4326;POINT(1 2)\n", nil, 2, "wkt"},
		{"the first of two", "wkt,b\nPOINT(1 2),1\nPOINT(¦x 2)\n", options{"geometry": "wkt"}, 1, "wkt"},
		{"the first of two, after", "b,wkt\n1,POINT(1 2)\n¦\xff,POINT(x 2)\n", options{"geometry": "wkt"}, 1, "b"},
		{"an undefined byte", "a\nx¦\x81\n", options{"encoding": "windows-1253"}, 0, "a"},
		{"half a character of two bytes", "a\n¦\x83,\n", options{"encoding": "shift_jis", "delimiter": ";"}, 0, "a"},
		{"too many columns", strings.Repeat(",", 1<<16) + "¦\n", nil, -1, ""},
		{"nothing", "¦", nil, -1, ""},
		{"a byte order mark alone", "\xEF\xBB\xBF\n\n¦", nil, -1, ""},
		{"UTF-16", "¦\xFF\xFEa\x00", nil, -1, ""},
		{"skip keeps to the structure", "a,b\n1\n2,¦\"x\n", options{"on_error": "skip"}, 1, "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, at := readertest.Mark(c.text)
			_, err := parse(t, "a.csv", text, c.opts)
			e := (*readers.ParseError)(nil)
			if !errors.As(err, &e) {
				t.Fatalf("%q: %v, want a ParseError", text, err)
			}
			if e.Offset != at || e.Row != c.row || e.Field != c.field {
				t.Errorf("%q\ngot  byte %d, row %d, field %q (%v)\nwant byte %d, row %d, field %q", text,
					e.Offset, e.Row, e.Field, e, at, c.row, c.field)
			}
		})
	}
}

// TestOptions refuses values that mean nothing.
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		name   string
		opts   options
		option string
	}{
		{"a delimiter of two bytes", options{"delimiter": "ab"}, "delimiter"},
		{"a digit", options{"delimiter": "1"}, "delimiter"},
		{"a letter", options{"delimiter": "e"}, "delimiter"},
		{"a sign", options{"delimiter": "-"}, "delimiter"},
		{"a line end", options{"delimiter": "\n"}, "delimiter"},
		{"the quote", options{"delimiter": `"`}, "delimiter"},
		{"a quote of two bytes", options{"quote": "''"}, "quote"},
		{"an encoding that nobody knows", options{"encoding": "klingon"}, "encoding"},
		{"UTF-16", options{"encoding": "utf-16le"}, "encoding"},
		{"a part of another character", options{"encoding": "shift_jis", "delimiter": "|"}, "delimiter"},
		{"a comma twice", options{"decimal": ",", "delimiter": ","}, "decimal"},
		{"latitude alone", options{"latitude": "a"}, "latitude"},
		{"latitude twice", options{"latitude": "a", "longitude": "a"}, "longitude"},
		{"two geometries", options{"latitude": "a", "longitude": "b", "geometry": "b"}, "geometry"},
		{"a column that is not there", options{"geometry": "c"}, "geometry"},
		{"a CRS that nobody knows", options{"crs": "EPSG"}, "crs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readertest.Parse(t, csv.Format(), readertest.Input{
				Name: "a.csv", Text: []byte("a,b\n1,2\n"),
				Options: c.opts,
			})
			e := (*readers.OptionError)(nil)
			if !errors.As(err, &e) || e.Option != c.option {
				t.Errorf("%v: %v, want an OptionError of %s", c.opts, err, c.option)
			}
		})
	}
}

func TestCRS(t *testing.T) {
	for _, c := range []struct {
		name, text string
		opts       options
		want       geoarrow.CRS
	}{
		{"none", "lat,lon\n1,2\n", nil, geoarrow.CRS{}},
		{"an SRID", "wkt\n\nPOINT(1 2)\nSRID=3857;POINT(1 2)\n", nil, geoarrow.CRS{Authority: "EPSG", Code: "3857"}},
		{"an option", "lat,lon\n1,2\n", options{"crs": "epsg:4326"}, geoarrow.CRS{Authority: "EPSG", Code: "4326"}},
		{"both", "wkt\nSRID=3857;POINT(1 2)\n", options{"crs": "EPSG:4326"}, geoarrow.CRS{
			Authority: "EPSG",
			Code:      "4326",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := parse(t, "a.csv", c.text, c.opts)
			if err != nil || table.CRS != c.want {
				t.Errorf("%q: %v, %v, want %v", c.text, table.CRS, err, c.want)
			}
		})
	}
}

// TestAppendable: rows may follow only where nothing that was found depends on them.
func TestAppendable(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"line end", "a,b\n1,2\n", true},
		{"CR", "a,b\r1,2\r", true},
		{"no line end", "a,b\n1,2", false},
		{"one record may hide the delimiter", "a,b\n", false},
		{"points", "lat,lon\n1,2\n", true},
		{"a candidate without values", "lat,lon\n,2\n", false},
		{"an SRID", "wkt\nSRID=4326;POINT(1 2)\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := parse(t, "a.csv", c.text, nil)
			if err != nil || table.Summary.Appendable != c.want {
				t.Errorf("%q: appendable %t, %v, want %t", c.text, table.Summary.Appendable, err, c.want)
			}
		})
	}
}

// TestLimits: a record that is too long is refused alike wherever windows and parts end.
func TestLimits(t *testing.T) {
	long := strings.Repeat("x", 3000)
	for _, text := range []string{"a,b\n1,2\n" + long + ",3\n", "a,b\n1,2\n3,\"" + long, "a,b\n1,2\n3,\"" +
		long + "\n\"\n"} {
		in := readertest.Input{Name: "a.csv", Text: []byte(text), Limits: readers.Limits{MaxFeatureBytes: 1000}}
		readertest.Same(t, csv.Format(), in, []int{1, 7, 100, 999, 1001, 5000}, variants...)
		_, err := readertest.Parse(t, csv.Format(), in)
		e := (*readers.LimitError)(nil)
		if !errors.As(err, &e) || e.Flag != "--max-feature-bytes" {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	nested := "wkt\nPOINT(1 2)\n\"" + strings.Repeat("GEOMETRYCOLLECTION(", 30) + "POINT(1 2)" +
		strings.Repeat(")", 30) + "\"\n"
	_, err := readertest.Parse(t, csv.Format(), readertest.Input{
		Name: "a.csv", Text: []byte(nested),
		Limits: readers.Limits{MaxDepth: 20},
	})
	if e := (*readers.LimitError)(nil); !errors.As(err, &e) || e.Flag != "--max-depth" {
		t.Errorf("%v", err)
	}
}

// TestWindowEdges puts fields of every kind over the end of a window of the usual size.
func TestWindowEdges(t *testing.T) {
	tail := "\"a \"\"b\"\"\n\",12.5,2024-02-29,TRUE,é€\r\n,,,,\r\n"
	for shift := range len(tail) + 2 {
		head := "t,f,d,b,s\n"
		pad := window.Bytes - len(head) - len(",,,,\n") - shift
		text := head + strings.Repeat("p", pad) + ",,,,\n" + tail + tail
		in := readertest.Input{Name: "a.csv", Text: []byte(text), Limits: readers.Limits{Workers: 1}}
		table, err := readertest.Parse(t, csv.Format(), in)
		if err != nil {
			t.Fatalf("shift %d: %v", shift, err)
		}
		row := `| null | null | null | null | null`
		want := fmt.Sprintf("1: | %q | 12.5 | 2024-02-29 | true | \"é€\"\n2: %s\n3: | %[1]q | 12.5 | 2024-02-29 | "+
			"true | \"é€\"\n4: %[2]s\n", "a \"b\"\n", row)
		want = strings.ReplaceAll(want, `"a \"b\"\n"`, `"a \"b\"\n"`)
		if got := readertest.Rows(table); !strings.HasSuffix(got, want) {
			t.Fatalf("shift %d: got %q\nwant the end %q", shift, got[len(got)-200:], want)
		}
	}
}

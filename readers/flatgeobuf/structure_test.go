package flatgeobuf_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/gogama/flatgeobuf/flatgeobuf/flat"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/flatgeobuf"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// points returns a file of n points with a number each.
func points(n int, count uint64, nodes uint16) []byte {
	f := fgbFile{kind: point, columns: []fgbColumn{{"n", flat.ColumnTypeInt}}, count: count, nodes: nodes}
	for i := range n {
		f.features = append(f.features, at(float64(i), -float64(i), value(0, int32(i))))
	}
	return f.bytes()
}

func TestStructure(t *testing.T) {
	const two = "n: int32: 0 | 1\ngeometry: geoarrow.point xy: POINT (0 -0) | POINT (1 -1)"
	plain := points(2, 2, 0)
	first := len(points(0, 2, 0))
	size := (len(plain) - first) / 2
	patch := bytes.Clone(plain)
	patch[7] = 0
	check(t, with{}, []fgbCase{
		{"a number of features", plain, two},
		{"no number of features", points(2, 0, 0), two},
		{"no number of features, and a size of nodes", points(2, 0, 16), two},
		{"an index", points(2, 2, 16), two},
		{"an index of several levels", points(7, 7, 2), "n: int32: 0 | 1 | 2 | 3 | 4 | 5 | 6\n" +
			"geometry: geoarrow.point xy: POINT (0 -0) | POINT (1 -1) | POINT (2 -2) | POINT (3 -3) | POINT (4 -4) " +
			"| POINT (5 -5) | POINT (6 -6)"},
		{"an index of one feature", points(1, 1, 16), "n: int32: 0\ngeometry: geoarrow.point xy: POINT (0 -0)"},
		{"another patch level", patch, two},
		{"another version", put(plain, 0, 0x02626766), "byte 3: the file is FlatGeobuf of version 2, expected 3"},
		{
			"another file", []byte("PK\x03\x04 and so on"),
			`byte 0: no FlatGeobuf: the file begins with "PK\x03\x04 an", expected "fgb\x03fgb"`,
		},
		{"the magic is cut", plain[:6], "byte 6: the file ends in front of the header"},
		{
			"a header beyond the file", put(plain, 8, 1<<30),
			"byte 8: the file ends inside of the header: it has 1073741824 bytes",
		},
		{
			"no feature of 2^40", points(0, 1<<40, 0),
			"feature 0: the file ends after 0 features, expected 1099511627776",
		},
		{
			"2^63 features", points(0, 1<<63, 0),
			"the header says that there are 9223372036854775808 features, which no file holds",
		},
		{
			"an index of 2^40 features", fgbFile{count: 1 << 40, nodes: 16, bare: true}.bytes(),
			"the file ends inside of the index: 1099511627776 features need 43980465111040 bytes, of which 0 are there",
		},
		{"an index whose upper levels are missing", append(fgbFile{count: 2, nodes: 16, bare: true}.bytes(),
			make([]byte, 100)...), "the file ends inside of the index: it has 120 bytes, of which 100 are there"},
		{"nodes of one", put16(points(1, 1, 2), 1), "the index has 1 entry a node, expected 2 at least"},
		{"the second feature is cut", plain[:len(plain)-1], "feature 1: the file ends inside of a feature: it has "},
		{
			"the second feature's length is cut", plain[:first+size+3],
			"feature 1: the file ends inside of a feature's length: 3 bytes are left, expected 4",
		},
		{
			"a feature is missing", plain[:first+size],
			"feature 1: the file ends after 1 features, expected 2, as the header says",
		},
		{
			"a feature too many", points(3, 2, 0),
			" bytes after the last of the 2 features that the header says there are",
		},
		{
			"bytes after the last feature", append(bytes.Clone(plain), 0),
			"1 bytes after the last of the 2 features that the header says there are",
		},
		{"no feature", points(0, 0, 0), "n: int32:\ngeometry: geoarrow.wkb xy:"},
		{
			"a feature of no bytes", append(points(0, 0, 0), 0, 0, 0, 0),
			"feature 0: a flatbuffer of 0 bytes has no room for a table",
		},
		{
			"a root beyond the feature", put(plain, first+4, 1<<31),
			"feature 0: the offset leads to byte 2147483648 of a flatbuffer of",
		},
		{
			"a vtable beyond the feature", put(plain, first+4+12, 1<<31),
			"feature 0: the vtable is at byte 2147483660 of a flatbuffer of",
		},
	})
	check(t, with{options: map[string]any{"on_error": "skip"}}, []fgbCase{
		{
			"a missing feature", plain[:first+size],
			"n: int32: 0\ngeometry: geoarrow.point xy: POINT (0 -0)\ncrs: none\nskipped: 1 at [" +
				strconv.Itoa(first+size) + "]",
		},
		{"cut", plain[:len(plain)-1], "feature 1: the file ends inside of a feature"},
		{"a feature too many", points(3, 2, 0), " bytes after the last of the 2 features"},
	})
	if _, err := readertest.Check(t, flatgeobuf.Format(), readertest.Input{Name: "a.fgb"}); err == nil {
		t.Error("empty file: got no error")
	}
}

// put16 returns a file of nodes of two another size of these.
func put16(file []byte, size byte) []byte {
	// The header's fields are equally far from its end whatever their values.
	other := points(1, 1, 3)
	file = bytes.Clone(file)
	for i := range file {
		if file[i] == 2 && other[i] == 3 {
			file[i] = size
			return file
		}
	}
	panic("no size of nodes")
}

func TestCRS(t *testing.T) {
	for _, c := range []struct {
		name string
		crs  *fgbCRS
		want string
	}{
		{"none", nil, "none"},
		{"code", &fgbCRS{org: "EPSG", code: 25832}, "EPSG:25832"},
		{"code without organisation", &fgbCRS{code: 3857}, "EPSG:3857"},
		{"code before text", &fgbCRS{org: "EPSG", code: 25832, wkt: `LOCAL_CS["a"]`}, "EPSG:25832"},
		{"text of a code", &fgbCRS{org: "OGC", codeString: "CRS84", wkt: `LOCAL_CS["a"]`}, "OGC:CRS84"},
		{"text of a code in WKT", &fgbCRS{wkt: `GEOGCRS["WGS 84 (CRS84)",ID["OGC","CRS84"]]`}, "OGC:CRS84"},
		{"text alone", &fgbCRS{wkt: `LOCAL_CS["a"]`}, `LOCAL_CS["a"]`},
		{
			"an organisation that nobody knows, with text", &fgbCRS{org: "ACME", code: 7, wkt: `LOCAL_CS["a"]`},
			`LOCAL_CS["a"]`,
		},
		{"an organisation that nobody knows", &fgbCRS{org: "ACME", code: 7}, "ACME:7"},
		{"nothing", &fgbCRS{}, "none"},
	} {
		f := fgbFile{kind: point, crs: c.crs, features: [][]byte{at(1, 2)}}
		table, err := readertest.Check(t, flatgeobuf.Format(), readertest.Input{Name: "a.fgb", Text: f.bytes()})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := table.CRS.String(); got != c.want && (got != "" || c.want != "none") {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestRefusedHeaders(t *testing.T) {
	check(t, with{}, []fgbCase{
		{
			"curves", fgbFile{kind: flat.GeometryTypeMultiCurve}.bytes(),
			"geometries of type MultiCurve are not read: convert curves to lines and surfaces to polygons first",
		},
		{"no such type", fgbFile{kind: 99}.bytes(), "the geometry type is 99, which is none"},
		{
			"no such column type", fgbFile{columns: []fgbColumn{{"a", 15}}}.bytes(),
			`column "a" has the type 15, which is none`,
		},
		{"a name that is no UTF-8", fgbFile{columns: []fgbColumn{{"\xff", 0}}}.bytes(), `"\xff" is no UTF-8`},
		{"columns that are one table", fgbFile{
			columns: []fgbColumn{{strings.Repeat("a", 1000), 0}},
			shared:  100,
		}.bytes(), "the names of the columns have more bytes than the header"},
		{"many columns", fgbFile{columns: make([]fgbColumn, 1<<16+1)}.bytes(), "65537 columns, expected 65536 at most"},
	})
}

func TestOwnColumns(t *testing.T) {
	b := newFeature(func(b *builder) {
		name := b.CreateString("x")
		flat.ColumnStart(b)
		flat.ColumnAddName(b, name)
		column := flat.ColumnEnd(b)
		flat.FeatureStartColumnsVector(b, 1)
		vector := tables(b, offsets{column})
		flat.FeatureStart(b)
		flat.FeatureAddColumns(b, vector)
	})
	check(t, with{}, []fgbCase{{
		"own columns", fgbFile{features: [][]byte{b}}.bytes(),
		"feature 0: the feature has columns of its own, which are not read",
	}})
}

func TestLimits(t *testing.T) {
	text := points(3, 3, 0)
	in := readertest.Input{Name: "a.fgb", Text: text, Limits: readers.Limits{MaxFeatureBytes: 50}}
	_, err := readertest.Check(t, flatgeobuf.Format(), in)
	if err == nil || !strings.HasPrefix(err.Error(), "a.fgb: feature 0, of ") ||
		!strings.HasSuffix(err.Error(), " bytes, is beyond the limit 50 of --max-feature-bytes") {
		t.Errorf("got %v", err)
	}
	readertest.Same(t, flatgeobuf.Format(), in, sizes(len(text)), windows, parallel)
}

// TestManyParts reads a file of several parts: guesses are right, and their rows are those of one
// worker.
func TestManyParts(t *testing.T) {
	text := points(20_000, 20_000, 16)
	for _, options := range []map[string]any{nil, {"on_error": "skip"}} {
		in := readertest.Input{Name: "a.fgb", Text: text, Options: options}
		table, err := readertest.Check(t, flatgeobuf.Format(), in)
		if err != nil || table.Rows != 20_000 {
			t.Fatal(err)
		}
		readertest.Same(t, flatgeobuf.Format(), in, []int{10_001, 65_536, 262_143}, windows, parallel)
		in.Text = text[:len(text)-5]
		readertest.Same(t, flatgeobuf.Format(), in, []int{65_537}, windows, parallel)
		in.Text = put(text, len(text)-200_000, 1<<31)
		readertest.Same(t, flatgeobuf.Format(), in, []int{65_537}, windows, parallel)
		in.Text = points(20_000, 19_000, 16)
		readertest.Same(t, flatgeobuf.Format(), in, []int{65_537}, windows, parallel)
	}
}

package geojson_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// read reads a large text, which no failure should print.
func read(t *testing.T, text string, limits readers.Limits) *readers.Table {
	t.Helper()
	table, err := readertest.Check(t, geojson.Format(), readertest.Input{
		Name: "a.geojson", Text: []byte(text),
		Limits: limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// text0 returns the value of the first attribute in row 0.
func text0(table *readers.Table) string {
	c := table.Batches[0].Attributes[0]
	return string(c.Values[:c.Offsets[1]])
}

// TestBackslashes is J21: runs of backslashes before a quote, over the edges of windows of many
// sizes.
func TestBackslashes(t *testing.T) {
	for _, n := range []int{1, 2, 3, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025} {
		for _, before := range []int{0, 1, 7, 31} {
			// An odd run escapes the quote after it.
			text := strings.Repeat("x", before) + strings.Repeat(`\`, n)
			want := strings.Repeat("x", before) + strings.Repeat(`\`, n/2)
			if n%2 == 1 {
				text, want = text+`"]}`, want+`"]}`
			}
			in := readertest.Input{Name: "a.geojson", Text: []byte(props(`{"a":"` + text + `","b":"c"}`))}
			if got := text0(read(t, string(in.Text), readers.Limits{})); got != want {
				t.Errorf("%d backslashes: got %q, want %q", n, got, want)
			}
			readertest.Same(t, geojson.Format(), in, []int{
				1, 8, 31, 32, 33, 63, 64, 65, 97, 98, 99, 100,
				128, 256, 1024, 1120, 1121, 1122, 1123, 1124, 1125,
			}, windows, parallel)
		}
	}
}

// TestBackslashesOverWindow is J21 at the edge of a window of the usual size.
func TestBackslashesOverWindow(t *testing.T) {
	const window = 1 << 20
	for _, n := range []int{1, 2, 3, 64, 65} {
		for shift := -1; shift <= n+1; shift += max(1, n/3) {
			head := `{"type":"FeatureCollection","features":[`
			row := f("null", `{"a":"`+strings.Repeat(`\\`, n)+`\""}`)
			pad := window - len(head) - strings.Index(row, `\`) - shift
			text := head + strings.Repeat(" ", pad) + row + "]}"
			if got, want := text0(read(t, text, readers.Limits{})), strings.Repeat(`\`, n)+`"`; got != want {
				t.Errorf("%d backslashes, shifted by %d: got %q, want %q", 2*n+1, shift, got, want)
			}
		}
	}
}

// TestManyBackslashes is J22, scaled: one string of 64 MiB of backslashes takes linear time.
func TestManyBackslashes(t *testing.T) {
	size := 64 << 20
	if testing.Short() {
		size = 4 << 20
	}
	began := time.Now()
	table, err := readertest.Parse(t, geojson.Format(), readertest.Input{
		Name: "a.geojson",
		Text: []byte(props(`{"a":"` + strings.Repeat(`\`, size) + `"}`)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(text0(table)); got != size/2 {
		t.Errorf("got %d bytes, want %d", got, size/2)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestDepth is J23: brackets are counted from the root, outside of coordinates.
func TestDepth(t *testing.T) {
	nested := func(n int) string { return values(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	objects := func(n int) string { return values(strings.Repeat(`{"b":`, n) + "1" + strings.Repeat("}", n)) }
	collections := func(n int) string {
		return geom(strings.Repeat(`{"type":"GeometryCollection","geometries":[`, n) +
			shape("MultiPolygon", "[[[[1,2]]]]") + strings.Repeat("]}", n))
	}
	const around = 4 // root, features, Feature, properties
	for _, c := range []struct {
		name, text string
		limit      int
		deep       bool
	}{
		{"127", nested(127), 0, false},
		{"128", nested(128), 0, false},
		{"1024", nested(1024 - around), 0, false},
		{"1025", nested(1025 - around), 0, true},
		{"1024, objects", objects(1024 - around), 0, false},
		{"1025, objects", objects(1025 - around), 0, true},
		{"32768", nested(32768), 0, true},
		{"32768, --max-depth", nested(32768 - around), 32768, false},
		{"foreign member of the root", `{"x":` + strings.Repeat("[", 1023) + strings.Repeat("]", 1023) +
			`,"type":"FeatureCollection","features":[]}`, 0, false},
		{"foreign member of the root, deeper", `{"x":` + strings.Repeat("[", 1024) + strings.Repeat("]", 1024) +
			`,"type":"FeatureCollection","features":[]}`, 0, true},
		{"Feature at the root", `{"type":"Feature","geometry":null,"properties":{"a":[[1]]}}`, 4, false},
		{"Feature at the root, deeper", `{"type":"Feature","geometry":null,"properties":{"a":[[1]]}}`, 3, true},
		{"collections", collections(510), 0, false},
		{"collections, deeper", collections(511), 0, true},
		{"coordinates do not count", geom(shape("MultiPolygon", "[[[[1,2]]]]")), 4, false},
		{
			"coordinates before the type do not count", geom(`{"coordinates":[[[[1,2]]]],"type":"MultiPolygon"}`),
			4, false,
		},
		{"geometry", geom(shape("Point", "[1,2]")), 3, true},
		{"properties", props("{}"), 3, true},
		{"Feature", fc(`{"type":"Feature","geometry":null}`), 2, true},
		{"features", fc(), 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := readertest.Input{Name: "a.geojson", Text: []byte(c.text), Limits: readers.Limits{MaxDepth: c.limit}}
			_, err := readertest.Parse(t, geojson.Format(), in)
			var limit *readers.LimitError
			if errors.As(err, &limit) != c.deep || !c.deep && err != nil {
				t.Errorf("%.200s\nat depth %d got %v, want a *LimitError: %t", c.text, c.limit, err, c.deep)
			}
			if limit != nil && limit.Flag != "--max-depth" {
				t.Errorf("flag %q", limit.Flag)
			}
			readertest.Same(t, geojson.Format(), in, []int{1, 50, 4096}, windows, parallel)
		})
	}
}

// TestLargeFeature is J25, scaled: one feature of 20 MB, in little more time than many small ones.
func TestLargeFeature(t *testing.T) {
	var b strings.Builder
	n := 0
	for b.Len() < 20_000_000 {
		fmt.Fprintf(&b, "[%d.25,%d.5],", n%180, n%90)
		n++
	}
	text := geom(shape("LineString", "["+strings.TrimSuffix(b.String(), ",")+"]"))
	table, err := readertest.Parse(t, geojson.Format(), readertest.Input{Name: "a.geojson", Text: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	g := table.Batches[0].Geometry
	if len(g.X) != n || g.X[n-1] != float64((n-1)%180)+0.25 || g.Y[n-1] != float64((n-1)%90)+0.5 {
		t.Errorf("got %d positions, the last is %v %v, want %d", len(g.X), g.X[len(g.X)-1], g.Y[len(g.Y)-1], n)
	}
	_, err = readertest.Parse(t, geojson.Format(), readertest.Input{
		Name: "a.geojson", Text: []byte(text),
		Limits: readers.Limits{MaxFeatureBytes: 4 << 20},
	})
	var limit *readers.LimitError
	if !errors.As(err, &limit) || limit.Flag != "--max-feature-bytes" {
		t.Errorf("got %v, want a *LimitError of --max-feature-bytes", err)
	}
}

// TestWideObject reads features of 5,000 properties.
func TestWideObject(t *testing.T) {
	var a, b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&a, `,"k%d":%d`, i, i)
		fmt.Fprintf(&b, `,"k%d":%d`, 4999-i, i)
	}
	table := read(t, props("{"+a.String()[1:]+"}", "{"+b.String()[1:]+"}", "{"+a.String()[1:]+"}"), readers.Limits{})
	if got := len(table.Batches[0].Attributes); got != 5000 {
		t.Fatalf("got %d columns", got)
	}
	for _, i := range []int{0, 1, 4999} {
		c := &table.Batches[0].Attributes[i]
		if got, want := fmt.Sprint(c.Name, c.Values), fmt.Sprint(fmt.Sprintf("k%d", i), le(i, 4999-i, i)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// le returns the bytes of int32 values.
func le(values ...int) (b []byte) {
	for _, v := range values {
		b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return b
}

// TestManyEmptyFeatures reads 100,000 of them.
func TestManyEmptyFeatures(t *testing.T) {
	row := `{"type":"Feature","geometry":null,"properties":{}},`
	text := fc(strings.TrimSuffix(strings.Repeat(row, 100_000), ","))
	table, err := readertest.Parse(t, geojson.Format(), readertest.Input{Name: "a.geojson", Text: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Batches) != 2 || table.Rows != 100_000 || table.Batches[1].Rows != 100_000-65_536 {
		t.Errorf("%d rows in %d batches", table.Rows, len(table.Batches))
	}
	if wrong := readertest.Canonical(table); wrong != nil {
		t.Error(wrong)
	}
}

// TestTypeChanges has columns whose type changes in the middle of a chunk, and over chunks: texts
// stay as written.
func TestTypeChanges(t *testing.T) {
	ten := func(v string) (all []string) {
		for range 10 {
			all = append(all, v)
		}
		return all
	}
	repeat := func(v string) string { return strings.Repeat(v+" | ", 10) }
	check(t, plain, []textCase{
		{"float, then text", values(append(ten("1.0"), `"x"`, "2.50")...), `a: string mixed: ` +
			repeat(`"1.0"`) + `"x" | "2.50"`},
		{"text of digits stays", values(append(ten(`"00501"`), "501", "5e2")...), `a: string mixed: ` +
			repeat(`"00501"`) + `"501" | "5e2"`},
		{"int, then float", values(append(ten("7"), "0.5")...), `a: float64: ` + repeat("7") + "0.5"},
		{"int, then wide int", values(append(ten("7"), "5000000000")...), `a: int64: ` + repeat("7") + "5000000000"},
		{"int, then object", values(append(ten("-0"), "{ }")...), `a: string mixed: ` + repeat(`"-0"`) + `"{}"`},
		{"int, then lists, then text", values(append(ten("7"), "[ 1 ]", `"x"`)...), `a: string mixed: ` +
			repeat(`"7"`) + `"[1]" | "x"`},
		{"list, then object", values(append(ten("[ 1, 2.0 ]"), `{}`)...), `a: string json: ` +
			repeat(`"[1,2.0]"`) + `"{}"`},
		{"date, then text", values(append(ten(`"2020/01/02"`), `"x"`)...), `a: string: ` +
			repeat(`"2020/01/02"`) + `"x"`},
		{"date, then int", values(append(ten(`"2020-01-02"`), `5`)...), `a: string mixed: ` +
			repeat(`"2020-01-02"`) + `"5"`},
		{
			"date, then time", values(append(ten(`"2020-01-02"`), `"2020-01-02T03:04:05.123456"`)...),
			`a: timestamp[us]: ` + repeat(`2020-01-02T00:00:00`) + `2020-01-02T03:04:05.123456`,
		},
		{
			"ms, then ns", values(append(ten(`"2020-01-02T03:04:05.1Z"`), `"2020-01-02T03:04:05.1234567Z"`)...),
			`a: timestamp[ns, tz=UTC]: ` + repeat(`2020-01-02T03:04:05.1`) + `2020-01-02T03:04:05.1234567`,
		},
		{"time, then finer", values(append(ten(`"03:04"`), `"03:04:05.1234567"`)...), `a: time64[ns]: ` +
			repeat(`03:04:00`) + `03:04:05.1234567`},
		{"null, then list", values(append(ten("null"), "[1]")...), `a: list<int32>: ` + repeat("null") + "[1]"},
		{"null, then text", values(append(ten(""), `"x"`)...), `a: string: ` + repeat("null") + `"x"`},
		{"bool, then float", values(append(ten("true"), "0.5")...), `a: float64: ` + repeat("1") + "0.5"},
		{"bool, then list of bools", values(append(ten("true"), "[false]")...), `a: list<bool>: ` +
			repeat("[true]") + "[false]"},
		{"[], then list of texts", values(append(ten("[]"), `["x"]`)...), `a: list<string>: ` + repeat("[]") + `["x"]`},
		{"[], then bool", values(append(ten("[]"), `true`)...), `a: list<bool>: ` + repeat("[]") + `[true]`},
		{
			"two columns", props(append(ten(`{"a":1.0,"b":"2020-01-01"}`), `{"b":1}`, `{"a":"x"}`)...),
			`a: string mixed: ` + repeat(`"1.0"`) + `null | "x"` + "\n" + `b: string mixed: ` +
				repeat(`"2020-01-01"`) + `"1" | null`,
		},
		{
			"point, then line", geom(append(ten(shape("Point", "[1,2]")), shape("LineString", "[[1,2,3]]"))...),
			`geometry: geoarrow.wkb xyz: ` + repeat("POINT (1 2)") + "LINESTRING Z (1 2 3)\nshort lines: 1",
		},
		{"point, then MultiPoint", geom(append(ten(shape("Point", "[1,2]")), "null",
			shape("MultiPoint", "[[1,2,3]]"))...), `geometry: geoarrow.multipoint xyz: ` + repeat("POINT (1 2)") +
			"null | MULTIPOINT Z ((1 2 3))"},
	})
}

// TestModeOfLongFeature has a malformed value in a feature beyond --max-feature-bytes, which no
// mode reads: the error names none, wherever windows end.
func TestModeOfLongFeature(t *testing.T) {
	row := `{"type":"Feature","geometry":null,"properties":{"a":.5,"b":"` + strings.Repeat("x", 200) + `"}}`
	for most, mode := range map[int]string{len(row): "null", len(row) - 1: "", 100: ""} {
		in := readertest.Input{
			Name: "a.geojson", Text: []byte(fc(row, row)), Limits: readers.Limits{MaxFeatureBytes: int64(most)},
		}
		_, err := readertest.Check(t, geojson.Format(), in)
		var parse *readers.ParseError
		if !errors.As(err, &parse) || parse.Mode != mode {
			t.Errorf("at most %d bytes: got %v, want the mode %q", most, err, mode)
		}
		readertest.Same(t, geojson.Format(), in, []int{1, 50, 100, 150, 300, 1000}, windows, parallel)
		in.Options = map[string]any{"on_error": "null"}
		if _, err := readertest.Parse(t, geojson.Format(), in); (err == nil) != (mode == "null") {
			t.Errorf("at most %d bytes: on_error: null gives %v, and the error names %q", most, err, mode)
		}
	}
}

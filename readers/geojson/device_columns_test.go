package geojson_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// columnTests are values of one column.
var columnTests = []struct {
	name    string
	values  []string
	refused bool // the last value is wrong
}{
	{name: "objects", values: []string{`{"a": [1, 2, {"b": null}]}`, `null`}},
	{name: "objects with everything", values: []string{
		`{}`,
		`{ "a" :"x\\\" y" , "b\u0041": [ true,false , null ,1e400, -0.5e-7 ] }`, `{"a":{"a":{"a":{}}}}`,
		`{"é":"\ud800","a":1,"a":2}`,
	}},
	{name: "objects and strings", values: []string{
		`{"a": 1}`, `"{\"a\": 1}"`, `"\ud800 \\ é"`, `""`,
		`null`, `"[1, 2]"`,
	}},
	{name: "objects and numbers", values: []string{`{"a": 1}`, `12`, `-1.50`, `1e3`, `18446744073709551616`}},
	{name: "objects and booleans", values: []string{`{"a" : "}"}`, `true`, `false`}},
	{name: "objects, rare", values: []string{
		`null`, `null`, `null`, `null`, `null`, `null`, `null`,
		`null`, `null`, `{"a": [1, 2, {"b": null}]}`,
	}},
	{name: "objects that are none", values: []string{`{"a": 1}`, `{"a": 01}`}, refused: true},
	{name: "objects that lack a comma", values: []string{`{"a": 1}`, `{"a": [1 2]}`}, refused: true},
	{name: "objects with other brackets", values: []string{`{"a": 1}`, `{"a": [{]}}`}, refused: true},
	{name: "objects of 60 brackets", values: []string{strings.Repeat(`{"a":[`, 30) + strings.Repeat(`]}`, 30)}},
	{
		name: "objects of 70 brackets", values: []string{`{}`, strings.Repeat(`{"a":[`, 35) + strings.Repeat(`]}`, 35)},
		refused: true,
	},
	{name: "strings and numbers", values: []string{`"a"`, `1`, `1.0`, `-0`, `null`, `1e5`}},
	{name: "strings and booleans", values: []string{`"a"`, `true`, `false`}},
	{name: "strings, booleans and numbers", values: []string{
		`"a"`, `true`, `false`, `9007199254740993`,
		`0.1`, `1e-400`,
	}},
	{name: "strings and a number beyond float64", values: []string{`"a"`, `1e400`}, refused: true},
	{name: "booleans", values: []string{`true`, `false`, `null`}},
	{name: "false", values: []string{`false`}},
	{name: "booleans and integers", values: []string{`true`, `false`, `7`, `-0`, `null`}},
	{name: "booleans and wide integers", values: []string{`true`, `false`, `-70000000000`, `null`}},
	{name: "booleans and floats", values: []string{`true`, `false`, `0.5`, `-0`, `-0.0`, `null`}},
	{name: "booleans and huge integers", values: []string{`true`, `false`, `18446744073709551616`}},
	{name: "integers and floats", values: []string{
		`1`, `-0`, `-0.0`, `1.5`, `9007199254740992`,
		`9007199254740993`, `null`,
	}},
	{name: "floats", values: []string{
		`1.5`, `-0.0`, `0e0`, `1e-400`, `1.7976931348623157e308`,
		`2.4703282292062327208299493696434e-324`,
	}},
	{name: "floats to be resolved", values: []string{`1.00000000000000011102230246251565404`, `1.5`}},
	{name: "uint64", values: []string{`0`, `18446744073709551615`, `9223372036854775808`, `-0`, `null`}},
	{name: "uint64 and booleans", values: []string{`true`, `18446744073709551615`}},
	{name: "uint64 and negative", values: []string{`-1`, `18446744073709551615`, `18446744073709551614`}},
	{name: "huge integers", values: []string{
		`-1`, `18446744073709551616`, `123456789012345678901234567890`,
		`-9223372036854775809`,
	}},
	{name: "huge integers, rounded", values: []string{`9007199254740993`, `123456789012345678901234567890`, `1`}},
	{name: "int64", values: []string{`-9223372036854775808`, `9223372036854775807`}},
	{name: "a number beyond float64", values: []string{`1`, `1e400`}, refused: true},
	{name: "dates", values: []string{`"2024-02-29"`, `null`}},
	{name: "dates and numbers", values: []string{`"2024-02-29"`, `1`}},
	{name: "dates and objects", values: []string{`"2024-02-29"`, `{ }`}},
	{name: "null", values: []string{`null`}},
	{name: "long strings", values: []string{longText, `""`, `"a"`, `null`}},
	{name: "long strings and numbers", values: []string{longText, `-0`, `1.5`, `true`}},
	{name: "long strings and objects", values: []string{longText, `{"a": ` + longText + `}`, `7`}},
	{name: "lists of long strings", values: []string{`[` + longText + `, "b"]`, `[]`, `null`}},
	{name: "long objects and numbers", values: []string{`{"a": ` + longText + `}`, `7`}},
	{name: "long lists of several kinds", values: []string{`[1, ` + longText + `]`, `[true]`, `"a"`}},
	{name: "lists of integers", values: []string{`[1,2, 3]`, `[ -0 ]`, `[]`, `null`, `[ -7 , 2147483647 ]`}},
	{name: "lists of wide integers", values: []string{`[1,2, 3]`, `[ 2147483648 ]`, `[-9223372036854775808]`}},
	{name: "lists of uint64", values: []string{`[1,2, 3]`, `[18446744073709551615]`}},
	{name: "lists of floats", values: []string{`[1.5,-0.0]`, `[ -0 , 7]`, `[]`, `[9007199254740993, 1]`, `[1e-400]`}},
	{name: "lists of huge integers", values: []string{`[1,2]`, `[18446744073709551616, -1]`}},
	{name: "lists of floats to be resolved", values: []string{`[1.00000000000000011102230246251565404, 2]`, `[1.5]`}},
	{name: "lists of booleans", values: []string{`[true,false]`, `[ true ]`, `null`, `[]`}},
	{name: "lists of strings", values: []string{`["a","\\"]`, `[ "\u00e9,]" , "", "[1" ]`, `["\ud800"]`, `[]`}},
	{name: "lists of one number", values: []string{`[1]`}},
	{name: "empty lists", values: []string{`[]`, `[ ]`, `null`}},
	{name: "lists of several kinds", values: []string{`[1]`, `["a"]`, `[true]`}},
	{name: "lists of numbers or booleans", values: []string{`[1]`, `[true]`, `[]`}},
	{name: "mixed lists", values: []string{`[1, "a"]`, `[null]`, `[ [ 1 ] , 2 ]`, `[{}]`, `[true,1]`, `[1e400, null]`}},
	{name: "mixed lists and lists of numbers", values: []string{`[1, "a"]`, `[1,2.5]`, `[1e400, null]`}},
	{name: "lists and objects", values: []string{`[1,  2]`, `{"a":[1, "b"]}`, `[]`}},
	{name: "lists and strings of numbers", values: []string{`[1,  2]`, `"a"`}},
	{name: "lists of integers and integers", values: []string{`[1,  2]`, `7`, `-0`, `[]`, `null`}},
	{name: "lists of integers and floats", values: []string{`[1,  2]`, `7.5`, `-0`, `9007199254740993`}},
	{name: "lists of floats and integers", values: []string{`[1.5, 9007199254740993]`, `7`, `9007199254740993`}},
	{name: "lists of strings and strings", values: []string{`["a", "b\n"]`, `"\ud800x"`, `"2024-01-01"`, `""`}},
	{name: "lists of booleans and booleans", values: []string{`[true]`, `false`, `true`, `[]`}},
	{name: "empty lists and integers", values: []string{`[]`, `7`, `null`}},
	{name: "empty lists and strings", values: []string{`[]`, `"7"`, `null`}},
	{name: "empty lists, strings and integers", values: []string{`[]`, `"7"`, `8`}},
	{name: "lists of booleans and integers", values: []string{`[true]`, `7`}},
	{name: "lists with a number beyond float64", values: []string{`[1]`, `[1, 1e400]`}, refused: true},
	{name: "lists that are none", values: []string{`[1]`, `[1,]`}, refused: true},
}

// longText is a string of more bytes than one thread reads.
var longText = `"` + strings.Repeat(`0123456789\\\"\u00e9\n`, 40) + `"`

// columnFile returns features of which the property v has these values, drawn; where one is wrong,
// the last one, and only far from the start.
func columnFile(r *rand.Rand, features int, sequence bool, values []string, wrong bool) string {
	return deviceFile(r, features, sequence, func() string {
		return `{"type":"Point","coordinates":[1.5,2]}`
	}, func(i int) string {
		v := values[r.IntN(len(values))]
		if wrong {
			v = values[r.IntN(len(values)-1)]
		}
		switch {
		case wrong && i == features*2/3:
			v = values[len(values)-1]
		case r.IntN(7) == 0:
			return fmt.Sprintf(`"n":%d`, i)
		}
		return fmt.Sprintf(`"n":%d, "v" : %s `, i, v)
	})
}

// TestDeviceColumns holds columns of all kinds of values against those of the CPU engine, and has
// the device refuse none but those that are said to be.
func TestDeviceColumns(t *testing.T) {
	d := readertest.NewDevice(t, geojson.Format(), 7<<10)
	for i, test := range columnTests {
		for which, name := range []string{"a.geojson", "a.geojsonl"} {
			if testing.Short() && (i+which)%2 == 0 {
				continue
			}
			t.Run(test.name+" "+name, func(t *testing.T) {
				r, before := rand.New(rand.NewPCG(9, uint64(i))), d.Counts().Refused
				text := columnFile(r, 300, name == "a.geojsonl", test.values, test.refused)
				in := readertest.Input{Name: name, Text: []byte(text), Limits: readers.Limits{BatchRows: 100}}
				if !test.refused {
					d.Accepts(t, 3, in)
				} else if d.Same(t, in); d.Counts().Refused == before {
					t.Error("no chunk refused")
				}
			})
		}
	}
}

// TestDeviceDepth has limits around the depth of a value.
func TestDeviceDepth(t *testing.T) {
	d := readertest.NewDevice(t, geojson.Format(), 3<<10)
	for _, name := range []string{"a.geojson", "a.geojsonl"} {
		for depth := 3; depth < 9; depth++ {
			text := columnFile(rand.New(rand.NewPCG(9, 5)), 150, name == "a.geojsonl",
				[]string{`"x"`, `{"a": [1, {"b": null}]}`}, true)
			in := readertest.Input{Name: name, Text: []byte(text), Limits: readers.Limits{MaxDepth: depth}}
			d.Same(t, in)
		}
	}
}

// TestDeviceIDs does it for ids.
func TestDeviceIDs(t *testing.T) {
	d := readertest.NewDevice(t, geojson.Format(), 7<<10)
	for _, test := range []struct {
		name   string
		values []string
	}{
		{"integers", []string{`1`, `-7`, `null`, `9223372036854775807`}},
		{"uint64", []string{`1`, `18446744073709551615`}},
		{"uint64 and negative", []string{`-1`, `18446744073709551615`}},
		{"huge", []string{`1`, `18446744073709551616`}},
		{"floats", []string{`1`, `1.50`}},
		{"strings", []string{`"a"`, `"1"`, `"2024-01-01"`}},
		{"strings and integers", []string{`"a"`, `-0`, `17`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(9, 99))
			var b strings.Builder
			for i := range 300 {
				fmt.Fprintf(&b, `{"type":"Feature","properties":{"n":%d},"geometry":null,"id":%s}`+"\n",
					i, test.values[r.IntN(len(test.values))])
			}
			in := readertest.Input{Name: "a.geojsonl", Text: []byte(b.String()), Limits: readers.Limits{BatchRows: 100}}
			d.Accepts(t, 1, in)
		})
	}
}

// TestDeviceRandomColumns has several columns whose kinds of values change in the course of the
// file.
func TestDeviceRandomColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 3))
	var pool []string
	for _, test := range columnTests {
		if !test.refused {
			pool = append(pool, test.values...)
		}
	}
	d := readertest.NewDevice(t, geojson.Format(), 5<<10)
	runs := 60
	if testing.Short() {
		runs = 12
	}
	for range runs {
		var columns [6][]string
		text := deviceFile(r, 250, true, func() string { return `null` }, func(i int) string {
			var members []string
			for c := range columns {
				if i == 0 || r.IntN(300) == 0 {
					test := columnTests[r.IntN(len(columnTests))]
					for test.refused {
						test = columnTests[r.IntN(len(columnTests))]
					}
					columns[c] = append(columns[c][:0:0], test.values...)
				}
				if v := columns[c][r.IntN(len(columns[c]))]; r.IntN(9) > 0 {
					members = append(members, fmt.Sprintf(`"%c":%s`, 'a'+c, v))
				} else if r.IntN(90) == 0 {
					members = append(members, fmt.Sprintf(`"%c":%s`, 'a'+c, pool[r.IntN(len(pool))]))
				}
			}
			return strings.Join(members, ", ")
		})
		in := readertest.Input{Name: "a.geojsonl", Text: []byte(text), Limits: readers.Limits{BatchRows: 1 +
			r.IntN(300)}}
		d.Same(t, in)
	}
	c := d.Counts()
	t.Logf("%d chunks accepted, %d refused, the last because of %s", c.Chunks, c.Refused, c.Reason)
	if c.Chunks == 0 {
		t.Error("no chunk accepted")
	}
}

// TestDeviceColumnsChange has the type of columns change in the course of the file, so that what
// earlier chunks had is wrong for later ones.
func TestDeviceColumnsChange(t *testing.T) {
	narrow, wide, unsigned := []string{`1`, `-0`, `2147483647`, `-2147483648`}, []string{
		`2147483648`,
		`-7`, `-9223372036854775808`,
	}, []string{`18446744073709551615`, `0`}
	float := []string{`1.5`, `-0.0`, `-0`, `1.00000000000000011102230246251565404`, `9007199254740993`, `1e-400`}
	huge, text, logical := []string{`123456789012345678901234567890`, `-1`}, []string{`"a"`, `"17"`},
		[]string{`true`, `false`}
	mixed, none, lists := []string{`1`, `null`, `true`, `2.5`}, []string{`null`}, []string{`[1,2]`, `3`, `[2.5]`}
	d := readertest.NewDevice(t, geojson.Format(), 2<<10)
	for i, test := range []struct {
		name   string
		phases [][]string
	}{
		{"wider and wider", [][]string{narrow, wide, float, text, mixed}},
		{"narrower", [][]string{float, wide, narrow, none, narrow}},
		{"integers", [][]string{narrow, unsigned, narrow, wide, {`1`, `null`, `true`}}},
		{"float64 last", [][]string{narrow, wide, float, {`1`, `null`, `true`}, huge, narrow, mixed}},
		{"logical", [][]string{logical, narrow, logical, mixed, none, logical}},
		{"lists", [][]string{float, lists, narrow, lists}},
	} {
		for _, name := range []string{"a.geojson", "a.geojsonl"} {
			t.Run(test.name+" "+name, func(t *testing.T) {
				const features, columns = 500, 9 // more than a launch takes
				r := rand.New(rand.NewPCG(9, uint64(100+i)))
				text := deviceFile(r, features, name == "a.geojsonl", func() string {
					return `null`
				}, func(i int) string {
					members := []string{fmt.Sprintf(`"n":%d,"x":%d.25`, i, i)}
					for c := range columns {
						v := test.phases[min((i+13*c)*len(test.phases)/features, len(test.phases)-1)]
						if r.IntN(8) > 0 {
							members = append(members, fmt.Sprintf(`"%c":%s`, 'a'+c, v[r.IntN(len(v))]))
						}
					}
					return strings.Join(members, ", ")
				})
				in := readertest.Input{Name: name, Text: []byte(text), Limits: readers.Limits{BatchRows: 100}}
				d.Accepts(t, 10, in)
			})
		}
	}
}

// TestDeviceColumnErrors breaks nested values at random bytes.
func TestDeviceColumnErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 4))
	d := readertest.NewDevice(t, geojson.Format(), 3<<10)
	runs := 300
	if testing.Short() {
		runs = 40
	}
	for run := range runs {
		text := []byte(deviceFile(r, 90, true, func() string { return `null` }, func(i int) string {
			return fmt.Sprintf(`"n":%d,"tags": {"a": [%d, 2, {"b": null}], "c":"}"},"list":[%d, 2.5],"words" : [ "a" , "%d" ]`, i, i, i, i)
		}))
		for range 1 + r.IntN(2) {
			at := r.IntN(len(text))
			if run%2 == 0 {
				at = len(text)*9/10 + r.IntN(len(text)/10)
			}
			text[at] = "{}[]\",:x0 -\\\x01\xff\n1e."[r.IntN(18)]
		}
		in := readertest.Input{Name: "a.geojsonl", Text: text}
		if r.IntN(3) == 0 {
			in.Options = map[string]any{"on_error": "skip"}
		}
		d.Same(t, in)
	}
	if c := d.Counts(); c.Chunks == 0 || c.Refused == 0 {
		t.Errorf("%d chunks accepted, %d refused, want some of both", c.Chunks, c.Refused)
	}
}

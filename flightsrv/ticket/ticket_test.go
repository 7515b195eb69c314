package ticket

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

func TestParseTicket(t *testing.T) {
	limit, box, rows := int64(0), [4]float64{-82.7, 27.5, -82.2, 28.1}, [2]int64{0, 100000}
	for _, c := range []struct {
		name, text string
		want       Ticket
	}{
		{"name alone", "florida.geojson", Ticket{Name: "florida.geojson"}},
		{"name with space and slash", "a b/ü.geojson", Ticket{Name: "a b/ü.geojson"}},
		{"object", `{"name":"a"}`, Ticket{Name: "a"}},
		{"spaces", " {\"name\":\"a\"}"[1:] + " \n", Ticket{Name: "a"}},
		{"name that begins with a brace", `{"name":"{a}"}`, Ticket{Name: "{a}"}},
		{"everything", `{"name": "florida.geojson", "columns": ["height", "geometry"], "where": "height > 3", "bbox": [-82.7, 27.5, -82.2, 28.1], "rows": [0, 100000], "limit": 0,
 "geometry_encoding": "wkb", "coords": "interleaved", "compression": "zstd", "version": "v", "options": {"on_error": "skip", "n": 1.5, "b": true}}`, Ticket{
			Name: "florida.geojson", Columns: []string{"height", "geometry"}, Where: "height > 3",
			BBox: &box, Rows: &rows, Limit: &limit,
			Encoding:    geoarrow.Encoding{Geometry: geoarrow.AsWKB, Coords: geoarrow.Interleaved},
			Compression: Zstd, Version: "v",
			Options: map[string]any{"on_error": "skip", "n": 1.5, "b": true},
		}},
		{
			"defaults spelled out", `{"name":"a","geometry_encoding":"native","coords":"separated","compression":"none"}`,
			Ticket{Name: "a"},
		},
		{"empty column name", `{"name":"a","columns":[""]}`, Ticket{Name: "a", Columns: []string{""}}},
		{"empty range", `{"name":"a","rows":[5,5]}`, Ticket{Name: "a", Rows: &[2]int64{5, 5}}},
		{"point as bbox", `{"name":"a","bbox":[1,2,1,2]}`, Ticket{Name: "a", BBox: &[4]float64{1, 2, 1, 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse([]byte(c.text))
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Fatalf("ParseTicket(%q)\n got %+v, %v\nwant %+v", c.text, got, err, c.want)
			}
		})
	}
}

func TestParseTicketErrors(t *testing.T) {
	for _, c := range []struct{ name, text, field, words string }{
		{"empty", "", "name", "is missing"},
		{"no UTF-8", "a\xff", "name", "UTF-8"},
		{"no UTF-8 in object", "{\"name\":\"a\xff\"}", "", "UTF-8"},
		{"too long", strings.Repeat("a", MaxBytes+1), "", "65537 bytes"},
		{"no name", `{}`, "name", "is missing"},
		{"empty name", `{"name":""}`, "name", "is empty"},
		{"name is a number", `{"name":1}`, "name", "want a text, have 1"},
		{"name is null", `{"name":null}`, "name", "have null"},
		{"unknown field", `{"name":"a","having":"x > 1"}`, "having", "is unknown"},
		{"other case", `{"Name":"a"}`, "Name", "is unknown"},
		{"twice", `{"name":"a","limit":1,"limit":2}`, "limit", "twice"},
		{"twice, escaped", `{"name":"a","n\u0061me":"b"}`, "name", "twice"},
		{"trailing data", `{"name":"a"}{}`, "", "text after"},
		{"trailing text", `{"name":"a"} x`, "", "text after"},
		{"cut", `{"name":"a"`, "", "too early"},
		{"cut in value", `{"name":"a","bbox":[1,2`, "bbox", "too early"},
		{"comma", `{"name":"a",}`, "", ""},
		{"array", `{"name":["a"]}`, "name", "want a text"},
		{"columns empty", `{"name":"a","columns":[]}`, "columns", "empty"},
		{"columns repeated", `{"name":"a","columns":["h","h"]}`, "columns", "twice"},
		{"columns of numbers", `{"name":"a","columns":[1]}`, "columns", "have 1"},
		{"columns is text", `{"name":"a","columns":"h"}`, "columns", "want an array"},
		{"columns null", `{"name":"a","columns":null}`, "columns", "have null"},
		{"where empty", `{"name":"a","where":" \n"}`, "where", "is empty; leave it out"},
		{"where is a list", `{"name":"a","where":["x > 1"]}`, "where", "want a text"},
		{"bbox of three", `{"name":"a","bbox":[1,2,3]}`, "bbox", "have 3"},
		{"bbox NaN", `{"name":"a","bbox":[1,2,NaN,4]}`, "bbox", "N"},
		{"bbox text NaN", `{"name":"a","bbox":[1,2,"NaN",4]}`, "bbox", "want a number"},
		{"bbox infinite", `{"name":"a","bbox":[1,2,1e999,4]}`, "bbox", "out of range"},
		{"bbox null", `{"name":"a","bbox":[1,2,null,4]}`, "bbox", "have null"},
		{"bbox x", `{"name":"a","bbox":[3,2,1,4]}`, "bbox", "xmin 3 is greater than xmax 1"},
		{"bbox y", `{"name":"a","bbox":[1,5,1,4]}`, "bbox", "ymin 5 is greater than ymax 4"},
		{"rows backwards", `{"name":"a","rows":[2,1]}`, "rows", "start 2 is greater than end 1"},
		{"rows negative", `{"name":"a","rows":[-1,1]}`, "rows", "negative"},
		{"rows fraction", `{"name":"a","rows":[0,1.5]}`, "rows", "whole number"},
		{"rows huge", `{"name":"a","rows":[0,9223372036854775808]}`, "rows", "whole number"},
		{"rows of one", `{"name":"a","rows":[0]}`, "rows", "have 1"},
		{"limit negative", `{"name":"a","limit":-1}`, "limit", "negative"},
		{"limit text", `{"name":"a","limit":"1"}`, "limit", "whole number"},
		{"limit null", `{"name":"a","limit":null}`, "limit", "null"},
		{"encoding", `{"name":"a","geometry_encoding":"geojson"}`, "geometry_encoding", "none of"},
		{"coords", `{"name":"a","coords":"xy"}`, "coords", "none of"},
		{"compression", `{"name":"a","compression":"gzip"}`, "compression", "none of"},
		{"compression bool", `{"name":"a","compression":true}`, "compression", "want a text"},
		{"version empty", `{"name":"a","version":""}`, "version", "empty"},
		{"options array", `{"name":"a","options":[]}`, "options", "object"},
		{"option null", `{"name":"a","options":{"x":null}}`, "options.x", "have null"},
		{"option object", `{"name":"a","options":{"x":{}}}`, "options.x", "have {}"},
		{"option twice", `{"name":"a","options":{"x":1,"x":2}}`, "options.x", "twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse([]byte(c.text))
			var at *Error
			if !errors.As(err, &at) || at.Field != c.field || !strings.Contains(err.Error(), c.words) ||
				!strings.Contains(err.Error(), c.field) {
				t.Fatalf("ParseTicket(%q)\n got %+v, %v\nwant field %q and %q", c.text, got, err, c.field, c.words)
			}
		})
	}
}

func TestParseCommand(t *testing.T) {
	_, err := ParseCommand([]byte(`{"name":"a","rows":[0,1]}`))
	var at *Error
	if !errors.As(err, &at) || at.Field != "rows" {
		t.Errorf("rows in a command: got %v", err)
	}
	if got, err := ParseCommand([]byte("a")); err != nil || got.Name != "a" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func FuzzTicket(f *testing.F) {
	for _, s := range []string{
		"florida.geojson", "", "{", `{"name":"a"}`, `{"name":"{"}`,
		`{"name":"a","rows":[0,1],"limit":0,"options":{"a":"b","c":1e3,"d":false}}`,
		`{"name":"a","bbox":[-0,0,0,1e-320],"columns":["","<&>"],"where":"a<'b'","coords":"interleaved","compression":"lz4","geometry_encoding":"wkt","version":"1"}`,
		`{"name":"a" "limit":1}`, `{"name":"a",,}`, `{"name":"\ud800"}`, "{\"name\":\"a\",\"options\":{}}", `[{}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Parse(b)
		if err != nil {
			var at *Error
			if !errors.As(err, &at) {
				t.Fatalf("%q: %v is no TicketError", b, err)
			}
			return
		}
		if b[0] == '{' && !json.Valid(b) {
			t.Fatalf("%q is taken, but is no JSON", b)
		}
		text := got.Encode()
		again, err := Parse(text)
		if len(got.Options) == 0 { // {} says nothing, so that it is left out
			got.Options = nil
		}
		if err != nil && len(text) <= MaxBytes || err == nil && !reflect.DeepEqual(got, again) {
			t.Fatalf("%q became %q: %+v, then %+v, %v", b, text, got, again, err)
		}
	})
}

package geojson_test

import (
	"fmt"
	"testing"

	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestValuesThatNobodyAskedForAreChecked puts values, malformed ones and good ones, in a property
// and in an id that is not requested.
func TestValuesThatNobodyAskedForAreChecked(t *testing.T) {
	digits := fmt.Sprintf("%0310d", 7)[1:]
	for _, value := range []string{
		"1", "-0", "01", "1.", ".5", "+1", "1e", "1e5", "1E-5", "1e999", "-1E999", "1e-999", "0.1e309",
		"1" + digits, "9" + digits[:307], "0." + digits, "1" + digits + "e-300", "-", "--1", "1x",
		"NaN", "x", "nul", "null", "tru", "true", "falsy", "false", `"`, `"\q"`, `"\u12"`, `"\ud800"`,
		"\"\t\"", "\"\xff\"", `"é\n"`, `""`,
		"[1,2", "[1,1e999]", `["a",1e999]`, "[1,]", "[01]", `[1,"a"]`, "[[1e999]]", "[]", "[null]",
		"[true,false]", `{"a":1e999}`, `{"a":01}`, `{"a"}`, "{}", `{"a":{"b":[1]}}`, "}", "]", "",
	} {
		for _, text := range []string{
			fmt.Sprintf(`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":1,"b":%s},"geometry":null},{"type":"Feature","properties":{"b":true,"a":2},"geometry":null}]}`, value),
			fmt.Sprintf(`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"b":%s,"a":1,"b":"x"},"geometry":null}]}`, value),
			fmt.Sprintf(`{"type":"FeatureCollection","features":[{"type":"Feature","id":%s,"properties":{"b":"x"},"geometry":{"type":"Point","coordinates":[%s,2]}}]}`, value, value),
		} {
			for _, mode := range []string{"fail", "skip"} {
				in := readertest.Input{Name: "a.geojson", Text: []byte(text), Options: map[string]any{"on_error": mode}}
				for _, columns := range [][]string{nil, {"a"}, {"a", "feature_id"}} {
					readertest.Projected(t, geojson.Format(), in, func([]string) []string {
						return columns
					}, windows, portable, parallel)
				}
			}
		}
	}
}

// TestNamesThatTheTableChanges asks for columns by the names that they have only because others are
// there.
func TestNamesThatTheTableChanges(t *testing.T) {
	text := `{"type":"FeatureCollection","features":[
{"type":"Feature","id":7,"properties":{"geometry":"a","geometry_1":1,"id":true,"feature_id":"f","n":1},"geometry":{"type":"Point","coordinates":[1,2]}},
{"type":"Feature","id":8,"properties":{"n":null,"geometry_2":2,"late":[1]},"geometry":{"type":"Point","coordinates":[3,4]}}]}`
	for _, name := range []string{
		"geometry", "geometry_1", "geometry_2", "geometry_3", "id", "feature_id",
		"feature_id_1", "n", "late", "none",
	} {
		for _, rows := range []int{0, 1} {
			in := readertest.Input{Name: "a.geojson", Text: []byte(text)}
			in.Limits.BatchRows = rows
			readertest.Projected(t, geojson.Format(), in, func([]string) []string {
				return []string{name}
			}, windows, parallel)
		}
	}
}

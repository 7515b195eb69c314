package geojson_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestShortTexts has texts of 0 to 40 bytes, which are copied 16 bytes at once if they are short:
// each keeps its own bytes, and what follows them in the file shows nowhere.
func TestShortTexts(t *testing.T) {
	var rows []string
	want := ""
	for n := range 41 {
		text := strings.Repeat(string(rune('a'+n%26)), n)
		rows = append(rows, f("null", fmt.Sprintf(`{"a":%q,"b":%t}`, text, n%3 == 0)))
		want += text
	}
	text := `{"type":"FeatureCollection","features":[` + strings.Join(rows, ",") + "]}"
	table := read(t, text, readers.Limits{})
	if got := string(table.Batches[0].Attributes[0].Values); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	readertest.Same(t, geojson.Format(), readertest.Input{Name: "a.geojson", Text: []byte(text)},
		[]int{64, 65, 127, 128, 129, 1024}, windows, parallel)
}

// TestWrongBooleans has literals that are true or false but for a byte: the error is at that byte.
func TestWrongBooleans(t *testing.T) {
	for _, right := range []string{"true", "false"} {
		for i := 1; i < len(right); i++ {
			text := props(`{"a":` + right[:i] + "x" + right[i+1:] + `}`)
			_, err := readertest.Check(t, geojson.Format(), readertest.Input{Name: "a.geojson", Text: []byte(text)})
			if want := fmt.Sprintf("byte %d,", strings.Index(text, `"a":`)+len(`"a":`)+i); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want an error at %s", text, err, want)
			}
		}
	}
}

package wkt_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name, text string
		limits     readers.Limits
		want       string
	}{
		{
			"depth", "POINT(1 2)\nGEOMETRYCOLLECTION(GEOMETRYCOLLECTION(POINT(1 2)))",
			readers.Limits{MaxDepth: 1},
			"a.wkt: wkt: byte 48, line 2, row 1, geometry: the nesting of collections is beyond the limit 1 of " +
				"--max-depth",
		},
		{
			"default depth", strings.Repeat("GEOMETRYCOLLECTION(", 1025),
			readers.Limits{},
			"byte 19474, line 1, row 0, geometry: the nesting of collections is beyond the limit 1024 of --max-depth",
		},
		{
			"feature", "POINT(1 2)\nLINESTRING(1 2,3 4,5 6)",
			readers.Limits{MaxFeatureBytes: 20},
			"a.wkt: the text at byte 11 is beyond the limit 20 of --max-feature-bytes",
		},
		{
			"blanks in a feature", "POINT(1 2" + strings.Repeat(" ", 30) + ")",
			readers.Limits{MaxFeatureBytes: 20},
			"the text at byte 0 is beyond the limit 20 of --max-feature-bytes",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, skip := range []string{"fail", "skip"} {
				in := readertest.Input{
					Name: "a.wkt", Text: []byte(c.text), Limits: c.limits,
					Options: map[string]any{"on_error": skip},
				}
				_, err := readertest.Parse(t, wkt.Format(), in)
				var limit *readers.LimitError
				if !errors.As(err, &limit) || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got %v, want %s", err, c.want)
				}
				sizes := []int{1, 3, 10, 25, 30, 50, 1000}
				readertest.Same(t, wkt.Format(), in, sizes, variants...)
			}
		})
	}
}

// Blanks between rows may be of any length.
func TestLongGaps(t *testing.T) {
	gap := strings.Repeat(" \n", 1000)
	in := readertest.Input{
		Name: "a.wkt", Text: []byte(gap + "POINT(1 2)\n" + gap + "POINT(3 4)\n" + gap),
		Limits: readers.Limits{MaxFeatureBytes: 100},
	}
	table, err := readertest.Check(t, wkt.Format(), in)
	if err != nil || table.Rows != 2 || !table.Summary.Appendable {
		t.Fatalf("got %v, %v", table, err)
	}
	readertest.Same(t, wkt.Format(), in, []int{1, 7, 64, 1000}, variants...)
}

func TestAppendable(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{"POINT(1 2)\n", true},
		{"POINT(1 2);", true},
		{"POINT(1 2)\r", true},
		{"POINT(1 2)\nPOINT(1 2)\n  ", true},
		{"POINT(1 2)", false},
		{"POINT(1 2)  ", false},
		{"POINT(1 2)\nPOINT EMPTY", false},
		{"SRID=4326;POINT(1 2)\n", false}, // the reader of the following rows does not know it
	} {
		for _, part := range []int{0, 1, 5} {
			in := readertest.Input{Name: "a.wkt", Text: []byte(c.text), Parser: func(l readers.Layout) readers.Parser {
				return wkt.Parallel(l, part)
			}}
			table, err := readertest.Parse(t, wkt.Format(), in)
			if err != nil || table.Summary.Appendable != c.want {
				t.Errorf("%q, parts of %d: %v, want appendable %v", c.text, part, err, c.want)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	f := wkt.Format()
	opts, err := f.ParseOptions(map[string]any{"crs": "Atlantis"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Open(t.Context(), nil, opts)
	var option *readers.OptionError
	if !errors.As(err, &option) || option.Option != "crs" {
		t.Errorf("got %v", err)
	}
}

// Many rows of every kind, in several batches, read with parts and windows of odd sizes.
func TestManyRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 300
	for _, end := range []string{"\n", ";", "\r\n", ";\n"} {
		var b strings.Builder
		for i := range n {
			text := random(r, 0)
			if _, _, err := oracle(text); err != nil {
				text = "NULL"
			} else if i%7 == 0 {
				text = "SRID=4326;" + text
			}
			b.WriteString(text + end)
		}
		in := readertest.Input{Name: "a.wkt", Text: []byte(b.String()), Limits: readers.Limits{
			BatchRows: 120,
			Workers:   1,
		}}
		table, err := readertest.Check(t, wkt.Format(), in)
		if err != nil || table.Rows != n || table.CRS.String() != "EPSG:4326" {
			t.Fatalf("got %v", err)
		}
		readertest.Same(t, wkt.Format(), in, []int{1000, 4099, 30_001}, variants...)
		in.Limits.BatchBytes = 5000
		readertest.Same(t, wkt.Format(), in, []int{4099}, variants...)
	}
}

// The first row whose SRID is another one is named a caller that reads it.
func TestSeveralSRIDsInParts(t *testing.T) {
	for _, at := range []int{1, 49, 50, 51, 98, 99} {
		var b strings.Builder
		var want int
		for i := range 100 {
			switch {
			case i == at:
				want = b.Len()
				b.WriteString("SRID=1;")
			case i > at || i == at/2:
				b.WriteString("SRID=2;")
			}
			fmt.Fprintf(&b, "POINT(%d 0)\n", i)
		}
		in := readertest.Input{Name: "a.wkt", Text: []byte(b.String())}
		_, err := readertest.Parse(t, wkt.Format(), in)
		place, wrong := readertest.Place(err)
		if wrong != nil || place == nil || place.Offset != int64(want) || place.Row != int64(at) {
			t.Fatalf("at %d: got %v, want byte %d", at, err, want)
		}
		for size := 1; size < b.Len()/2; size += 1 + size/8 {
			readertest.Same(t, wkt.Format(), in, []int{size}, variants[2:]...)
		}
	}
}

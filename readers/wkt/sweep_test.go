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

// sweepSeed is that of the first document; the others follow.
const sweepSeed = 20261122

// document returns rows of random geometries with anything that may be between them, and now and
// then of what may not.
func document(r *rand.Rand) []byte {
	var b strings.Builder
	if r.IntN(5) == 0 {
		b.WriteString("\xEF\xBB\xBF")
	}
	srid := r.IntN(3) == 0
	for range r.IntN(12) {
		row := random(r, 2)
		if r.IntN(3) > 0 {
			row = fmt.Sprintf("POINT(%s %s)", randomNumber(r), randomNumber(r))
		}
		switch r.IntN(12) {
		case 0:
			row = []string{
				"NULL", "null", "nul", "x", "SRID=1", "POINT(x 1)", "POINT(1 2) x", "LINESTRING(1 2,",
				"TIN(0 0)", "SRID=7;POINT(x)",
			}[r.IntN(10)]
		case 1:
			row = fmt.Sprintf("SRID=%d;%s", r.IntN(3), row)
		}
		if srid {
			row = "SRID=4326;" + row
		}
		b.WriteString(row)
		b.WriteString([]string{"\n", "\n", "\n", "\r\n", "\r", ";", ";", "\n\n", " ;\n", "\t\n "}[r.IntN(10)])
	}
	text := []byte(b.String())
	for range r.IntN(3) * r.IntN(2) {
		text = mutated(r, text)
	}
	return text
}

const mutations = "(),; \n\x000-eE.NS"

// mutated returns a text with a byte flipped, cut off, left out or put in, or with a run of bytes
// twice or moved.
func mutated(r *rand.Rand, text []byte) []byte {
	if len(text) == 0 {
		return text
	}
	i, k := r.IntN(len(text)), r.IntN(len(text))
	i, k = min(i, k), max(i, k)
	a, m, z := string(text[:i]), string(text[i:k]), string(text[k:])
	switch r.IntN(6) {
	case 0:
		text[i] ^= 1 << r.IntN(8)
		return text
	case 1:
		return text[:k]
	case 2:
		return []byte(a + m + z[1:])
	case 3:
		return []byte(a + string(mutations[r.IntN(len(mutations))]) + m + z)
	case 4:
		return []byte(a + m + m + z)
	}
	return []byte(z + m + a)
}

// Random documents give one table, or one error, whatever the windows, parts, workers and batches,
// and each chunk of them gives itself again.
func TestSweep(t *testing.T) {
	documents := 1000
	if testing.Short() {
		documents = 300
	}
	for n := range documents {
		seed := uint64(sweepSeed + n)
		r := rand.New(rand.NewPCG(seed, 0))
		in := readertest.Input{Name: "a.wkt", Text: document(r), Limits: readers.Limits{Workers: 1}}
		if r.IntN(2) == 0 {
			in.Options = map[string]any{"on_error": []string{"skip", "null", "repair"}[seed%3]}
		}
		in.Limits.BatchRows = []int{0, 1, 2, 1 + r.IntN(100)}[r.IntN(4)]
		if r.IntN(4) == 0 {
			in.Limits.BatchBytes = 1 + r.Int64N(200)
		}
		_, _ = readertest.Check(t, wkt.Format(), in)
		readertest.Same(t, wkt.Format(), in, []int{1 + r.IntN(8), 1 + r.IntN(len(in.Text)+1), 1 << 16}, variants...)
		sweepSpans(t, in)
		if t.Failed() {
			t.Fatalf("document %d: seed %d, options %v, limits %+v", n, seed, in.Options, in.Limits)
		}
	}
}

// sweepSpans reads each chunk of a text again.
func sweepSpans(t *testing.T, in readertest.Input) {
	t.Helper()
	src, p := open(t, string(in.Text), in.Options)
	defer src.Close()
	var chunks []readers.Chunk
	_, err := p.Parse(t.Context(), src, readers.Request{Span: readers.Span{To: -1}, Limits: in.Limits},
		func(c readers.Chunk) error {
			chunks = append(chunks, c)
			return nil
		})
	if bad := new(readers.ParseError); err != nil && !errors.As(err, &bad) {
		t.Fatal(err)
	}
	for i, c := range chunks {
		if c.Columns.Rows == 0 {
			continue
		}
		again := parse(t, p, src, c.Span, in.Limits.Unbatched())
		if len(again) != 1 || dump(again[0]) != dump(c) {
			t.Errorf("%q\nchunk %d, %+v, read again is %d chunks, %s\nwant\n%s", in.Text, i, c.Span,
				len(again), dump(again[0]), dump(c))
		}
	}
}

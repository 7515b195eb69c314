package wkt_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// document is rows of random geometries with anything that may stand between them, and now and then
// of what may not.
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

// TestSweep reads random documents, some of them with mistakes.
func TestSweep(t *testing.T) {
	readertest.Sweep{
		Format: wkt.Format(), Documents: 6000, Document: newSweepDocument, Variants: variants,
	}.CPU(t)
}

// newSweepDocument writes the document of a seed.
func newSweepDocument(seed uint64) readertest.Input {
	r := rand.New(rand.NewPCG(seed, 0))
	in := readertest.Input{Name: "a.wkt", Text: document(r)}
	if r.IntN(2) == 0 {
		in.Options = map[string]any{"on_error": []string{"skip", "null", "repair"}[seed%3]}
	}
	in.Limits.BatchRows = []int{0, 1, 2, 1 + r.IntN(100)}[r.IntN(4)]
	if r.IntN(4) == 0 {
		in.Limits.BatchBytes = 1 + r.Int64N(200)
	}
	return in
}

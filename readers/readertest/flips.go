package readertest

import (
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
)

// Flips reads the small files of testdata with one bit flipped, for each bit that is a multiple of
// step, and checks for a canonical table or an error with a position. It is for binary formats,
// where every bit may be in a length.
func Flips(t *testing.T, f readers.Format, step int) {
	for _, g := range goldens(t, f) {
		if len(g.text) > smallBytes {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			for bit := 0; bit < 8*len(g.text); bit += step {
				text := slices.Clone(g.text)
				text[bit/8] ^= 1 << (bit % 8)
				if _, _ = Check(t, f, Input{Name: g.name, Text: text}); t.Failed() {
					t.Fatalf("bit %d", bit)
				}
			}
		})
	}
}

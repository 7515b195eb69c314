package geojson

import (
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// TestOpening: each usual beginning of a geometry is known as a whole, and nothing else is,
// wherever the text ends or differs.
func TestOpening(t *testing.T) {
	for k := geoarrow.Point; k <= geoarrow.GeometryCollection; k++ {
		for _, text := range []string{openings[k], spacedOpenings[k]} {
			if got, end := openingOf(text); text != "" && (got != k || end != len(text)) {
				t.Errorf("%s: got kind %v and index %d, want %v and %d", text, got, end, k, len(text))
			}
			for i := range text {
				other := []byte(text)
				other[i]++
				for _, other := range []string{text[:i], string(other)} {
					if got, end := openingOf(other); got != geoarrow.NoKind || end != 0 {
						t.Errorf("%s: got kind %v and index %d, want none", other, got, end)
					}
				}
			}
		}
	}
}

func openingOf(text string) (k geoarrow.Kind, end int) {
	buf := append([]byte(text), make([]byte, number.Padding)...)
	var s scanner
	s.Q, s.N = unsafe.Pointer(unsafe.SliceData(buf)), len(text)
	return s.opening(0)
}

package geoarrow

import (
	"encoding/binary"
	"math"
)

// FillXY fills x and y, equally long, from pairs of little-endian doubles, as files of positions in
// binary have them. Every NaN becomes the canonical one.
func FillXY(x, y []float64, pairs []byte) {
	y = y[:len(x)]
	for i := range x {
		p := pairs[16*i:][:16]
		a, b := math.Float64frombits(binary.LittleEndian.Uint64(p)),
			math.Float64frombits(binary.LittleEndian.Uint64(p[8:]))
		if a != a {
			a = nan
		}
		if b != b {
			b = nan
		}
		x[i], y[i] = a, b
	}
}

// Fill fills v from little-endian doubles. Every NaN becomes the canonical one.
func Fill(v []float64, doubles []byte) {
	for i := range v {
		a := math.Float64frombits(binary.LittleEndian.Uint64(doubles[8*i:]))
		if a != a {
			a = nan
		}
		v[i] = a
	}
}

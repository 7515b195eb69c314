package geoarrow

import (
	"bytes"
	"slices"
	"testing"
)

// TestShare has work of any size done once, byte by byte, a caller that helps.
func TestShare(t *testing.T) {
	for _, helpers := range []int{0, 1, 3} {
		for _, size := range []int{0, 1, sharedBytes - 1, sharedBytes, sharedBytes + 1, 9*sharedBytes + 5} {
			done := make([]byte, size)
			(&Arena{Helpers: helpers}).share(size, func(from, to int) {
				for i := range done[from:to] {
					done[from+i]++
				}
			})
			if n := bytes.Count(done, []byte{1}); n != size {
				t.Errorf("%d helpers: %d of %d bytes are done once", helpers, n, size)
			}
		}
	}
}

// TestAppendWithHelpers appends columns that are copied in pieces.
func TestAppendWithHelpers(t *testing.T) {
	const rows = 3*sharedBytes/8 + 7
	c := &Columns{Rows: rows, Geometry: &Geometry{
		Rows: rows, Kind: Point, X: make([]float64, rows),
		Y: make([]float64, rows),
	}}
	for i := range rows {
		c.Geometry.X[i], c.Geometry.Y[i] = float64(i), float64(-i)
	}
	j := Concatenation{Memory: &Arena{Helpers: 3}}
	for _, span := range [][2]int{{0, rows}, {1, rows}, {5, 9}} {
		if err := j.Append(c, span[0], span[1]); err != nil {
			t.Fatal(err)
		}
	}
	want := slices.Concat(c.Geometry.X, c.Geometry.X[1:], c.Geometry.X[5:9])
	if got := j.Columns().Geometry; !slices.Equal(got.X, want) || !slices.Equal(got.Y[rows:2*rows-1],
		c.Geometry.Y[1:]) {
		t.Error("rows that were appended are others")
	}
}

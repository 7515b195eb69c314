package geoarrow

import (
	"encoding/binary"
	"math"
	"slices"
)

// Move returns geometries of the same structure with other x and y, which move gives for all
// positions in one call: it fills toX and toY, which do not overlap x and y. Z and M are shared.
func (g *Geometry) Move(move func(x, y, toX, toY []float64) error) (*Geometry, error) {
	if g.Kind == NoKind {
		return g.moveWKB(move)
	}
	out := *g
	out.X, out.Y = make([]float64, len(g.X)), make([]float64, len(g.X))
	if err := move(g.X, g.Y, out.X, out.Y); err != nil {
		return nil, err
	}
	if g.Kind == Point && g.Nulls > 0 {
		for i := range g.Rows {
			if !g.valid(i) {
				out.X[i], out.Y[i] = 0, 0
			}
		}
	}
	return &out, nil
}

// moveWKB is Move for a WKB column.
func (g *Geometry) moveWKB(move func(x, y, toX, toY []float64) error) (*Geometry, error) {
	out := *g
	out.WKB = slices.Clone(g.WKB)
	var x, y []float64
	g.eachWKBRun(out.WKB, func(h wkbHead, p []byte) {
		size := h.dim.Size()
		for i := 0; i < len(p)/8; i += size {
			x, y = append(x, h.ordinate(p, i)), append(y, h.ordinate(p, i+1))
		}
	})
	toX, toY := make([]float64, len(x)), make([]float64, len(x))
	if err := move(x, y, toX, toY); err != nil {
		return nil, err
	}
	g.eachWKBRun(out.WKB, func(h wkbHead, p []byte) {
		n := len(p) / 8 / h.dim.Size()
		for i := range n {
			at := p[8*i*h.dim.Size():]
			binary.LittleEndian.PutUint64(at, math.Float64bits(toX[i]))
			binary.LittleEndian.PutUint64(at[8:], math.Float64bits(toY[i]))
		}
		toX, toY = toX[n:], toY[n:]
	})
	return &out, nil
}

// eachWKBRun calls f with every run of positions of all rows, in bytes that replace those of the
// column.
func (g *Geometry) eachWKBRun(wkb []byte, f func(h wkbHead, positions []byte)) {
	for i := range g.Rows {
		if g.valid(i) {
			_ = wkbRuns(wkb[g.Offsets[i]:g.Offsets[i+1]], f) // a column has valid WKB
		}
	}
}

package geoarrow

import (
	"encoding/binary"
	"math"
	"slices"
)

// ToWKB returns the column as ISO WKB, each row with the kind and dimension that it has in the
// file. It returns a WKB column unchanged. More than 2^31-1 bytes give ErrBatchTooLarge before
// anything is allocated.
func (g *Geometry) ToWKB() (*Geometry, error) {
	if g.Kind == NoKind {
		return g, nil
	}
	out := &Geometry{
		Rows: g.Rows, Dim: g.Dim, Nulls: g.Nulls, Valid: g.Valid, Kinds: g.rowKinds(),
		Offsets: make([]int32, g.Rows+1),
	}
	var size int64
	s := g.view()
	for i := range g.Rows {
		if g.moveTo(&s, i) {
			size += int64(s.wkbSize())
		}
		if size > math.MaxInt32 {
			return nil, ErrBatchTooLarge
		}
		out.Offsets[i+1] = int32(size)
	}
	out.WKB = make([]byte, size)
	rest := out.WKB
	for i := range g.Rows {
		if g.moveTo(&s, i) {
			rest = s.putWKB(rest)
		}
	}
	return out, nil
}

// rowKinds returns Kinds as a WKB column has it: never nil.
func (g *Geometry) rowKinds() []RowKind {
	if g.Kinds != nil {
		return g.Kinds
	}
	kinds := make([]RowKind, g.Rows)
	for i := range kinds {
		if g.valid(i) {
			kinds[i] = MakeRowKind(g.Kind, g.Dim)
		}
	}
	return kinds
}

// ToWKT returns the rows as WKT, each with the kind and dimension that it has in the file; null
// rows are empty. offsets has Rows+1 elements and starts at 0. More than 2^31-1 bytes give
// ErrBatchTooLarge; malformed bytes in a WKB column give a *WKBError.
func (g *Geometry) ToWKT() (offsets []int32, text []byte, err error) {
	const digits = 18 // of a usual number with its separator: an estimate, not a limit
	text = make([]byte, 0, min(int64(len(g.X))*int64(digits*g.Dim.Size())+int64(len(g.WKB))*2, math.MaxInt32))
	offsets = make([]int32, g.Rows+1)
	s := g.view()
	for i := range g.Rows {
		switch {
		case g.Kind != NoKind:
			if g.moveTo(&s, i) {
				text = AppendWKT(text, s)
			}
		case g.valid(i):
			if text, err = WKBToWKT(text, g.WKB[g.Offsets[i]:g.Offsets[i+1]]); err != nil {
				return nil, nil, err
			}
		}
		if len(text) > math.MaxInt32 {
			return nil, nil, ErrBatchTooLarge
		}
		offsets[i+1] = int32(len(text))
	}
	return offsets, slices.Clip(text), nil
}

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

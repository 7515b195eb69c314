package geoarrow

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
)

// Concat gives the rows of the parts one behind the other, copied to memory of the arena. All parts have the same columns of the same types,
// and geometries of one Kind and Dim (Widen and Promote before). More than 2^31-1 bytes of text or WKB, or positions, are ErrBatchTooLarge.
func Concat(mem *Arena, parts []*Columns) (*Columns, error) {
	if len(parts) == 0 {
		return &Columns{}, nil
	}
	var full []*Columns
	out := &Columns{}
	for _, p := range parts {
		if p.Rows > 0 {
			full = append(full, p)
			out.Rows += p.Rows
		}
	}
	if len(full) == 0 {
		full = parts[:1]
	}
	out.Attributes = make([]Column, len(full[0].Attributes))
	for i := range out.Attributes {
		columns := make([]*Column, len(full))
		rows := make([]int, len(full))
		for k, p := range full {
			columns[k], rows[k] = &p.Attributes[i], p.Rows
		}
		column, err := concatColumn(mem, columns, rows)
		if err != nil {
			return nil, err
		}
		out.Attributes[i] = column
	}
	if full[0].Geometry == nil {
		return out, nil
	}
	geometries := make([]*Geometry, len(full))
	for k, p := range full {
		geometries[k] = p.Geometry
	}
	var err error
	out.Geometry, err = concatGeometry(mem, geometries)
	return out, err
}

func concatColumn(mem *Arena, parts []*Column, rows []int) (Column, error) {
	out := *parts[0]
	for _, p := range parts[1:] {
		out.Facts = out.Facts.Join(p.Facts)
		out.Rounded += p.Rounded
		out.Replaced += p.Replaced
		out.Nulls += p.Nulls
	}
	var err error
	out.Valid = concatValid(column(parts, func(p *Column) []byte { return p.Valid }), rows, out.Nulls)
	switch out.Type.(type) {
	case *arrow.StringType:
		out.Offsets, err = concatOffsets(mem, column(parts, func(p *Column) []int32 { return p.Offsets }))
		out.Values = concat(mem, column(parts, func(p *Column) []byte { return p.Values }))
	case *arrow.ListType:
		offsets := column(parts, func(p *Column) []int32 { return p.Offsets })
		if out.Offsets, err = concatOffsets(mem, offsets); err != nil {
			return Column{}, err
		}
		children := make([]*Column, len(parts))
		elements := make([]int, len(parts))
		for k, p := range parts {
			children[k], elements[k] = p.Child, int(p.Offsets[rows[k]])
		}
		child, err := concatColumn(mem, children, elements)
		out.Child = &child
		return out, err
	case *arrow.BooleanType:
		out.Values = concatBits(column(parts, func(p *Column) []byte { return p.Values }), rows)
	default:
		out.Values = concat(mem, column(parts, func(p *Column) []byte { return p.Values }))
	}
	return out, err
}

func concatGeometry(mem *Arena, parts []*Geometry) (*Geometry, error) {
	out := &Geometry{Kind: parts[0].Kind, Dim: parts[0].Dim}
	rows := make([]int, len(parts))
	kinds := false
	for k, p := range parts {
		rows[k] = p.Rows
		out.Rows += p.Rows
		out.Nulls += p.Nulls
		kinds = kinds || p.Kinds != nil
	}
	out.Valid = concatValid(column(parts, func(p *Geometry) []byte { return p.Valid }), rows, out.Nulls)
	if kinds {
		out.Kinds = concat(mem, column(parts, (*Geometry).rowKinds))
	}
	var errs [4]error
	for i, level := range []struct {
		to   *[]int32
		from func(p *Geometry) []int32
	}{
		{&out.Geoms, func(p *Geometry) []int32 { return p.Geoms }},
		{&out.Parts, func(p *Geometry) []int32 { return p.Parts }},
		{&out.Rings, func(p *Geometry) []int32 { return p.Rings }},
		{&out.Offsets, func(p *Geometry) []int32 { return p.Offsets }},
	} {
		*level.to, errs[i] = concatOffsets(mem, column(parts, level.from))
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	out.X = concat(mem, column(parts, func(p *Geometry) []float64 { return p.X }))
	out.Y = concat(mem, column(parts, func(p *Geometry) []float64 { return p.Y }))
	out.Z = concat(mem, column(parts, func(p *Geometry) []float64 { return p.Z }))
	out.M = concat(mem, column(parts, func(p *Geometry) []float64 { return p.M }))
	out.WKB = concat(mem, column(parts, func(p *Geometry) []byte { return p.WKB }))
	return out, nil
}

// column takes one slice of each part.
func column[P, S any](parts []*P, of func(p *P) S) []S {
	slices := make([]S, len(parts))
	for k, p := range parts {
		slices[k] = of(p)
	}
	return slices
}

// concat joins slices in one allocation; nil if all are empty.
func concat[T Fixed | ~uint8](mem *Arena, slices [][]T) []T {
	n := 0
	for _, s := range slices {
		n += len(s)
	}
	if n == 0 {
		return nil
	}
	out := Alloc[T](mem, n)
	for _, s := range slices {
		out = append(out, s...)
	}
	return out
}

// concatOffsets joins offsets that each start at 0 so that they go on where the part before ended; nil if the first part has none.
func concatOffsets(mem *Arena, parts [][]int32) ([]int32, error) {
	if len(parts[0]) == 0 {
		return nil, nil
	}
	n, end := 1, int64(0)
	for _, p := range parts {
		n += len(p) - 1
		end += int64(p[len(p)-1])
	}
	if end > math.MaxInt32 {
		return nil, ErrBatchTooLarge
	}
	out := append(Alloc[int32](mem, n), 0)
	for _, p := range parts {
		base := out[len(out)-1]
		for _, o := range p[1:] {
			out = append(out, base+o)
		}
	}
	return out, nil
}

func concatBits(parts [][]byte, rows []int) []byte {
	n := 0
	for _, r := range rows {
		n += r
	}
	out := make([]byte, (n+7)/8)
	at := 0
	for k, p := range parts {
		copyBits(out, at, p, 0, rows[k])
		at += rows[k]
	}
	return out
}

// concatValid joins validities, of which a nil one is all ones.
func concatValid(parts [][]byte, rows []int, nulls int) []byte {
	if nulls == 0 {
		return nil
	}
	n := 0
	for _, r := range rows {
		n += r
	}
	out := make([]byte, (n+7)/8)
	at := 0
	for k, p := range parts {
		if p == nil {
			setBits(out, at, rows[k])
		} else {
			copyBits(out, at, p, 0, rows[k])
		}
		at += rows[k]
	}
	return out
}

// setBits sets n bits from bit at on.
func setBits(b []byte, at, n int) {
	for end := at + n; at < end; {
		if at&7 == 0 && end-at >= 8 {
			b[at>>3] = 0xff
			at += 8
			continue
		}
		b[at>>3] |= 1 << (at & 7)
		at++
	}
}

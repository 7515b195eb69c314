package restrict

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// masked returns the visible columns of rows of the table, with the values of masks.
func (p *part) masked(ctx context.Context, c *geoarrow.Columns) (*geoarrow.Columns, error) {
	out := p.rule.project(c)
	if len(p.rule.masks) == 0 {
		return out, nil
	}
	var computed []Mask
	for _, m := range p.rule.masks {
		if !m.isNull() {
			computed = append(computed, m.Mask)
			continue
		}
		if m.to < len(out.Attributes) {
			out.Attributes[m.to] = geoarrow.NullColumn(out.Attributes[m.to], c.Rows)
		} else {
			out.Geometry = geoarrow.NullGeometry(c.Rows, out.Geometry.Kind, out.Geometry.Dim)
		}
	}
	if len(computed) == 0 {
		return out, nil
	}
	t := &readers.Table{
		Batches: []*geoarrow.Columns{c}, Starts: []int64{0, int64(c.Rows)}, Rows: int64(c.Rows), CRS: p.table.CRS,
	}
	values, err := p.evaluator.Compute(ctx, t, computed)
	if err != nil {
		return nil, p.failed(ctx, err)
	}
	defer func() {
		for _, a := range values {
			a.Release()
		}
	}()
	for i, m := range p.rule.computed() {
		if m.to < len(out.Attributes) {
			var column geoarrow.Column
			if column, err = columnOf(&out.Attributes[m.to], values[i], c.Rows); err == nil {
				out.Attributes[m.to] = column
			}
		} else {
			out.Geometry, err = geometryOf(values[i], c.Rows)
		}
		if err != nil {
			return nil, p.failed(ctx, fmt.Errorf("mask %s: %w", m.Expression, err))
		}
	}
	return out, nil
}

// columnOf returns a column like another one with the values of an array.
func columnOf(like *geoarrow.Column, a arrow.Array, rows int) (geoarrow.Column, error) {
	out := geoarrow.NullColumn(*like, rows)
	out.Rounded, out.Replaced = 0, 0
	if a.Len() != rows {
		return out, fmt.Errorf("%d values for %d rows", a.Len(), rows)
	}
	if a.NullN() == rows || rows == 0 {
		return out, nil
	}
	v := valuesOf{a, a.DataType()}
	out.Nulls, out.Valid = a.NullN(), nil
	if out.Nulls > 0 {
		out.Valid = make([]byte, (rows+7)/8)
		for i := range rows {
			if a.IsValid(i) {
				out.Valid[i>>3] |= 1 << (i & 7)
			}
		}
	}
	return out, v.fill(&out, rows)
}

// valuesOf are the values of an array.
type valuesOf struct {
	arrow.Array
	is arrow.DataType
}

// fill sets the slices of a column of nulls to the values.
func (v valuesOf) fill(to *geoarrow.Column, rows int) error {
	switch t := to.Type.(type) {
	case *arrow.StringType:
		if a, ok := v.Array.(*array.String); ok {
			return fillBytes(to, rows, a.IsValid, func(i int) []byte { return []byte(a.Value(i)) })
		}
	case *arrow.BinaryType:
		if a, ok := v.Array.(*array.Binary); ok {
			return fillBytes(to, rows, a.IsValid, a.Value)
		}
	case *arrow.BooleanType:
		if a, ok := v.Array.(*array.Boolean); ok {
			for i := range rows {
				if a.IsValid(i) && a.Value(i) {
					to.Values[i>>3] |= 1 << (i & 7)
				}
			}
			return nil
		}
	case *arrow.ListType:
		if a, ok := v.Array.(*array.List); ok {
			return fillList(to, t, a, rows)
		}
	case arrow.FixedWidthDataType:
		if factor, divisor, ok := unitsBetween(v.is, t); ok {
			return v.fillUnits(to, rows, factor, divisor, t.BitWidth()/8)
		}
		if arrow.TypeEqual(v.is, t) {
			v.fillFixed(to, rows, t.BitWidth()/8)
			return nil
		}
	}
	return fmt.Errorf("its values are %s, and those of the column %s", v.is, to.Type)
}

var errLong = errors.New("the texts of a batch need more than 2 GiB")

// fillBytes sets texts or bytes.
func fillBytes(to *geoarrow.Column, rows int, valid func(int) bool, value func(int) []byte) error {
	for i := range rows {
		if valid(i) {
			to.Values = append(to.Values, value(i)...)
		}
		if len(to.Values) > 1<<31-1 {
			return errLong
		}
		to.Offsets[i+1] = int32(len(to.Values))
	}
	return nil
}

// fillList sets lists.
func fillList(to *geoarrow.Column, t *arrow.ListType, a *array.List, rows int) error {
	var parts []arrow.Array
	elements := 0
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	for i := range rows {
		if a.IsValid(i) {
			from, until := a.ValueOffsets(i)
			if from < until {
				parts = append(parts, array.NewSlice(a.ListValues(), from, until))
				elements += int(until - from)
			}
		}
		to.Offsets[i+1] = int32(elements)
	}
	child := geoarrow.Column{Type: t.Elem()}
	if elements == 0 {
		child = geoarrow.NullColumn(child, 0)
		to.Child = &child
		return nil
	}
	all, err := array.Concatenate(parts, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	defer all.Release()
	if all.NullN() > 0 && !t.ElemField().Nullable {
		return errors.New("its lists have nulls, and those of the column have none")
	}
	child, err = columnOf(&child, all, elements)
	to.Child = &child
	return err
}

// fillFixed copies values of width bytes.
func (v valuesOf) fillFixed(to *geoarrow.Column, rows, width int) {
	from := v.Data().Buffers()[1].Bytes()[v.Data().Offset()*width:]
	for i := range rows {
		if v.IsValid(i) {
			copy(to.Values[i*width:(i+1)*width], from[i*width:(i+1)*width])
		}
	}
}

// fillUnits copies times of another unit.
func (v valuesOf) fillUnits(to *geoarrow.Column, rows int, factor, divisor int64, width int) error {
	from := geoarrow.View[int64](v.Data().Buffers()[1].Bytes())[v.Data().Offset():]
	for i := range rows {
		if !v.IsValid(i) {
			continue
		}
		n := from[i]
		if n%divisor != 0 {
			return fmt.Errorf("a value of it is not a multiple of the unit of %s", to.Type)
		}
		n = n / divisor * factor
		if width == 4 {
			geoarrow.View[int32](to.Values)[i] = int32(n)
		} else {
			geoarrow.View[int64](to.Values)[i] = n
		}
	}
	return nil
}

// unitsBetween returns by what times of one type are multiplied and divided to be of another. SQL
// has microseconds where a table has other units, and integers for durations.
func unitsBetween(from, to arrow.DataType) (factor, divisor int64, ok bool) {
	var of, into arrow.TimeUnit
	switch f := from.(type) {
	case *arrow.TimestampType:
		t, is := to.(*arrow.TimestampType)
		if !is {
			return 0, 0, false
		}
		of, into = f.Unit, t.Unit
	case *arrow.Time64Type:
		of = f.Unit
		switch t := to.(type) {
		case *arrow.Time32Type:
			into = t.Unit
		case *arrow.Time64Type:
			into = t.Unit
		default:
			return 0, 0, false
		}
	case *arrow.Int64Type:
		_, is := to.(*arrow.DurationType)
		return 1, 1, is
	default:
		return 0, 0, false
	}
	a, b := int64(of.Multiplier()), int64(into.Multiplier()) // nanoseconds of a unit
	if a >= b {
		return a / b, 1, true
	}
	return 1, b / a, true
}

// geometryOf returns geometries of any kinds from WKB.
func geometryOf(a arrow.Array, rows int) (*geoarrow.Geometry, error) {
	if a.Len() != rows {
		return nil, fmt.Errorf("%d values for %d rows", a.Len(), rows)
	}
	if a.NullN() == rows {
		return geoarrow.NullGeometry(rows, geoarrow.NoKind, geoarrow.XY), nil
	}
	wkb, ok := a.(*array.Binary)
	if !ok {
		return nil, fmt.Errorf("its values are %s, not geometries", a.DataType())
	}
	var d geoarrow.WKBDecoder
	var b geoarrow.GeometryBuilder
	b.Reset()
	for i := range rows {
		if wkb.IsNull(i) {
			b.Null()
			continue
		}
		kind, _, err := d.Read(&b, wkb.Value(i))
		if err != nil {
			return nil, err
		}
		if kind == geoarrow.GeometryCollection {
			b.EndCollection()
		} else {
			b.End(kind)
		}
	}
	g, err := b.Finish()
	if err != nil {
		return nil, err
	}
	return g.ToWKB()
}

package geoarrow

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Record wraps the rows as an Arrow record of the schema, which the caller releases. columns are
// indices of the fields of Schema (the geometry is len(Attributes)); nil means all. schema has
// exactly these fields, in this order.
//
// The record's buffers are the columns' slices, or new ones if the encoding has another layout
// (interleaved, WKB, WKT). Both are on the Go heap, and Release frees nothing. More than 2^31-1
// bytes of WKB or WKT give ErrBatchTooLarge.
func (c *Columns) Record(schema *arrow.Schema, columns []int, enc Encoding) (arrow.Record, error) {
	if columns == nil {
		columns = make([]int, schema.NumFields())
		for i := range columns {
			columns[i] = i
		}
	}
	if len(columns) != schema.NumFields() {
		return nil, fmt.Errorf("%d columns for a schema of %d fields", len(columns), schema.NumFields())
	}
	arrays := make([]arrow.Array, len(columns))
	defer func() {
		for _, a := range arrays {
			if a != nil {
				a.Release()
			}
		}
	}()
	for i, k := range columns {
		data, err := c.data(k, enc)
		if err != nil {
			return nil, err
		}
		if f := schema.Field(i); !arrow.TypeEqual(f.Type, data.DataType()) {
			data.Release()
			return nil, fmt.Errorf("column %s: the schema says %s, the rows are %s", f.Name, f.Type, data.DataType())
		}
		arrays[i] = array.MakeFromData(data)
		data.Release()
	}
	return array.NewRecord(schema, arrays, int64(c.Rows)), nil
}

func (c *Columns) data(k int, enc Encoding) (*array.Data, error) {
	switch {
	case k >= 0 && k < len(c.Attributes):
		return c.Attributes[k].data(c.Rows), nil
	case k == len(c.Attributes) && c.Geometry != nil:
		return c.Geometry.data(enc)
	}
	return nil, fmt.Errorf("column %d of %d", k, len(c.Attributes))
}

func (c *Column) data(rows int) *array.Data {
	switch c.Type.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		return newData(c.Type, rows, c.Nulls, buffers(c.Valid, AsBytes(c.Offsets), c.Values))
	case *arrow.ListType:
		elements := 0
		if rows > 0 {
			elements = int(c.Offsets[rows])
		}
		return newData(c.Type, rows, c.Nulls, buffers(c.Valid, AsBytes(c.Offsets)), c.Child.data(elements))
	}
	return newData(c.Type, rows, c.Nulls, buffers(c.Valid, c.Values))
}

func (g *Geometry) data(enc Encoding) (*array.Data, error) {
	switch {
	case enc.Geometry == AsWKT:
		offsets, text, err := g.ToWKT()
		if err != nil {
			return nil, err
		}
		return newData(arrow.BinaryTypes.String, g.Rows, g.Nulls, buffers(g.Valid, AsBytes(offsets), text)), nil
	case enc.Geometry == AsWKB, g.Kind == NoKind:
		w, err := g.ToWKB()
		if err != nil {
			return nil, err
		}
		return newData(arrow.BinaryTypes.Binary, g.Rows, g.Nulls, buffers(g.Valid, AsBytes(w.Offsets), w.WKB)), nil
	}
	if g.Kind == Point {
		return g.coordData(g.Rows, g.Nulls, g.Valid, enc.Coords), nil
	}
	// From the inside out: the elements that an inner list's offsets count are the next list's
	// children.
	t := coordType(g.Dim, enc.Coords)
	data := g.coordData(len(g.X), 0, nil, enc.Coords)
	levels, offsets := levelNames[g.Kind], g.levelOffsets()
	for i := len(levels) - 1; i >= 0; i-- {
		t = arrow.ListOfField(arrow.Field{Name: levels[i], Type: t})
		if i == 0 {
			data = newData(t, g.Rows, g.Nulls, buffers(g.Valid, AsBytes(offsets[i])), data)
			break
		}
		data = newData(t, len(offsets[i])-1, 0, buffers(nil, AsBytes(offsets[i])), data)
	}
	return data, nil
}

// levelOffsets returns the offsets of the lists that levelNames names.
func (g *Geometry) levelOffsets() [][]int32 {
	switch g.Kind {
	case LineString, MultiPoint:
		return [][]int32{g.Geoms}
	case MultiPolygon:
		return [][]int32{g.Geoms, g.Parts, g.Rings}
	}
	return [][]int32{g.Geoms, g.Rings}
}

// coordData wraps n coordinates.
func (g *Geometry) coordData(n, nulls int, valid []byte, layout CoordLayout) *array.Data {
	t := coordType(g.Dim, layout)
	if layout == Interleaved {
		flat := newData(arrow.PrimitiveTypes.Float64, n*g.Dim.Size(), 0, buffers(nil, AsBytes(g.interleave())))
		return newData(t, n, nulls, buffers(valid), flat)
	}
	var children []arrow.ArrayData
	for _, v := range g.ordinates() {
		children = append(children, newData(arrow.PrimitiveTypes.Float64, n, 0, buffers(nil, AsBytes(v))))
	}
	return newData(t, n, nulls, buffers(valid), children...)
}

// ordinates returns x, y and, if Dim has them, z and m.
func (g *Geometry) ordinates() [][]float64 {
	o := append(make([][]float64, 0, 4), g.X, g.Y)
	if g.Dim&HasZ != 0 {
		o = append(o, g.Z)
	}
	if g.Dim&HasM != 0 {
		o = append(o, g.M)
	}
	return o
}

// interleave returns the ordinates of each position one after the other, in new memory.
func (g *Geometry) interleave() []float64 {
	o := g.ordinates()
	if len(o) == 2 { // nearly all of the memory
		x, y := g.X, g.Y[:len(g.X)]
		out := make([]float64, 2*len(x))
		for i, v := range x {
			p := out[2*i : 2*i+2]
			p[0], p[1] = v, y[i]
		}
		return out
	}
	out := make([]float64, len(o)*len(g.X))
	for k, v := range o {
		for i, w := range v {
			out[i*len(o)+k] = w
		}
	}
	return out
}

// buffers wraps slices; a nil validity is no buffer.
func buffers(valid []byte, rest ...[]byte) []*memory.Buffer {
	b := make([]*memory.Buffer, 1, 1+len(rest))
	if valid != nil {
		b[0] = memory.NewBufferBytes(valid)
	}
	for _, r := range rest {
		b = append(b, memory.NewBufferBytes(r))
	}
	return b
}

// newData takes over the children.
func newData(t arrow.DataType, n, nulls int, b []*memory.Buffer, children ...arrow.ArrayData) *array.Data {
	d := array.NewData(t, n, b, children, nulls, 0)
	for _, c := range children {
		c.Release()
	}
	return d
}

package ogc

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// geometryOf returns a column with one geometry.
func geometryOf(t *geoarrow.Tree) *geoarrow.Geometry {
	wkb := appendWKB(nil, t)
	return &geoarrow.Geometry{
		Rows: 1, Kind: geoarrow.NoKind, Offsets: []int32{0, int32(len(wkb))}, WKB: wkb,
		Kinds: []geoarrow.RowKind{geoarrow.MakeRowKind(t.Kind, geoarrow.XY)},
	}
}

// appendWKB appends a geometry in x and y as ISO WKB, little-endian.
func appendWKB(b []byte, t *geoarrow.Tree) []byte {
	count := func(n int) { b = binary.LittleEndian.AppendUint32(b, uint32(n)) }
	b = append(b, 1)
	count(int(t.Kind))
	if t.Kind.IsMulti() || t.Kind == geoarrow.GeometryCollection {
		count(len(t.Members))
		for i := range t.Members {
			b = appendWKB(b, &t.Members[i])
		}
		return b
	}
	n := t.Dim.Size()
	if t.Kind == geoarrow.Polygon {
		count(len(t.Runs))
	}
	for _, run := range t.Runs {
		if t.Kind != geoarrow.Point {
			count(len(run) / n)
		}
		for i := 0; i < len(run); i += n {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(run[i]))
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(run[i+1]))
		}
	}
	return b
}

// swapAxes returns a column of WKB with x and y exchanged. It releases the column.
func swapAxes(a arrow.Array) (arrow.Array, error) {
	defer a.Release()
	from, ok := a.(*array.Binary)
	if !ok {
		return nil, errors.New("geometries are not WKB")
	}
	out := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	defer out.Release()
	for i := range from.Len() {
		if from.IsNull(i) {
			out.AppendNull()
			continue
		}
		wkb := slices.Clone(from.Value(i))
		if _, err := swapWKB(wkb); err != nil {
			return nil, err
		}
		out.Append(wkb)
	}
	return out.NewArray(), nil
}

var errWKB = errors.New("malformed WKB")

// swapWKB exchanges x and y in a geometry, and returns the bytes that follow it.
func swapWKB(b []byte) ([]byte, error) {
	if len(b) < 5 {
		return nil, errWKB
	}
	var order binary.ByteOrder = binary.LittleEndian
	if b[0] == 0 {
		order = binary.BigEndian
	}
	code := order.Uint32(b[1:])
	kind, b := geoarrow.Kind(code%1000), b[5:]
	size := 16 + 8*[4]int{0, 1, 1, 2}[code/1000&3]
	count := func() (int, error) {
		if len(b) < 4 {
			return 0, errWKB
		}
		n := order.Uint32(b)
		b = b[4:]
		return int(n), nil
	}
	positions := func(n int) error {
		if len(b)/size < n {
			return errWKB
		}
		for range n {
			var x [8]byte
			copy(x[:], b[:8])
			copy(b[:8], b[8:16])
			copy(b[8:16], x[:])
			b = b[size:]
		}
		return nil
	}
	if kind == geoarrow.Point {
		err := positions(1)
		return b, err
	}
	n, err := count()
	if err != nil {
		return nil, err
	}
	switch {
	case kind == geoarrow.LineString:
		err := positions(n)
		return b, err
	case kind == geoarrow.Polygon:
		for range n {
			k, err := count()
			if err == nil {
				err = positions(k)
			}
			if err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	for range n {
		if b, err = swapWKB(b); err != nil {
			return nil, err
		}
	}
	return b, nil
}

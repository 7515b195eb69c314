package export

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Features encodes rows as GeoJSON Features (RFC 7946). If the first column is id or feature_id, of a
// type that a Feature's id can have, it is the id.
type Features struct {
	geometry int // columns; -1: none
	id       int
	names    [][]byte // of the members of properties, in quotes with a colon
}

// NewFeatures returns the encoder of records of a schema, in which names are distinct.
func NewFeatures(schema *arrow.Schema) (*Features, error) {
	g := &Features{geometry: geometryColumn(schema), id: -1}
	if schema.NumFields() > 0 && isID(schema.Field(0)) {
		g.id = 0
	}
	for _, f := range schema.Fields() {
		g.names = append(g.names, append(appendQuoted(nil, f.Name), ':'))
	}
	return g, distinctNames(schema, "GeoJSON")
}

// isID reports whether a column becomes a Feature's id.
func isID(f arrow.Field) bool {
	if f.Name != "id" && f.Name != "feature_id" {
		return false
	}
	switch f.Type.ID() {
	case arrow.INT64, arrow.UINT64, arrow.STRING:
		return true
	}
	return false
}

// NewNumbered is NewFeatures for features whose ids are not in a column.
func NewNumbered(schema *arrow.Schema) (*Features, error) {
	g, err := NewFeatures(schema)
	g.id = -1
	return g, err
}

// Append appends the Feature of row i. A value that JSON can't have is an error.
func (g *Features) Append(b []byte, rec arrow.Record, i int) (_ []byte, err error) {
	b = append(b, `{"type":"Feature",`...)
	if g.id >= 0 && !IsNull(rec.Column(g.id), i) {
		if b, err = appendJSON(append(b, `"id":`...), rec.Schema().Field(g.id), rec.Column(g.id), i); err != nil {
			return b, err
		}
		b = append(b, ',')
	}
	return g.appendRest(b, rec, i)
}

// AppendNumbered is Append for a feature with the given id.
func (g *Features) AppendNumbered(b []byte, id int64, rec arrow.Record, i int) ([]byte, error) {
	b = strconv.AppendInt(append(b, `{"type":"Feature","id":`...), id, 10)
	return g.appendRest(append(b, ','), rec, i)
}

// appendRest appends the members after the id.
func (g *Features) appendRest(b []byte, rec arrow.Record, i int) (_ []byte, err error) {
	b = append(b, `"properties":{`...)
	first := true
	for c, column := range rec.Columns() {
		if c == g.id || c == g.geometry {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		if b, err = g.property(append(b, g.names[c]...), rec.Schema().Field(c), column, i); err != nil {
			return b, err
		}
	}
	b = append(b, `},"geometry":`...)
	if b, err = g.shape(b, rec, i); err != nil {
		return b, err
	}
	return append(b, '}'), nil
}

// property appends a value. JSON text is appended unchanged.
func (g *Features) property(dst []byte, f arrow.Field, column arrow.Array, i int) ([]byte, error) {
	if !finite(column, i) {
		return dst, fmt.Errorf("column %q: JSON has no NaN and no infinity", f.Name)
	}
	return appendJSON(dst, f, column, i)
}

// finite reports whether JSON can represent a number, or every element of a list.
func finite(column arrow.Array, i int) bool {
	if IsNull(column, i) {
		return true
	}
	switch a := column.(type) {
	case *array.Float64:
		return isFinite(a.Value(i))
	case *array.Float32:
		return isFinite(float64(a.Value(i)))
	case array.ListLike:
		start, end := a.ValueOffsets(i)
		for k := start; k < end; k++ {
			if !finite(a.ListValues(), int(k)) {
				return false
			}
		}
	}
	return true
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// shape appends the geometry of row i.
func (g *Features) shape(dst []byte, rec arrow.Record, i int) ([]byte, error) {
	if g.geometry < 0 {
		return append(dst, "null"...), nil
	}
	t, ok, err := treeAt(rec.Column(g.geometry), i)
	if err != nil || !ok {
		return append(dst, "null"...), err
	}
	return appendGeoJSON(dst, &t)
}

// appendGeoJSON appends a geometry object. A Z that is NaN is omitted, as it was in the source.
func appendGeoJSON(dst []byte, t *geoarrow.Tree) ([]byte, error) {
	if t.Dim&geoarrow.HasM != 0 {
		return dst, fmt.Errorf("a %s with M, which GeoJSON does not have", t.Kind)
	}
	dst = append(dst, `{"type":"`...)
	dst = append(dst, t.Kind.String()...)
	if t.Kind != geoarrow.GeometryCollection {
		dst, err := appendCoordinates(append(dst, `","coordinates":`...), t)
		return append(dst, '}'), err
	}
	dst = append(dst, `","geometries":`...)
	dst, err := appendEach(dst, len(t.Members), func(dst []byte, i int) ([]byte, error) {
		return appendGeoJSON(dst, &t.Members[i])
	})
	return append(dst, '}'), err
}

// appendCoordinates appends the coordinates of a geometry other than a collection.
func appendCoordinates(dst []byte, t *geoarrow.Tree) ([]byte, error) {
	n := t.Dim.Size()
	run := func(dst []byte, r int) ([]byte, error) {
		return appendEach(dst, len(t.Runs[r])/n, func(dst []byte, i int) ([]byte, error) {
			return appendPosition(dst, t.Runs[r][i*n:][:n])
		})
	}
	switch {
	case t.Kind.IsMulti():
		return appendEach(dst, len(t.Members), func(dst []byte, i int) ([]byte, error) {
			m := &t.Members[i]
			if m.Kind == geoarrow.Point && len(m.Runs) == 0 {
				return dst, errors.New("a MultiPoint with an empty Point, which GeoJSON does not have")
			}
			return appendCoordinates(dst, m)
		})
	case t.Kind == geoarrow.Polygon:
		return appendEach(dst, len(t.Runs), run)
	case len(t.Runs) == 0:
		return append(dst, "[]"...), nil
	case t.Kind == geoarrow.Point:
		return appendPosition(dst, t.Runs[0])
	}
	return run(dst, 0)
}

func appendPosition(dst []byte, position []float64) ([]byte, error) {
	if n := len(position); n > 2 && math.IsNaN(position[2]) {
		position = position[:2]
	}
	return appendEach(dst, len(position), func(dst []byte, i int) ([]byte, error) {
		if !isFinite(position[i]) {
			return dst, fmt.Errorf("an ordinate %v, which GeoJSON does not have", position[i])
		}
		return appendFloat(dst, position[i], 64), nil
	})
}

// appendEach appends a JSON array of n elements.
func appendEach(dst []byte, n int, element func(dst []byte, i int) ([]byte, error)) ([]byte, error) {
	var err error
	dst = append(dst, '[')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = element(dst, i); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

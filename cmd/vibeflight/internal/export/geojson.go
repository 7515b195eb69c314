package export

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// geoJSON writes a FeatureCollection (RFC 7946), or a Feature per line (GeoJSONSeq). If the first
// column is id or feature_id, of a type that a Feature's id can have, it is the id.
type geoJSON struct {
	w         *bufio.Writer
	text      []byte // of a feature
	geometry  int    // columns; -1: none
	id        int
	names     [][]byte // of the members of properties, in quotes with a colon
	separated bool     // by commas
	rows      int64
}

func newGeoJSON(out *os.File, schema *arrow.Schema, _ ticket.Compression) (Writer, error) {
	g, err := newFeatures(out, schema)
	if err != nil {
		return nil, err
	}
	crs, err := crsMember(schema, g.geometry)
	if err != nil {
		return nil, err
	}
	g.separated = true
	_, err = fmt.Fprintf(g.w, "{\"type\":\"FeatureCollection\",%s\"features\":[", crs)
	return g, err
}

func newGeoJSONSeq(out *os.File, schema *arrow.Schema, _ ticket.Compression) (Writer, error) {
	g, err := newFeatures(out, schema)
	if err != nil || g.geometry < 0 {
		return g, err
	}
	switch crs, _ := crsOf(schema.Field(g.geometry)); crs.String() {
	case "", "OGC:CRS84", "EPSG:4326": // of which tables have the longitude first, as RFC 7946
		return g, nil
	default:
		return nil, fmt.Errorf("GeoJSONSeq has longitudes and latitudes of WGS 84 only, and this is %.100s; "+
			".geojson can name it", crs)
	}
}

func newFeatures(out *os.File, schema *arrow.Schema) (*geoJSON, error) {
	g := &geoJSON{w: bufio.NewWriterSize(out, bufferBytes), geometry: geometryColumn(schema), id: -1}
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

// crsMember is the member "crs" of GeoJSON 2008, which RFC 7946 allows by prior arrangement: none
// for OGC:CRS84, null for an unknown system.
func crsMember(schema *arrow.Schema, geometry int) (string, error) {
	if geometry < 0 {
		return "", nil
	}
	crs, _ := crsOf(schema.Field(geometry))
	switch {
	case crs == geoarrow.CRS84:
		return "", nil
	case crs == geoarrow.CRS{}:
		return `"crs":null,`, nil
	case crs.Authority == "":
		return "", errors.New("GeoJSON can name a registered reference system only, and the table's has no name; " +
			".parquet, .fgb and .arrow keep it")
	}
	name := appendQuoted(nil, urn(crs))
	return fmt.Sprintf(`"crs":{"type":"name","properties":{"name":%s}},`, name), nil
}

// urn is the name of a registered system (OGC 07-092r3). A compound system without a code has the
// names of its parts.
func urn(crs geoarrow.CRS) string {
	code := "crs:" + crs.Authority + "::"
	if horizontal, vertical, ok := strings.Cut(crs.Code, "+"); ok {
		return "urn:ogc:def:crs," + code + horizontal + "," + code + vertical
	}
	return "urn:ogc:def:" + code + crs.Code
}

func (g *geoJSON) Write(rec arrow.Record) error {
	for i := range int(rec.NumRows()) {
		if err := g.feature(rec, i); err != nil {
			return fmt.Errorf("row %d: %w", g.rows, err)
		}
		if _, err := g.w.Write(g.text); err != nil {
			return err
		}
		g.rows++
	}
	return nil
}

// feature writes row i into text.
func (g *geoJSON) feature(rec arrow.Record, i int) (err error) {
	b := g.text[:0]
	if g.separated && g.rows > 0 {
		b = append(b, ',')
	}
	if g.separated {
		b = append(b, '\n')
	}
	b = append(b, `{"type":"Feature",`...)
	if g.id >= 0 && !IsNull(rec.Column(g.id), i) {
		if b, err = appendJSON(append(b, `"id":`...), rec.Schema().Field(g.id), rec.Column(g.id), i); err != nil {
			return err
		}
		b = append(b, ',')
	}
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
			return err
		}
	}
	b = append(b, `},"geometry":`...)
	if b, err = g.shape(b, rec, i); err != nil {
		return err
	}
	b = append(b, '}')
	if !g.separated {
		b = append(b, '\n')
	}
	g.text = b
	return nil
}

// property appends a value. JSON text is appended unchanged.
func (g *geoJSON) property(dst []byte, f arrow.Field, column arrow.Array, i int) ([]byte, error) {
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
func (g *geoJSON) shape(dst []byte, rec arrow.Record, i int) ([]byte, error) {
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

func (g *geoJSON) Close() error {
	if g.separated {
		if _, err := g.w.WriteString("\n]}\n"); err != nil {
			return err
		}
	}
	return g.w.Flush()
}

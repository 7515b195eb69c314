package readertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Canonical checks that a table has the form that the comments of geoarrow.Column,
// geoarrow.Geometry and readers.Table promise, so that equal tables are equal bytes. It returns all
// violations.
func Canonical(t *readers.Table) error {
	var errs []error
	var rows int64
	if len(t.Batches) == 0 {
		errs = append(errs, errors.New("no batch: nothing carries the types"))
	}
	for i, b := range t.Batches {
		if i >= len(t.Starts) || t.Starts[i] != rows {
			errs = append(errs, fmt.Errorf("batch %d starts at row %d: starts are %d", i, rows, t.Starts))
		}
		rows += int64(b.Rows)
		for k := range b.Attributes {
			if err := column(&b.Attributes[k], b.Rows, true); err != nil {
				errs = append(errs, fmt.Errorf("batch %d, column %q: %w", i, b.Attributes[k].Name, err))
			}
		}
		if err := geometry(b.Geometry); err != nil {
			errs = append(errs, fmt.Errorf("batch %d, geometry: %w", i, err))
		}
		errs = append(errs, records(t, b)...)
	}
	if rows != t.Rows {
		errs = append(errs, fmt.Errorf("batches have %d rows, the table %d", rows, t.Rows))
	}
	return errors.Join(errs...)
}

// records checks that a batch becomes an Arrow record of the first batch's schema in every
// encoding.
func records(t *readers.Table, b *geoarrow.Columns) (errs []error) {
	for _, enc := range []geoarrow.Encoding{
		{},
		{Coords: geoarrow.Interleaved},
		{Geometry: geoarrow.AsWKB},
		{Geometry: geoarrow.AsWKT},
	} {
		schema := geoarrow.Schema(t.Batches[0], t.CRS, enc)
		if own := geoarrow.Schema(b, t.CRS, enc); !own.Equal(schema) {
			errs = append(errs, fmt.Errorf("schema of a batch: got %v, want that of the first one, %v", own, schema))
			continue
		}
		rec, err := b.Record(schema, nil, enc)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		rec.Release()
	}
	return errs
}

// column checks one column of n values, which may have nulls.
func column(c *geoarrow.Column, n int, nullable bool) error {
	if !nullable && (c.Nulls != 0 || c.Valid != nil) {
		return errors.New("nulls inside of a list")
	}
	if err := validity(c.Valid, c.Nulls, n); err != nil {
		return err
	}
	switch t := c.Type.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		return texts(c, n)
	case *arrow.ListType:
		if c.Child == nil || c.Values != nil {
			return errors.New("a list has a child and no values")
		}
		if err := offsets(c.Offsets, n, elements(c.Offsets), c.Valid); err != nil {
			return err
		}
		if !arrow.TypeEqual(c.Child.Type, t.Elem()) {
			return fmt.Errorf("elements are %s in a list of %s", c.Child.Type, t.Elem())
		}
		if err := column(c.Child, elements(c.Offsets), t.ElemField().Nullable); err != nil {
			return fmt.Errorf("elements: %w", err)
		}
		return nil
	case *arrow.BooleanType:
		if len(c.Values) != (n+7)/8 {
			return fmt.Errorf("%d bytes for %d booleans", len(c.Values), n)
		}
		for i := range 8 * len(c.Values) {
			if bit(c.Values, i) && (i >= n || !valid(c.Valid, i)) {
				return fmt.Errorf("bit %d is set: under a null or unused", i)
			}
		}
	case arrow.FixedWidthDataType:
		return fixed(c, n, t.BitWidth()/8)
	}
	if c.Offsets != nil || c.Child != nil {
		return errors.New("offsets or a child where the type has none")
	}
	return nil
}

func elements(offsets []int32) int {
	if len(offsets) == 0 {
		return 0
	}
	return int(offsets[len(offsets)-1])
}

func fixed(c *geoarrow.Column, n, width int) error {
	if len(c.Values) != n*width || c.Offsets != nil || c.Child != nil {
		return fmt.Errorf("%d bytes, %d offsets for %d values of %d bytes", len(c.Values), len(c.Offsets), n, width)
	}
	for i := range n {
		if valid(c.Valid, i) {
			continue
		}
		for _, v := range c.Values[i*width : (i+1)*width] {
			if v != 0 {
				return fmt.Errorf("bytes under the null of row %d are not 0", i)
			}
		}
	}
	if c.Type.ID() == arrow.FLOAT64 {
		return nans(geoarrow.View[float64](c.Values))
	}
	return nil
}

func texts(c *geoarrow.Column, n int) error {
	if c.Child != nil {
		return errors.New("a child where the type has none")
	}
	if err := offsets(c.Offsets, n, len(c.Values), c.Valid); err != nil {
		return err
	}
	for i := range n {
		text := c.Values[c.Offsets[i]:c.Offsets[i+1]]
		if c.Type.ID() == arrow.STRING && !utf8.Valid(text) {
			return fmt.Errorf("row %d: %q is not UTF-8", i, text)
		}
		if c.JSON && valid(c.Valid, i) && !json.Valid(text) {
			return fmt.Errorf("row %d: %q is not JSON", i, text)
		}
	}
	return nil
}

const canonicalNaN = 0x7ff8000000000000

func nans(v []float64) error {
	for i, f := range v {
		if f != f && math.Float64bits(f) != canonicalNaN {
			return fmt.Errorf("value %d is the NaN %x", i, math.Float64bits(f))
		}
	}
	return nil
}

func validity(bitmap []byte, nulls, n int) error {
	if (bitmap == nil) != (nulls == 0) {
		return fmt.Errorf("%d nulls with a bitmap of %d bytes", nulls, len(bitmap))
	}
	if nulls == 0 {
		return nil
	}
	set := 0
	for _, b := range bitmap {
		set += bits.OnesCount8(b)
	}
	if len(bitmap) != (n+7)/8 || set != n-nulls {
		return fmt.Errorf("bitmap %x of %d rows with %d nulls", bitmap, n, nulls)
	}
	if n&7 != 0 && bitmap[len(bitmap)-1]>>(n&7) != 0 {
		return fmt.Errorf("bitmap %x has bits after row %d", bitmap, n)
	}
	return nil
}

// offsets checks n+1 nondecreasing offsets from 0 to end, which are constant under nulls.
func offsets(o []int32, n, end int, bitmap []byte) error {
	if len(o) != n+1 || o[0] != 0 || int(o[n]) != end {
		return fmt.Errorf("offsets %d of %d rows, want %d from 0 to %d", o, n, n+1, end)
	}
	for i := range n {
		if o[i+1] < o[i] || o[i+1] > o[i] && !valid(bitmap, i) {
			return fmt.Errorf("offsets %d fall, or advance under a null, at row %d", o, i)
		}
	}
	return nil
}

// geometry checks a geometry column.
func geometry(g *geoarrow.Geometry) error {
	if g == nil {
		return nil
	}
	if err := validity(g.Valid, g.Nulls, g.Rows); err != nil {
		return err
	}
	if err := kinds(g); err != nil {
		return err
	}
	if g.Kind == geoarrow.NoKind {
		return wkb(g)
	}
	if g.Offsets != nil || g.WKB != nil {
		return errors.New("WKB in a native column")
	}
	if err := ordinates(g); err != nil {
		return err
	}
	positions := len(g.X)
	want := [...]int{
		geoarrow.Point: 0, geoarrow.LineString: 1, geoarrow.MultiPoint: 1, geoarrow.Polygon: 2,
		geoarrow.MultiLineString: 2, geoarrow.MultiPolygon: 3,
	}
	if got := levels(g.Geoms) + levels(g.Rings) + levels(g.Parts); got != want[g.Kind] {
		return fmt.Errorf("%d levels of offsets for %s", got, g.Kind)
	}
	switch g.Kind {
	case geoarrow.Point:
		return points(g)
	case geoarrow.LineString, geoarrow.MultiPoint:
		return offsets(g.Geoms, g.Rows, positions, g.Valid)
	case geoarrow.Polygon, geoarrow.MultiLineString:
		return errors.Join(offsets(g.Geoms, g.Rows, len(g.Rings)-1, g.Valid),
			offsets(g.Rings, len(g.Rings)-1, positions, nil))
	}
	return errors.Join(offsets(g.Geoms, g.Rows, len(g.Parts)-1, g.Valid), offsets(g.Parts, len(g.Parts)-1,
		len(g.Rings)-1, nil),
		offsets(g.Rings, len(g.Rings)-1, positions, nil))
}

func levels(o []int32) int {
	if o == nil {
		return 0
	}
	return 1
}

// kinds checks Kinds: nil if and only if the column is native and all its rows are of its kind and
// dimension.
func kinds(g *geoarrow.Geometry) error {
	if g.Kinds == nil {
		if g.Kind == geoarrow.NoKind && g.Rows > 0 {
			return errors.New("a WKB column without Kinds")
		}
		return nil
	}
	if len(g.Kinds) != g.Rows {
		return fmt.Errorf("%d kinds for %d rows", len(g.Kinds), g.Rows)
	}
	differ := false
	for i, k := range g.Kinds {
		if (k == 0) == valid(g.Valid, i) {
			return fmt.Errorf("row %d: kind %s with validity %t", i, k, valid(g.Valid, i))
		}
		if k == 0 {
			continue
		}
		differ = differ || k != geoarrow.MakeRowKind(g.Kind, g.Dim)
		if k.Dim()&^g.Dim != 0 || g.Kind != geoarrow.NoKind && k.Kind() != g.Kind && k.Kind().Multi() != g.Kind {
			return fmt.Errorf("row %d: %s in a column of %s", i, k, geometryText(g))
		}
	}
	if !differ && g.Kind != geoarrow.NoKind {
		return errors.New("a Kinds where every row has the column's kind and dimension")
	}
	return nil
}

func ordinates(g *geoarrow.Geometry) error {
	n := len(g.X)
	has := func(v []float64, d geoarrow.Dim) bool {
		return g.Dim&d == 0 && v == nil || g.Dim&d != 0 && len(v) == n
	}
	if len(g.Y) != n || !has(g.Z, geoarrow.HasZ) || !has(g.M, geoarrow.HasM) {
		return fmt.Errorf("%d x, %d y, %d z, %d m in a column of %s", n, len(g.Y), len(g.Z), len(g.M), geometryText(g))
	}
	return errors.Join(nans(g.X), nans(g.Y), nans(g.Z), nans(g.M))
}

func points(g *geoarrow.Geometry) error {
	if len(g.X) != g.Rows {
		return fmt.Errorf("%d positions for %d points", len(g.X), g.Rows)
	}
	for i := range g.Rows {
		for _, v := range [][]float64{g.X, g.Y, g.Z, g.M} {
			if v != nil && !valid(g.Valid, i) && math.Float64bits(v[i]) != 0 {
				return fmt.Errorf("row %d is null over %v", i, v[i])
			}
		}
	}
	return nil
}

func wkb(g *geoarrow.Geometry) error {
	if g.X != nil || g.Y != nil || g.Z != nil || g.M != nil || levels(g.Geoms)+levels(g.Parts)+levels(g.Rings) != 0 {
		return errors.New("native slices in a WKB column")
	}
	if err := offsets(g.Offsets, g.Rows, len(g.WKB), g.Valid); err != nil {
		return err
	}
	for i := range g.Rows {
		row := g.WKB[g.Offsets[i]:g.Offsets[i+1]]
		if !valid(g.Valid, i) {
			continue
		}
		if _, err := geoarrow.WKBToWKT(nil, row); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		if code := uint32(row[1]) | uint32(row[2])<<8; row[0] != 1 || code != uint32(g.Kinds[i].Kind())+
			1000*uint32(g.Kinds[i].Dim()) {
			return fmt.Errorf("row %d: WKB of code %d, byte order %d, for %s", i, code, row[0], g.Kinds[i])
		}
	}
	return nil
}

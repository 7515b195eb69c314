package tablefile

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// walk visits the slices of a batch in the order of its message: Arrow's order of buffers, then
// Kinds. The slices and their lengths follow from types, rows, nulls and counts alone. So the same
// walk writes batches and reads them.
type walk struct {
	// step gets a slice and its required length in bytes. It returns the new slice of the batch.
	step    func(have []byte, bytes int64) ([]byte, error)
	nodes   []node // Arrow's arrays, outermost first
	steps   int
	buffers int // number of steps that are Arrow buffers
	err     error
}

// node is the FieldNode of one array.
type node struct{ length, nulls int64 }

// counts are the lengths of slices of a batch that do not follow from its number of rows.
type counts struct {
	columns  []columnCounts
	geometry geometryCounts
}

// elements of a list, and bytes of the texts of a column or its list elements
type columnCounts struct{ elements, bytes int64 }

type geometryCounts struct {
	kinds                          bool
	parts, rings, positions, bytes int64
}

// maxBytes is the maximum size of a slice. It keeps the sums of a walk from overflowing.
const maxBytes = 1 << 48

var errChild = errors.New("a list whose elements are more than their values")

// fail ends the walk. Only the first error counts.
func (w *walk) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// element is an element of the slices of a batch.
type element interface{ ~byte | ~int32 | ~float64 }

// visit visits the next slice, which has n elements.
func visit[T element](w *walk, p *[]T, n int64) {
	if w.err != nil {
		return
	}
	size := int64(unsafe.Sizeof(*new(T)))
	if n < 0 || n > maxBytes/size {
		w.fail(fmt.Errorf("a slice of %d elements", n))
		return
	}
	w.steps++
	have := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(*p))), int64(len(*p))*size)
	b, err := w.step(have, n*size)
	if err != nil {
		w.fail(err)
		return
	}
	*p = nil
	if len(b) > 0 {
		*p = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
	}
}

// batch visits all slices of c and replaces them in place. It copies the children of lists first.
func (w *walk) batch(c *geoarrow.Columns, k counts) error {
	for i := range c.Attributes {
		w.column(&c.Attributes[i], int64(c.Rows), k.columns[i])
		if w.err != nil {
			return fmt.Errorf("column %q: %w", c.Attributes[i].Name, w.err)
		}
	}
	w.buffers = w.steps
	if c.Geometry == nil {
		return nil
	}
	if w.geometry(c.Geometry, k.geometry); w.err != nil {
		return fmt.Errorf("geometry: %w", w.err)
	}
	return nil
}

func (w *walk) column(c *geoarrow.Column, n int64, k columnCounts) {
	w.array(n, c.Nulls, &c.Valid)
	switch t := c.Type.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		visit(w, &c.Offsets, n+1)
		visit(w, &c.Values, k.bytes)
	case *arrow.ListType:
		visit(w, &c.Offsets, n+1)
		if c.Child == nil || !bare(c.Child) || !arrow.TypeEqual(c.Child.Type, t.Elem()) {
			w.fail(errChild)
			return
		}
		child := *c.Child // a copy, because the child is shared
		w.column(&child, k.elements, columnCounts{bytes: k.bytes})
		c.Child = &child
	case *arrow.BooleanType:
		visit(w, &c.Values, (n+7)/8)
	case arrow.FixedWidthDataType:
		visit(w, &c.Values, n*int64(t.BitWidth()/8))
	default:
		w.fail(fmt.Errorf("no place for %v", c.Type))
	}
}

// bare reports whether a list's child has only a type, nulls and slices. The file stores no more of
// it.
func bare(c *geoarrow.Column) bool {
	return c.Name == "" && c.Role == 0 && !c.JSON && !c.Mixed && c.Facts == geoarrow.Facts{} &&
		c.Rounded == 0 && c.Replaced == 0 && c.Child == nil
}

// array begins an array with its validity.
func (w *walk) array(n int64, nulls int, valid *[]byte) {
	w.nodes = append(w.nodes, node{n, int64(nulls)})
	bytes := int64(0)
	if nulls != 0 {
		bytes = (n + 7) / 8
	}
	visit(w, valid, bytes)
}

// level is one list of a geometry.
type level struct {
	offsets *[]int32
	n       int64
}

func (w *walk) geometry(g *geoarrow.Geometry, k geometryCounts) {
	n := int64(g.Rows)
	geoms, parts, rings := level{&g.Geoms, n}, level{&g.Parts, k.parts}, level{&g.Rings, k.rings}
	switch g.Kind {
	case geoarrow.NoKind:
		w.array(n, g.Nulls, &g.Valid)
		visit(w, &g.Offsets, n+1)
		visit(w, &g.WKB, k.bytes)
	case geoarrow.Point:
		w.positions(g, n, g.Nulls, &g.Valid)
	case geoarrow.LineString, geoarrow.MultiPoint:
		w.lists(g, k, geoms)
	case geoarrow.Polygon, geoarrow.MultiLineString:
		w.lists(g, k, geoms, rings)
	case geoarrow.MultiPolygon:
		w.lists(g, k, geoms, parts, rings)
	default:
		w.fail(fmt.Errorf("no place for geometries of kind %d", g.Kind))
	}
	w.buffers = w.steps
	if k.kinds {
		visit(w, &g.Kinds, n)
	}
}

// lists visits nested lists of positions. Only the outermost list may have nulls.
func (w *walk) lists(g *geoarrow.Geometry, k geometryCounts, levels ...level) {
	var none []byte
	nulls, valid := g.Nulls, &g.Valid
	for _, l := range levels {
		w.array(l.n, nulls, valid)
		visit(w, l.offsets, l.n+1)
		nulls, valid = 0, &none
	}
	w.positions(g, k.positions, 0, &none)
}

func (w *walk) positions(g *geoarrow.Geometry, n int64, nulls int, valid *[]byte) {
	w.array(n, nulls, valid)
	var none []byte
	ordinates := []*[]float64{&g.X, &g.Y}
	if g.Dim&geoarrow.HasZ != 0 {
		ordinates = append(ordinates, &g.Z)
	}
	if g.Dim&geoarrow.HasM != 0 {
		ordinates = append(ordinates, &g.M)
	}
	for _, v := range ordinates {
		w.array(n, 0, &none)
		visit(w, v, n)
	}
}

// measure returns the counts of a batch.
func measure(c *geoarrow.Columns) counts {
	k := counts{columns: make([]columnCounts, len(c.Attributes))}
	for i := range c.Attributes {
		k.columns[i] = measureColumn(&c.Attributes[i])
	}
	if g := c.Geometry; g != nil {
		k.geometry = geometryCounts{
			kinds: g.Kinds != nil, parts: lists(g.Parts), rings: lists(g.Rings), positions: int64(len(g.X)),
			bytes: int64(len(g.WKB)),
		}
	}
	return k
}

func measureColumn(c *geoarrow.Column) columnCounts {
	switch t := c.Type.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		return columnCounts{bytes: int64(len(c.Values))}
	case *arrow.ListType:
		k := columnCounts{}
		if n := len(c.Offsets); n > 0 {
			k.elements = int64(c.Offsets[n-1])
		}
		if arrow.IsBaseBinary(t.Elem().ID()) && c.Child != nil {
			k.bytes = int64(len(c.Child.Values))
		}
		return k
	}
	return columnCounts{}
}

// lists returns the number of lists that the offsets define.
func lists(offsets []int32) int64 { return max(0, int64(len(offsets))-1) }

// clone copies what a walk replaces.
func clone(c *geoarrow.Columns) *geoarrow.Columns {
	out := *c
	out.Attributes = append([]geoarrow.Column(nil), c.Attributes...)
	if c.Geometry != nil {
		g := *c.Geometry
		out.Geometry = &g
	}
	return &out
}

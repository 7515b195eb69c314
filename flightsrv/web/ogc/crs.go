package ogc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/flightsrv/web/ogc/cql2"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Tables have x first: the longitude or the easting. A reference system that a client names by its
// URI has the order of axes of its authority, so that EPSG/0/4326 has the latitude first.

const crs84URI = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"

var (
	epsg4326 = geoarrow.CRS{Authority: "EPSG", Code: "4326"}
	epsg3857 = geoarrow.CRS{Authority: "EPSG", Code: "3857"}
)

// uriOf returns the URI of a registered system; "" for any other one, and for a compound one.
func uriOf(c geoarrow.CRS) string {
	switch {
	case c == geoarrow.CRS84:
		return crs84URI
	case c.Authority == "" || strings.Contains(c.Code, "+") || c.Dimensions() == 0:
		return ""
	}
	return "http://www.opengis.net/def/crs/" + c.Authority + "/0/" + c.Code
}

// isCRS84 reports whether the coordinates of a system are longitudes and latitudes of WGS 84. A file
// without a system is taken to have them.
func isCRS84(c geoarrow.CRS) bool {
	return c == geoarrow.CRS84 || c == epsg4326 || c == geoarrow.CRS{}
}

// storage returns the system that the coordinates of a table are in.
func (t *featureTable) storage() geoarrow.CRS {
	if isCRS84(t.CRS) {
		return geoarrow.CRS84
	}
	return t.CRS
}

// systems returns the systems that the features of a table can be had in, the default one first.
func (h *handlers) systems(t *featureTable) []geoarrow.CRS {
	own := t.storage()
	switch {
	case h.spatial():
		all := []geoarrow.CRS{geoarrow.CRS84, epsg4326}
		if uriOf(own) != "" && !slices.Contains(all, own) {
			all = append(all, own)
		}
		if own != epsg3857 {
			all = append(all, epsg3857)
		}
		return all
	case own == geoarrow.CRS84:
		return []geoarrow.CRS{geoarrow.CRS84, epsg4326}
	case uriOf(own) != "":
		return []geoarrow.CRS{own}
	}
	return nil
}

// uris returns the URIs of systems.
func uris(all []geoarrow.CRS) []string {
	out := make([]string, 0, len(all))
	for _, c := range all {
		out = append(out, uriOf(c))
	}
	return out
}

// system returns the system that a parameter names: CRS84 without it.
func (h *handlers) system(q *request, t *featureTable, parameter string) (geoarrow.CRS, error) {
	all := h.systems(t)
	text, ok := q.parameters[parameter]
	if !ok {
		text = crs84URI
	}
	c, known := geoarrow.ParseCRS(strings.Trim(text, "[]"))
	switch {
	case known && slices.Contains(all, c):
		return c, nil
	case !ok || c == geoarrow.CRS84:
		return c, noTransformation(t)
	}
	return c, httpcall.BadRequest(fmt.Sprintf("%s=%.100s is not one of the reference systems of this collection: %s",
		parameter, text, strings.Join(uris(all), " ")))
}

// noTransformation is the error of a server without PROJ.
func noTransformation(t *featureTable) error {
	hint := ""
	if uri := uriOf(t.storage()); uri != "" {
		hint = fmt.Sprintf("; with crs=%s, bbox-crs and filter-crs, the features are served as they are", uri)
	}
	return &httpcall.Error{
		Status: http.StatusNotImplemented, Code: "UNIMPLEMENTED", Detail: "the collection is not in CRS84, and this " +
			"server can't transform it: DuckDB's spatial extension is missing (--duckdb-extensions)" + hint,
	}
}

// transform returns geometries in another system, as WKB, with x first.
func (h *handlers) transform(ctx context.Context, g *geoarrow.Geometry, from, to geoarrow.CRS) (arrow.Array, error) {
	name := func(c geoarrow.CRS) string { return "'" + strings.ReplaceAll(c.String(), "'", "''") + "'" }
	table := &readers.Table{
		Batches: []*geoarrow.Columns{{Rows: g.Rows, Geometry: g}}, Starts: []int64{0, int64(g.Rows)},
		Rows: int64(g.Rows),
	}
	expression := fmt.Sprintf("ST_Transform(geometry, %s, %s, true)", name(from), name(to))
	columns, err := h.evaluator.Compute(ctx, table, []restrict.Mask{{Column: 0, Expression: expression}})
	if err != nil {
		return nil, evaluationError(ctx, err,
			fmt.Sprintf("a geometry can't be transformed from %.100s to %.100s", from, to))
	}
	return columns[0], nil
}

// place converts the shape of a request to the system of a table. A box may become two boxes, or a
// polygon.
func (h *handlers) place(ctx context.Context, t *featureTable, filterCRS geoarrow.CRS) func(cql2.Shape) (
	[]cql2.Shape, error,
) {
	return func(s cql2.Shape) ([]cql2.Shape, error) {
		from := filterCRS
		if s.CRS != "" {
			from, _ = geoarrow.ParseCRS(s.CRS) // system has checked it
		}
		if from.NorthFirst() {
			s = swapped(s)
		}
		boxes := []cql2.Shape{s}
		if s.Box != nil && s.Box[0] > s.Box[2] {
			if from != geoarrow.CRS84 && from != epsg4326 {
				return nil, httpcall.BadRequest("a box with xmin > xmax is for longitudes only")
			}
			east, west := *s.Box, *s.Box
			east[2], west[0] = math.Inf(1), math.Inf(-1)
			boxes = []cql2.Shape{{Box: &east}, {Box: &west}}
		}
		if from == t.storage() || isCRS84(from) && t.storage() == geoarrow.CRS84 {
			return boxes, nil
		}
		if !h.spatial() {
			return nil, noTransformation(t)
		}
		for i, b := range boxes {
			var err error
			b.Meets = s.Meets
			if boxes[i], err = h.transformNear(ctx, t, b, from); err != nil {
				return nil, err
			}
		}
		return simplified(boxes), nil
	}
}

// Boxes that no geometry meets, and that all geometries meet.
var (
	nothing    = cql2.Rect{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	everything = cql2.Rect{math.Inf(-1), math.Inf(-1), math.Inf(1), math.Inf(1)}
)

// simplified returns shapes of which a geometry meets one if it meets one of the given shapes. They are
// one box, or they have no box without bounds.
func simplified(shapes []cql2.Shape) []cql2.Shape {
	is := func(s cql2.Shape, box cql2.Rect) bool { return s.Box != nil && *s.Box == box }
	for i, s := range shapes {
		if is(s, everything) {
			return shapes[i : i+1]
		}
	}
	if some := slices.DeleteFunc(slices.Clone(shapes), func(s cql2.Shape) bool {
		return is(s, nothing)
	}); len(some) > 0 {
		return some
	}
	return shapes[:1]
}

// transformNear transforms a shape to the system of a table. Far from the table's extent, PROJ has no
// positions in this system, or wrong ones. So a box is reduced to its part near the extent first.
func (h *handlers) transformNear(ctx context.Context, t *featureTable, s cql2.Shape, from geoarrow.CRS) (
	cql2.Shape, error,
) {
	box := metadata.Finite(t.BBox)
	if s.Box == nil || !s.Meets || box == nil {
		return h.transformShape(ctx, s, from, t.storage())
	}
	area, err := h.transformShape(ctx, shapeOfBox(*box), t.storage(), from)
	if err != nil {
		return s, err
	}
	near, ok := area.Bounds()
	if !ok || metadata.Finite(&near) == nil {
		return h.transformShape(ctx, s, from, t.storage())
	}
	margin := 0.01 * max(near[2]-near[0], near[3]-near[1])
	b := *s.Box
	for i := range 2 {
		b[i], b[i+2] = max(b[i], near[i]-margin), min(b[i+2], near[i+2]+margin)
	}
	switch {
	case b[0] > b[2] || b[1] > b[3]:
		return cql2.Shape{Box: &nothing}, nil
	case contains([]cql2.Rect{*s.Box}, near):
		return cql2.Shape{Box: &everything}, nil
	}
	return h.transformShape(ctx, cql2.Shape{Box: &b}, from, t.storage())
}

// transformShape transforms a shape. The edges of a box follow parallels and meridians.
func (h *handlers) transformShape(ctx context.Context, s cql2.Shape, from, to geoarrow.CRS) (cql2.Shape, error) {
	tree := s.Tree
	if s.Box != nil {
		b := *s.Box
		b[0], b[2] = max(b[0], -180), min(b[2], 180)
		if !isCRS84(from) {
			b = *s.Box
		}
		tree = ring(b)
	}
	out, err := h.transform(ctx, geometryOf(&tree), from, to)
	if err != nil {
		return s, err
	}
	defer out.Release()
	wkb, ok := out.(*array.Binary)
	if !ok || wkb.Len() != 1 || wkb.IsNull(0) {
		return s, errors.New("a geometry was not transformed")
	}
	s = cql2.Shape{}
	s.Tree, err = geoarrow.ParseWKB(wkb.Value(0))
	return s, err
}

// geometryOf returns a column with one geometry.
func geometryOf(t *geoarrow.Tree) *geoarrow.Geometry {
	wkb := appendWKB(nil, t)
	return &geoarrow.Geometry{
		Rows: 1, Kind: geoarrow.NoKind, Offsets: []int32{0, int32(len(wkb))}, WKB: wkb,
		Kinds: []geoarrow.RowKind{geoarrow.MakeRowKind(t.Kind, geoarrow.XY)},
	}
}

// edgeParts is how many parts the edges of a box have before they are transformed.
const edgeParts = 32

// ring returns a box as a polygon with positions along its edges.
func ring(b [4]float64) geoarrow.Tree {
	corners := [5][2]float64{{b[0], b[1]}, {b[2], b[1]}, {b[2], b[3]}, {b[0], b[3]}, {b[0], b[1]}}
	var run []float64
	for i := range 4 {
		from, to := corners[i], corners[i+1]
		for k := range edgeParts {
			f := float64(k) / edgeParts
			run = append(run, from[0]+(to[0]-from[0])*f, from[1]+(to[1]-from[1])*f)
		}
	}
	run = append(run, b[0], b[1])
	return geoarrow.Tree{Kind: geoarrow.Polygon, Runs: [][]float64{run}}
}

// swapped returns a shape with its axes exchanged.
func swapped(s cql2.Shape) cql2.Shape {
	if s.Box != nil {
		b := s.Box
		s.Box = &[4]float64{b[1], b[0], b[3], b[2]}
	}
	s.Tree = swappedTree(s.Tree)
	return s
}

func swappedTree(t geoarrow.Tree) geoarrow.Tree {
	n := t.Dim.Size()
	t.Runs = slices.Clone(t.Runs)
	for i, run := range t.Runs {
		t.Runs[i] = slices.Clone(run)
		for k := 0; k < len(run); k += n {
			t.Runs[i][k], t.Runs[i][k+1] = run[k+1], run[k]
		}
	}
	t.Members = slices.Clone(t.Members)
	for i := range t.Members {
		t.Members[i] = swappedTree(t.Members[i])
	}
	return t
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

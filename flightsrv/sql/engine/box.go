package engine

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// boxFunc returns a bounding box, xmin ymin xmax ymax, for the arguments of a run; nil if there is
// none.
type boxFunc func(args arguments) *[4]float64

// boxFunctions are the functions that are true only if the bounding boxes of their two geometries
// meet.
var boxFunctions = map[string]bool{
	"&&": true, "st_intersects_extent": true, "st_intersects": true, "st_contains": true, "st_containsproperly": true,
	"st_within":         true,
	"st_withinproperly": true, "st_covers": true, "st_coveredby": true, "st_touches": true, "st_crosses": true,
	"st_overlaps": true,
}

// meets returns the box that the geometry of a row meets if the expression is true; nil if the
// expression is not understood.
func (c *compiler) meets(x *expression) boxFunc {
	if !boxFunctions[x.function()] || len(x.Children) != 2 {
		return nil
	}
	for i := range x.Children {
		if c.isGeometry(&x.Children[i]) {
			return c.boxOf(&x.Children[1-i])
		}
	}
	return nil
}

// isGeometry reports whether an expression is the table's geometry, with or without a cast to the
// same type.
func (c *compiler) isGeometry(x *expression) bool {
	if x.Class == "BOUND_CAST" && x.Child != nil && x.ReturnType.isGeometry() && x.Child.ReturnType.isGeometry() {
		x = x.Child
	}
	k := c.column(x)
	return k >= 0 && k == c.relation.geometry
}

// boxOf returns the box of a geometry that is the same for all rows.
func (c *compiler) boxOf(x *expression) boxFunc {
	switch {
	case x.Class == "BOUND_CONSTANT" && x.Value != nil && !x.Value.IsNull && x.Value.Type.isGeometry():
		b := storedBox(x.Value.Value)
		if b == nil {
			return nil
		}
		return func(arguments) *[4]float64 { return b }
	case x.function() == "st_makeenvelope" && len(x.Children) == 4:
		return c.envelope(x.Children)
	case x.Class == "BOUND_PARAMETER":
		i, ok := c.parameters[x.Identifier]
		if !ok {
			return nil
		}
		return func(args arguments) *[4]float64 {
			a, ok := args.column(i).(*array.Binary)
			if !ok || a.IsNull(args.row) {
				return nil
			}
			return wkbBox(a.Value(args.row))
		}
	}
	return nil
}

// envelope returns the box of ST_MakeEnvelope, whose bounds may be parameters.
func (c *compiler) envelope(bounds []expression) boxFunc {
	scale := &comparator{family: float}
	var each [4]func(arguments) value
	for i := range bounds {
		if each[i] = c.operand(&bounds[i], scale); each[i] == nil {
			return nil
		}
	}
	return func(args arguments) *[4]float64 {
		var b [4]float64
		for i, of := range each {
			v, ok := of(args).(floatValue)
			if !ok {
				return nil
			}
			b[i] = float64(v)
		}
		return &[4]float64{min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3])}
	}
}

// wkbBox returns the box of a geometry as WKB; nil for invalid WKB, an empty geometry, and a
// position that is not a number.
func wkbBox(wkb []byte) *[4]float64 {
	var d geoarrow.WKBDecoder
	var b geoarrow.GeometryBuilder
	b.Reset()
	if _, _, err := d.Read(&b, wkb); err != nil {
		return nil
	}
	return boxAround(b.X, b.Y)
}

func boxAround(x, y []float64) *[4]float64 {
	if len(x) == 0 {
		return nil
	}
	b := [4]float64{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for i := range x {
		if math.IsNaN(x[i]) || math.IsNaN(y[i]) {
			return nil
		}
		b = [4]float64{min(b[0], x[i]), min(b[1], y[i]), max(b[2], x[i]), max(b[3], y[i])}
	}
	return &b
}

// storedBox returns the box of a constant of type GEOMETRY. Plans write it in the older
// serialization of the spatial extension, as text in which bytes other than printable ASCII are
// \xNN. An unknown form has no box.
//
//	kind 1, properties 1 (1 z, 2 m, 4 bounds), 6 unused
//	bounds, if there are: 2 float32 for each of the ordinates, twice
//	Point, LineString       kind 4, count 4, positions
//	Polygon                 kind 4, count 4, counts of the rings 4 each and 4 more if they are odd in number,
//	                        positions
//	Multi…, collections     kind 4, count 4, members
func storedBox(raw json.RawMessage) *[4]float64 {
	var printed string
	if json.Unmarshal(raw, &printed) != nil {
		return nil
	}
	b, ok := unescapeBytes(printed)
	if !ok || len(b) < 8 || b[1]&^7 != 0 {
		return nil
	}
	r := geometryReader{rest: b[8:], ordinates: 2 + int(b[1]&1) + int(b[1]>>1&1)}
	if b[1]&4 != 0 {
		r.take(8 * r.ordinates)
	}
	r.geometry(0)
	if r.failed || len(r.rest) != 0 {
		return nil
	}
	return boxAround(r.x, r.y)
}

// unescapeBytes decodes \xNN to bytes.
func unescapeBytes(s string) ([]byte, bool) {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b = append(b, s[i])
			continue
		}
		if i+3 >= len(s) || s[i+1] != 'x' {
			return nil, false
		}
		n, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
		if err != nil {
			return nil, false
		}
		b = append(b, byte(n))
		i += 3
	}
	return b, true
}

// geometryReader reads a serialized geometry. After an error it returns zeros.
type geometryReader struct {
	rest      []byte
	ordinates int
	x, y      []float64
	failed    bool
}

func (r *geometryReader) take(n int) []byte {
	if r.failed || n < 0 || n > len(r.rest) {
		r.failed = true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *geometryReader) count() int {
	b := r.take(4)
	if b == nil {
		return 0
	}
	return int(binary.LittleEndian.Uint32(b))
}

func (r *geometryReader) positions(n int) {
	for range n {
		b := r.take(8 * r.ordinates)
		if b == nil {
			return
		}
		r.x = append(r.x, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		r.y = append(r.y, math.Float64frombits(binary.LittleEndian.Uint64(b[8:])))
	}
}

// maxDepth bounds the nesting of collections.
const maxDepth = 32

func (r *geometryReader) geometry(depth int) {
	kind, n := r.count(), r.count()
	switch {
	case kind <= 1:
		r.positions(n)
	case kind == 2:
		total := 0
		for i := 0; i < n && !r.failed; i++ {
			total += r.count()
		}
		r.take(4 * (n & 1))
		r.positions(total)
	case kind <= 6 && depth < maxDepth:
		for i := 0; i < n && !r.failed; i++ {
			r.geometry(depth + 1)
		}
	default:
		r.failed = true
	}
}

package filegdb

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// kind is a field type, as the file numbers them.
type kind uint8

const (
	kindInt16 kind = iota
	kindInt32
	kindFloat32
	kindFloat64
	kindString
	kindDateTime
	kindObjectID
	kindGeometry
	kindBinary
	kindRaster
	kindGUID
	kindGlobalID
	kindXML
	kindInt64
	kindDate
	kindTime
	kindOffsetTime // a date and time with an offset from UTC
	kinds
)

// bytes is the size of a value; 0: it has a length of its own.
var kindBytes = [kinds]int{
	kindInt16: 2, kindInt32: 4, kindFloat32: 4, kindFloat64: 8, kindDateTime: 8, kindGUID: 16, kindGlobalID: 16,
	kindInt64: 8, kindDate: 8, kindTime: 8, kindOffsetTime: 10,
}

// Kinds of raster fields.
const (
	rasterExternal = iota // path of a file
	rasterManaged         // number of a row in tables of the geodatabase
	rasterInline          // bytes
)

// Flags of fields.
const (
	flagNullable = 1
	flagEditable = 4
)

// field is a field of a table.
type field struct {
	name     string
	kind     kind
	bytes    int // of a value; 0: it has a length of its own
	nullable bool
	raster   uint8
	geometry *geometryField // of a geometry
	codes    *domain        // whose texts are the values; nil: none
	precise  bool           // a date and time has milliseconds
	utc      bool           // a date and time is in UTC
}

// geometryField describes how geometries are written: an ordinate is v/scale + origin.
type geometryField struct {
	wkt              string
	x, y, z, m       float64 // origins
	xyScale          float64
	zScale, mScale   float64
	hasZ, hasM       bool // of origins and scales
	layerZ, layerM   bool // of the layer
	kindOfGeometries uint8
}

// parseFields reads the descriptions of the fields:
//
//	length (4), version (4), geometry type, 1: texts are UTF-8, 0, 0x40: M, 0x80: Z, number of fields (2)
//	field    name, alias (each a number of units, UTF-16), kind, then as the kind says
//	         text     maximum length (4), flags, default
//	         others   size, flags; default, unless it is an object id, bytes, a UUID or XML
//	         geometry 0, flags, WKT (bytes (2), UTF-16), 2: M, 4: Z; origins, scales, tolerances; box, grids
//	default  length (text: varuint, else a byte), and the value if the field is editable
func (t *table) parseFields(b []byte) *fault {
	c := &cursor{b: b}
	if c.uint32(); len(b) < 10 {
		return faultf(0, "field descriptions of %d bytes, expected 10 at least", len(b))
	}
	t.geometryKind = c.byte()
	t.utf8 = c.byte()&1 != 0
	c.byte()
	flags := c.byte()
	n := c.uint16()
	for i := range n {
		at := c.p
		f := field{name: c.utf16(int(c.byte()))}
		c.utf16(int(c.byte())) // the alias
		k := c.byte()
		if c.err == nil && k >= uint8(kinds) {
			return faultf(c.p-1, "field %q has the type %d, which is not known", f.name, k)
		}
		if f.kind = kind(k); c.err == nil {
			f.bytes = kindBytes[f.kind]
			f.describe(c, flags)
		}
		if c.err != nil {
			return faultf(at, "field %d of %d: %w", i, n, c.err)
		}
		if f.kind == kindGeometry {
			if t.geometry >= 0 {
				return faultf(at, "the table has two geometry fields, %q and %q", t.fields[t.geometry].name, f.name)
			}
			t.geometry = i
		}
		if f.nullable {
			t.nullable++
		}
		t.fields = append(t.fields, f)
	}
	t.distinguish()
	return nil
}

func (f *field) describe(c *cursor, flags byte) {
	switch f.kind {
	case kindGeometry, kindRaster:
		c.byte()
		f.nullable = c.byte()&flagNullable != 0
		f.describeGeometry(c, flags)
		return
	case kindObjectID, kindBinary, kindGUID, kindGlobalID, kindXML:
		c.byte()
		f.nullable = c.byte()&flagNullable != 0
		return
	case kindString:
		c.uint32()
	default:
		c.byte()
	}
	own := c.byte()
	f.nullable = own&flagNullable != 0
	size := uint64(0)
	if f.kind == kindString {
		size = c.varuint()
	} else {
		size = uint64(c.byte())
	}
	if own&flagEditable != 0 {
		c.take(int(min(size, math.MaxInt32)))
	}
}

// describeGeometry reads the description of a geometry or a raster, after its flags.
func (f *field) describeGeometry(c *cursor, flags byte) {
	if f.kind == kindRaster {
		c.utf16(int(c.byte()))
	}
	g := &geometryField{layerM: flags&0x40 != 0, layerZ: flags&0x80 != 0}
	g.wkt = string(appendUTF16(nil, c.take(c.uint16())))
	has := c.byte()
	g.hasM, g.hasZ = has&2 != 0, has&4 != 0
	if f.kind == kindGeometry || has > 0 {
		g.describeScales(c)
	}
	if f.kind == kindRaster {
		if f.raster = c.byte(); f.raster == rasterManaged {
			f.bytes = 4
		}
		if c.err == nil && f.raster > rasterInline {
			c.fail(fmt.Errorf("a raster field of type %d, which is not known", f.raster))
		}
		return
	}
	if c.err == nil && (g.xyScale == 0 || !isFinite(g.xyScale) || !isFinite(g.x) || !isFinite(g.y)) {
		c.fail(fmt.Errorf("the scale %v of x and y, and their origins %v and %v: expected finite ones, no scale of 0",
			g.xyScale, g.x, g.y))
	}
	f.geometry = g
	c.take(4 * 8) // box
	if g.layerZ {
		c.take(2 * 8)
	}
	if g.layerM {
		c.take(2 * 8)
	}
	c.byte()
	if n := c.uint32(); n == 0 || n > 3 {
		c.fail(fmt.Errorf("%d sizes of grids, expected 1 to 3", n))
	} else {
		c.take(int(n) * 8)
	}
}

func (g *geometryField) describeScales(c *cursor) {
	g.x, g.y, g.xyScale = c.float(), c.float(), c.float()
	if g.hasM {
		g.m, g.mScale = c.float(), c.float()
	}
	if g.hasZ {
		g.z, g.zScale = c.float(), c.float()
	}
	c.float() // tolerances
	if g.hasM {
		c.float()
	}
	if g.hasZ {
		c.float()
	}
	g.zScale, g.mScale = nonzero(finite(g.zScale)), nonzero(finite(g.mScale))
	g.z, g.m = finite(g.z), finite(g.m)
}

func isFinite(v float64) bool { return v-v == 0 }

// finite returns v, or the canonical NaN: fields without z or m may have anything there.
func finite(v float64) float64 {
	if isFinite(v) {
		return v
	}
	return nan
}

// nonzero returns a scale by which numbers can be divided.
func nonzero(scale float64) float64 {
	if scale == 0 {
		return 0x1p-1022
	}
	return scale
}

func (c *cursor) float() float64 {
	if b := c.take(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// distinguish numbers fields that have the name of an earlier one.
func (t *table) distinguish() {
	taken := map[string]bool{}
	for i := range t.fields {
		taken[t.fields[i].name] = true
	}
	given, next := map[string]bool{}, map[string]int{}
	for i := range t.fields {
		name := t.fields[i].name
		for numbered := name; ; numbered = name + "_" + strconv.Itoa(next[name]) {
			if !given[numbered] && (numbered == name || !taken[numbered]) {
				t.fields[i].name, given[numbered] = numbered, true
				break
			}
			next[name]++
		}
	}
}

// find returns the index of a field of a kind, or -1.
func (t *table) find(name string, kinds ...kind) int {
	for i := range t.fields {
		for _, k := range kinds {
			if t.fields[i].name == name && t.fields[i].kind == k {
				return i
			}
		}
	}
	return -1
}

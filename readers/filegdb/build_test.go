package filegdb_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"unicode/utf16"

	"github.com/vibeflight/vibeflight/readers/readertest"
)

// The tables of tests are put in place of the table of a golden, whose system tables they share.
const (
	madeTable = "a00000009.gdbtable"
	madeIndex = "a00000009.gdbtablx"
)

// Kinds of fields.
const (
	kindInt16 = iota
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
	kindOffsetTime
)

// builder is a table that a test makes.
type builder struct {
	utf16    bool
	version4 bool
	geometry byte // kind of the layer's geometries
	flags    byte // 0x40: M, 0x80: Z
	fields   [][]byte
	nullable int
	rows     []madeRow
	blocks   []int  // numbers of the blocks of the index; nil: all, without a bitmap
	total    uint64 // rows in the index; 0: those of the blocks
}

// madeRow is a row in a slot.
type madeRow struct {
	slot int
	b    []byte
}

func text16(s string) (b []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

func counted16(s string) []byte {
	return append([]byte{byte(len(utf16.Encode([]rune(s))))}, text16(s)...)
}

// field adds a field.
func (m *builder) field(name string, kind byte, nullable bool) *builder {
	b := append(append(counted16(name), counted16("an alias")...), kind)
	flags := byte(4)
	if nullable {
		flags |= 1
		m.nullable++
	}
	switch kind {
	case kindObjectID:
		b = append(b, 4, 2)
	case kindBinary, kindGUID, kindGlobalID, kindXML:
		b = append(b, 0, flags)
	case kindString:
		b = append(binary.LittleEndian.AppendUint32(b, 255), flags, 0)
	case kindGeometry:
		b = append(b, 0, flags&1)
		b = m.geometryField(b)
	default:
		b = append(b, 8, flags, 0)
	}
	m.fields = append(m.fields, b)
	return m
}

func floats(b []byte, v ...float64) []byte {
	for _, f := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
	}
	return b
}

// The scale of all ordinates is 1000, and their origins are these.
const (
	madeScale         = 1000
	madeX, madeY      = -400, -300
	madeZ, madeM      = -100, -200
	bothM, bothZ byte = 2, 4
)

func (m *builder) geometryField(b []byte) []byte {
	wkt := text16("{B286C06B-0879-11D2-AACA-00C04FA33C20}")
	b = binary.LittleEndian.AppendUint16(b, uint16(len(wkt)))
	b = append(append(b, wkt...), 1|bothM|bothZ)
	b = floats(b, madeX, madeY, madeScale, madeM, madeScale, madeZ, madeScale, 0.002, 0.002, 0.002, -1, -1, 1, 1)
	if m.flags&0x80 != 0 {
		b = floats(b, 0, 1)
	}
	if m.flags&0x40 != 0 {
		b = floats(b, 0, 1)
	}
	return floats(append(b, 0, 1, 0, 0, 0), 0)
}

// row adds a row to the next slot: a value for each field but the object id, nil for null.
func (m *builder) row(values ...[]byte) *builder { return m.rowIn(len(m.rows), values...) }

func (m *builder) rowIn(slot int, values ...[]byte) *builder {
	bitmap, bit := make([]byte, (m.nullable+7)/8), 0
	var b []byte
	for i, v := range values {
		f := m.fields[i]
		if v == nil {
			bitmap[bit/8] |= 1 << (bit % 8)
			bit++
			continue
		}
		if nullableField(f) {
			bit++
		}
		b = append(b, v...)
	}
	m.rows = append(m.rows, madeRow{slot, append(bitmap, b...)})
	return m
}

// nullableField reads the flags of a description.
func nullableField(f []byte) bool {
	p := 1 + 2*int(f[0])
	p += 1 + 2*int(f[p])
	kind := f[p]
	if kind == kindString {
		return f[p+5]&1 != 0
	}
	return f[p+2]&1 != 0
}

// blob writes a value with its length.
func blob(v []byte) []byte { return append(binary.AppendUvarint(nil, uint64(len(v))), v...) }

// files returns the .gdbtable and the .gdbtablx.
func (m *builder) files() (table, index []byte) {
	var fields []byte
	fields = binary.LittleEndian.AppendUint32(fields, 4)
	utf8 := byte(3)
	if m.utf16 {
		utf8 = 2
	}
	fields = append(fields, m.geometry, utf8, 0, m.flags)
	fields = binary.LittleEndian.AppendUint16(fields, uint16(len(m.fields)))
	for _, f := range m.fields {
		fields = append(fields, f...)
	}
	version := uint32(3)
	if m.version4 {
		version = 4
	}
	table = binary.LittleEndian.AppendUint32(table, version)
	table = binary.LittleEndian.AppendUint32(table, uint32(len(m.rows)))
	table = binary.LittleEndian.AppendUint32(table, 1000)
	table = binary.LittleEndian.AppendUint32(table, 5)
	table = binary.LittleEndian.AppendUint64(table, uint64(len(m.rows)))
	table = binary.LittleEndian.AppendUint64(table, 0)
	table = binary.LittleEndian.AppendUint64(table, 40)
	table = binary.LittleEndian.AppendUint32(table, uint32(len(fields)))
	table = append(table, fields...)
	blocks := m.blocks
	if blocks == nil {
		blocks = []int{0}
	}
	const block, size = 1024, 5
	offsets := make([]byte, len(blocks)*block*size)
	for _, r := range m.rows {
		if r.b == nil {
			continue
		}
		for k, number := range blocks {
			if r.slot/block == number {
				at := (k*block + r.slot%block) * size
				binary.LittleEndian.PutUint32(offsets[at:], uint32(len(table)))
			}
		}
		table = binary.LittleEndian.AppendUint32(table, uint32(len(r.b)))
		table = append(table, r.b...)
	}
	total := m.total
	if total == 0 {
		total = uint64(blocks[len(blocks)-1]+1) * block
	}
	index = binary.LittleEndian.AppendUint32(index, version)
	index = binary.LittleEndian.AppendUint32(index, uint32(len(blocks)))
	if m.version4 {
		index = binary.LittleEndian.AppendUint32(index, 0)
	} else {
		index = binary.LittleEndian.AppendUint32(index, uint32(total))
	}
	index = append(binary.LittleEndian.AppendUint32(index, size), offsets...)
	bitmap := make([]byte, 32768)
	for _, number := range blocks {
		bitmap[number/8] |= 1 << (number % 8)
	}
	if m.version4 {
		index = binary.LittleEndian.AppendUint64(index, total)
		if m.blocks == nil {
			return table, binary.LittleEndian.AppendUint32(index, 0)
		}
		index = binary.LittleEndian.AppendUint32(index, 22+32768+52)
		index = append(append(index, 1, 0, 1, 0, 0, 0), make([]byte, 16)...)
		index = append(append(index, bitmap...), 1)
		return table, append(index, make([]byte, 51)...)
	}
	words, all := 0, len(blocks)
	if m.blocks != nil {
		all = blocks[len(blocks)-1] + 1
		words = (all + 31) / 32
	}
	for _, v := range []int{words, all, len(blocks), words} {
		index = binary.LittleEndian.AppendUint32(index, uint32(v))
	}
	return table, append(index, bitmap[:4*words]...)
}

// in returns a golden with the table in place of its own.
func (m *builder) in(golden readertest.Input) readertest.Input {
	golden.Members = maps.Clone(golden.Members)
	golden.Members[madeTable], golden.Members[madeIndex] = m.files()
	return golden
}

// varints writes signed integers, the first byte of each with 6 bits and the sign.
func varints(b []byte, v ...int) []byte {
	for _, n := range v {
		first := byte(0)
		if n < 0 {
			n, first = -n, 0x40
		}
		first |= byte(n & 0x3f)
		if n >>= 6; n == 0 {
			b = append(b, first)
			continue
		}
		b = binary.AppendUvarint(append(b, first|0x80), uint64(n))
	}
	return b
}

func varuints(b []byte, v ...uint64) []byte {
	for _, n := range v {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// parts writes lines or rings, of positions x, y, and what follows them.
func parts(kind uint64, curves []byte, curved int, more []byte, rings ...[]float64) []byte {
	n := 0
	for _, r := range rings {
		n += len(r) / 2
	}
	b := varuints(nil, kind, uint64(n), uint64(len(rings)))
	if kind&0x20000000 != 0 {
		b = varuints(b, uint64(curved))
	}
	b = varuints(b, 0, 0, 0, 0)
	for _, r := range rings[:len(rings)-1] {
		b = varuints(b, uint64(len(r)/2))
	}
	last := [2]int{}
	for _, r := range rings {
		for i, v := range r {
			origin := [2]float64{madeX, madeY}[i%2]
			at := int(math.Round((v - origin) * madeScale))
			b = varints(b, at-last[i%2])
			last[i%2] = at
		}
	}
	return append(append(b, more...), curves...)
}

// ordinates writes those of z or m.
func ordinates(origin float64, v ...float64) (b []byte) {
	last := 0
	for _, f := range v {
		at := int(math.Round((f - origin) * madeScale))
		b = varints(b, at-last)
		last = at
	}
	return b
}

// Curves.
func arc(first int, x, y float64, flags uint32) []byte {
	return binary.LittleEndian.AppendUint32(floats(varuints(nil, uint64(first), 1), x, y), flags)
}

func bezier(first int, v ...float64) []byte { return floats(varuints(nil, uint64(first), 4), v...) }

func ellipse(first int, x, y, rotation, major, ratio float64, flags uint32) []byte {
	b := floats(varuints(nil, uint64(first), 5), x, y, rotation, major, ratio)
	return binary.LittleEndian.AppendUint32(b, flags)
}

// golden returns the golden of a name.
func golden(all []readertest.Input, name string) readertest.Input {
	for _, in := range all {
		if in.Name == name {
			return in
		}
	}
	panic(fmt.Sprintf("no golden %s", name))
}

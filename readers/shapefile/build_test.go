package shapefile_test

import (
	"bytes"
	"encoding/binary"
	"math"
)

// Shape types.
const (
	null, point, polyLine, polygon, multiPoint = 0, 1, 3, 5, 8
	pointZ, polyLineZ, polygonZ, multiPointZ   = 11, 13, 15, 18
	pointM, polyLineM, polygonM, multiPointM   = 21, 23, 25, 28
	multiPatch                                 = 31
)

var little, big = binary.LittleEndian, binary.BigEndian

// shp returns a file of a type with these contents of records, numbered from 1.
func shp(kind uint32, contents ...[]byte) []byte { return shpFrom(1, kind, contents...) }

// shpFrom returns shp with another number of the first record.
func shpFrom(first int, kind uint32, contents ...[]byte) []byte {
	b := make([]byte, 100)
	big.PutUint32(b, 9994)
	little.PutUint32(b[28:], 1000)
	little.PutUint32(b[32:], kind)
	for i, c := range contents {
		b = big.AppendUint32(b, uint32(first+i))
		b = big.AppendUint32(b, uint32(len(c)/2))
		b = append(b, c...)
	}
	big.PutUint32(b[24:], uint32(len(b)/2))
	return b
}

func doubles(v ...float64) []byte {
	var b []byte
	for _, f := range v {
		b = little.AppendUint64(b, math.Float64bits(f))
	}
	return b
}

func words(v ...uint32) []byte {
	var b []byte
	for _, w := range v {
		b = little.AppendUint32(b, w)
	}
	return b
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// nothing is the content of a record without shape.
var nothing = words(null)

// at returns the content of a record of a point.
func at(kind uint32, ordinates ...float64) []byte { return join(words(kind), doubles(ordinates...)) }

// xy are pairs of x and y.
type xy = []float64

// rangeOf is a placeholder for the range of z or m, which is ignored.
var rangeOf = doubles(-1, -1)

// parts returns the content of a record of a PolyLine or Polygon, with what follows the pairs.
func parts(kind uint32, of []xy, more ...[]byte) []byte { return patch(kind, nil, of, more...) }

// patch returns the content of a record of a MultiPatch: parts with kinds.
func patch(kind uint32, kinds []uint32, of []xy, more ...[]byte) []byte {
	var firsts []uint32
	var all xy
	for _, p := range of {
		firsts = append(firsts, uint32(len(all)/2))
		all = append(all, p...)
	}
	head := join(words(kind), doubles(0, 0, 0, 0), words(uint32(len(of)), uint32(len(all)/2)), words(firsts...),
		words(kinds...), doubles(all...))
	return join(append([][]byte{head}, more...)...)
}

// several returns the content of a record of a MultiPoint.
func several(kind uint32, of xy, more ...[]byte) []byte {
	head := join(words(kind), doubles(0, 0, 0, 0), words(uint32(len(of)/2)), doubles(of...))
	return join(append([][]byte{head}, more...)...)
}

// ordinates returns z or m of a shape with their range before.
func ordinates(v ...float64) []byte { return join(rangeOf, doubles(v...)) }

// square returns a clockwise ring.
func square(x, y, size float64) xy {
	return xy{x, y, x, y + size, x + size, y + size, x + size, y, x, y}
}

// hole returns a square that turns the other way.
func hole(x, y, size float64) xy { return xy{x, y, x + size, y, x + size, y + size, x, y + size, x, y} }

// field is one of a .dbf.
type field struct {
	name             string
	kind             byte
	length, decimals byte
}

// dbf returns a table of dBASE III; each record is its text with the deletion flag.
func dbf(fields []field, records ...string) []byte {
	length := 1
	for _, f := range fields {
		length += int(f.length)
	}
	b := make([]byte, 32)
	b[0] = 3
	little.PutUint32(b[4:], uint32(len(records)))
	little.PutUint16(b[8:], uint16(32+32*len(fields)+1))
	little.PutUint16(b[10:], uint16(length))
	for _, f := range fields {
		d := make([]byte, 32)
		copy(d, f.name)
		d[11], d[16], d[17] = f.kind, f.length, f.decimals
		b = append(b, d...)
	}
	b = append(b, 0x0D)
	for _, r := range records {
		b = append(b, r...)
	}
	return b
}

package sqlite

import (
	"encoding/binary"
	"errors"
	"math"
)

// Varint reads a variable-length integer (section 1.6): 7 bits a byte, the highest first, and 8
// bits of a ninth byte. n is the number of its bytes, 0 if b ends before it does.
func Varint(b []byte) (v uint64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return longVarint(b)
}

func longVarint(b []byte) (v uint64, n int) {
	for i, c := range b {
		if i == 8 {
			return v<<8 | uint64(c), 9
		}
		v = v<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// Class is the storage class of a value.
type Class uint8

// Storage classes.
const (
	Null Class = iota
	Integer
	Float
	Text
	Blob
)

// Value is a value of a record.
type Value struct {
	Class Class
	At    int    // of its bytes in the payload
	Int   int64  // of an Integer; of a Float its bits
	Bytes []byte // of a Text or a Blob
}

// Float returns the number of a Float.
func (v *Value) Float() float64 { return math.Float64frombits(uint64(v.Int)) }

// Record is the values of a payload, read from the first to the last (section 2.1).
//
//	record  size of the header, { serial type }, { value }
type Record struct {
	Payload []byte
	Head    int // of the next serial type
	HeadEnd int
	Body    int // of the next value
}

// Causes of the errors of records.
var (
	errRecordHeader = errors.New("the record's header has no valid size")
	errSerial       = errors.New("the record has no valid serial type")
	errRecordEnd    = errors.New("the record ends inside of a value")
)

// Open begins a record.
func (r *Record) Open(payload []byte) error {
	size, n := Varint(payload)
	if n == 0 || size < uint64(n) || size > uint64(len(payload)) {
		return errRecordHeader
	}
	*r = Record{Payload: payload, Head: n, HeadEnd: int(size), Body: int(size)}
	return nil
}

// More reports whether another value follows.
func (r *Record) More() bool { return r.Head < r.HeadEnd }

// Next reads the next value.
func (r *Record) Next(v *Value) error {
	p := r.Payload
	serial := uint64(p[r.Head])
	if serial < 0x80 {
		r.Head++
	} else {
		var n int
		if serial, n = longVarint(p[r.Head:r.HeadEnd]); n == 0 {
			return errSerial
		}
		r.Head += n
	}
	v.At = r.Body
	if serial >= 12 {
		size := (serial - 12) / 2
		if size > uint64(len(p)-r.Body) {
			return errRecordEnd
		}
		v.Class, v.Bytes = Blob-Class(serial&1), p[r.Body:r.Body+int(size)]
		r.Body += int(size)
		return nil
	}
	size := int(Sizes[serial])
	from := r.Body
	if size > len(p)-from {
		return errRecordEnd
	}
	r.Body += size
	v.Class = classes[serial]
	if from+8 <= cap(p) { // what follows the value in memory is shifted out
		v.Int = int64(binary.BigEndian.Uint64(p[from:from+8])) >> Shifts[serial]
	} else {
		var b [8]byte
		copy(b[:], p[from:from+size])
		v.Int = int64(binary.BigEndian.Uint64(b[:])) >> Shifts[serial]
	}
	if serial >= 8 {
		v.Int = int64(serial & 1)
		if serial > 9 {
			return errSerial
		}
	}
	return nil
}

// What the first serial types mean: NULL, integers of 1 to 8 bytes, a float64, 0 and 1. The last two
// are not in use. Shifts shift out what follows an integer in eight bytes.
var (
	Sizes   = [12]uint8{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0}
	Shifts  = [12]uint8{0, 56, 48, 40, 32, 16, 0, 0, 0, 0, 0, 0}
	classes = [12]Class{Null, Integer, Integer, Integer, Integer, Integer, Integer, Float, Integer, Integer}
)

// FloatValue returns a Float.
func FloatValue(x float64) Value { return Value{Class: Float, Int: int64(math.Float64bits(x))} }

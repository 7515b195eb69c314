package records

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Int96 is the type of Parquet's deprecated INT96, in which Spark, Hive and Impala write times. Its
// values become timestamp[ns] of a zone:
//
//	nanoseconds of the day, 8 bytes | Julian day number, 4 bytes
type Int96 struct {
	arrow.ExtensionBase
	Zone string
}

// int96Bytes is the size of a value.
const int96Bytes = 12

// NewInt96 returns the type with a zone, or without one for "".
func NewInt96(zone string) *Int96 {
	return &Int96{arrow.ExtensionBase{Storage: &arrow.FixedSizeBinaryType{ByteWidth: int96Bytes}}, zone}
}

// ArrayType returns the array type of an extension without methods of its own.
func (*Int96) ArrayType() reflect.Type { return reflect.TypeFor[array.ExtensionArrayBase]() }

// ExtensionName is a name that no file has.
func (*Int96) ExtensionName() string { return "vibeflight.int96" }

// ExtensionEquals compares the zones.
func (t *Int96) ExtensionEquals(other arrow.ExtensionType) bool {
	o, ok := other.(*Int96)
	return ok && o.Zone == t.Zone
}

// Serialize returns the zone.
func (t *Int96) Serialize() string { return t.Zone }

// Deserialize makes the type of a zone.
func (*Int96) Deserialize(_ arrow.DataType, zone string) (arrow.ExtensionType, error) {
	return NewInt96(zone), nil
}

func (t *Int96) timestamp() *arrow.TimestampType {
	return &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: t.Zone}
}

var errTime = errors.New("a time that timestamp[ns] does not hold: it reaches from 1677-09-21 to 2262-04-11")

const (
	epochJulianDay = 2440588 // of 1970-01-01
	dayNs          = 86400 * 1_000_000_000
)

// int96 returns the nanoseconds since 1970 of a value, if an int64 holds them.
func int96(b []byte) (ns int64, ok bool) {
	clock := int64(binary.LittleEndian.Uint64(b))
	day := int64(int32(binary.LittleEndian.Uint32(b[8:]))) - epochJulianDay
	if clock < 0 || clock > dayNs {
		return 0, false
	}
	if day < 0 { // so that times of the first incomplete day are included
		day, clock = day+1, clock-dayNs
	}
	const maxDays = math.MaxInt64 / dayNs
	if day < -maxDays || day > maxDays {
		return 0, false
	}
	start := day * dayNs
	ns = start + clock
	return ns, clock == 0 || (ns > start) == (clock > 0)
}

// times96 returns values of Int96.
func (r rows) times96(t *Int96) (geoarrow.Column, error) {
	c, err := r.fixed(t.Storage.(*arrow.FixedSizeBinaryType))
	if err != nil {
		return c, err
	}
	out := make([]byte, 0, 8*r.len())
	for i := range r.len() {
		var ns int64
		if has(c.Valid, i) {
			var ok bool
			if ns, ok = int96(c.Values[int96Bytes*i:]); !ok {
				return c, &rowError{i, errTime}
			}
		}
		out = binary.LittleEndian.AppendUint64(out, uint64(ns))
	}
	c.Type, c.Values = t.timestamp(), out
	return c, nil
}

// withoutBadTimes returns the data of a column with null for the rows that times96 refuses; bad is
// called with each of them.
func withoutBadTimes(r rows, bad func(row int)) arrow.ArrayData {
	t, ok := r.data.DataType().(*Int96)
	if !ok || r.check() != nil {
		return r.data
	}
	c, err := r.fixed(t.Storage.(*arrow.FixedSizeBinaryType))
	if err != nil {
		return r.data // reading reports it
	}
	var valid []byte
	for i := range r.len() {
		if !has(c.Valid, i) {
			continue
		}
		if _, ok := int96(c.Values[int96Bytes*i:]); ok {
			continue
		}
		if valid == nil {
			valid = r.allValidity()
		}
		at := r.at(i)
		valid[at>>3] &^= 1 << (at & 7)
		bad(i)
	}
	if valid == nil {
		return r.data
	}
	buffers := append([]*memory.Buffer{memory.NewBufferBytes(valid)}, r.data.Buffers()[1:]...)
	return array.NewData(t, r.data.Len(), buffers, nil, array.UnknownNullCount, r.data.Offset())
}

// allValidity returns a copy of the bitmap of the whole array, up to the last of the rows.
func (r rows) allValidity() []byte {
	valid := make([]byte, (r.at(r.len())+7)/8)
	if b := r.buffer(0); b != nil {
		copy(valid, b)
		return valid
	}
	for i := range valid {
		valid[i] = 0xff
	}
	return valid
}

func (t *Int96) String() string { return "INT96" }

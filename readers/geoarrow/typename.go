package geoarrow

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// plainTypes returns the column types without parameters, and the decimal types that text formats
// produce. Their names are arrow's.
func plainTypes() []arrow.DataType {
	return []arrow.DataType{
		arrow.FixedWidthTypes.Boolean,
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float64,
		arrow.BinaryTypes.String,
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us,
		arrow.FixedWidthTypes.Time64ns,
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint8,
		arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32,
		arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32,
		arrow.BinaryTypes.Binary,
		arrow.FixedWidthTypes.Date64, arrow.FixedWidthTypes.Time32s,
		arrow.FixedWidthTypes.Duration_s, arrow.FixedWidthTypes.Duration_ms, arrow.FixedWidthTypes.Duration_us,
		arrow.FixedWidthTypes.Duration_ns,
		arrow.FixedWidthTypes.MonthInterval, arrow.FixedWidthTypes.DayTimeInterval,
		arrow.FixedWidthTypes.MonthDayNanoInterval,
	}
}

const (
	timestampPrefix  = "timestamp["
	decimal128Prefix = "decimal("
	decimal256Prefix = "decimal256("
	decimalSuffix    = ")"
	bytesPrefix      = "fixed_size_binary["
	listPrefix       = "list["
	nullablePrefix   = "list_of_nullable["
	zonePrefix       = ", "
	typeSuffix       = "]"
)

var unitNames = [...]string{arrow.Second: "s", arrow.Millisecond: "ms", arrow.Microsecond: "us", arrow.Nanosecond: "ns"}

// TypeName returns the name of a type that a column may have:
//
//	int32    timestamp[ms]    timestamp[us, +05:30]    decimal(19, 4)
//	fixed_size_binary[16]    list[utf8]    list_of_nullable[int8]
//
// It returns false for a type that no column has.
func TypeName(t arrow.DataType) (string, bool) {
	switch t := t.(type) {
	case *arrow.TimestampType:
		name := timestampPrefix + unitNames[t.Unit]
		if t.TimeZone != "" {
			name += zonePrefix + t.TimeZone
		}
		return name + typeSuffix, true
	case *arrow.ListType:
		item, ok := TypeName(t.Elem())
		prefix := listPrefix
		if t.ElemField().Nullable {
			prefix = nullablePrefix
		}
		return prefix + item + typeSuffix, ok && t.Elem().ID() != arrow.LIST && t.ElemField().Name == itemName
	case *arrow.Decimal128Type:
		return fmt.Sprintf("%s%d, %d%s", decimal128Prefix, t.Precision, t.Scale, decimalSuffix), true
	case *arrow.Decimal256Type:
		return fmt.Sprintf("%s%d, %d%s", decimal256Prefix, t.Precision, t.Scale, decimalSuffix), true
	case *arrow.FixedSizeBinaryType:
		return bytesPrefix + strconv.Itoa(t.ByteWidth) + typeSuffix, t.ByteWidth > 0
	}
	for _, p := range plainTypes() {
		if arrow.TypeEqual(p, t) {
			return plainName(p), true
		}
	}
	return "", false
}

// plainName returns arrow's name of a type without parameters; for durations it has the unit.
func plainName(t arrow.DataType) string {
	if d, ok := t.(*arrow.DurationType); ok {
		return "duration[" + unitNames[d.Unit] + typeSuffix
	}
	return t.String()
}

// itemName is what the child of a list is called.
const itemName = "item"

// ListOf returns the type of a column of lists, whose elements may be null if nullable.
func ListOf(item arrow.DataType, nullable bool) arrow.DataType {
	return arrow.ListOfField(arrow.Field{Name: itemName, Type: item, Nullable: nullable})
}

// TypeNamed is the inverse of TypeName.
func TypeNamed(name string) (arrow.DataType, bool) {
	for _, p := range plainTypes() {
		if plainName(p) == name {
			return p, true
		}
	}
	if text, ok := strings.CutSuffix(name, decimalSuffix); ok {
		return decimalNamed(text)
	}
	name, ok := strings.CutSuffix(name, typeSuffix)
	if !ok {
		return nil, false
	}
	if text, ok := strings.CutPrefix(name, timestampPrefix); ok {
		text, zone, _ := strings.Cut(text, zonePrefix)
		for u, unit := range unitNames {
			if text == unit {
				return &arrow.TimestampType{Unit: arrow.TimeUnit(u), TimeZone: zone}, true
			}
		}
	}
	if text, ok := strings.CutPrefix(name, bytesPrefix); ok {
		n, err := strconv.ParseInt(text, 10, 32)
		return &arrow.FixedSizeBinaryType{ByteWidth: int(n)}, err == nil && n > 0
	}
	text, nullable := strings.CutPrefix(name, nullablePrefix)
	if !nullable {
		if text, ok = strings.CutPrefix(name, listPrefix); !ok {
			return nil, false
		}
	}
	item, ok := TypeNamed(text)
	if !ok || item.ID() == arrow.LIST { // lists have one level
		return nil, false
	}
	return ListOf(item, nullable), true
}

// decimalNamed reads "decimal(19, 4".
func decimalNamed(name string) (arrow.DataType, bool) {
	if text, ok := strings.CutPrefix(name, decimal128Prefix); ok {
		precision, scale, ok := digitsOf(text)
		return &arrow.Decimal128Type{Precision: precision, Scale: scale}, ok
	}
	if text, ok := strings.CutPrefix(name, decimal256Prefix); ok {
		precision, scale, ok := digitsOf(text)
		return &arrow.Decimal256Type{Precision: precision, Scale: scale}, ok
	}
	return nil, false
}

// digitsOf reads "19, 4".
func digitsOf(text string) (precision, scale int32, ok bool) {
	p, s, _ := strings.Cut(text, zonePrefix)
	a, errA := strconv.ParseInt(p, 10, 32)
	b, errB := strconv.ParseInt(s, 10, 32)
	return int32(a), int32(b), errA == nil && errB == nil && a > 0
}

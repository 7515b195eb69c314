package tablefile

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// plain are the types without parameters that columns have (geoarrow.Facts.Resolve). Their names in the description are those of arrow.
func plain() []arrow.DataType {
	return []arrow.DataType{
		arrow.FixedWidthTypes.Boolean,
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float64,
		arrow.BinaryTypes.String,
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns,
		&arrow.Decimal128Type{Precision: 38}, &arrow.Decimal128Type{Precision: 19, Scale: 4},
	}
}

const (
	timestampPrefix = "timestamp["
	zonePrefix      = ", "
	listPrefix      = "list["
	typeSuffix      = "]"
)

var units = [...]string{arrow.Second: "s", arrow.Millisecond: "ms", arrow.Microsecond: "us", arrow.Nanosecond: "ns"}

// typeName names a type:
//
//	int32    timestamp[ms]    timestamp[us, +05:30]    list[utf8]
//
// It gives false for a type that no column has.
func typeName(t arrow.DataType) (string, bool) {
	for _, p := range plain() {
		if arrow.TypeEqual(p, t) {
			return p.String(), true
		}
	}
	switch t := t.(type) {
	case *arrow.TimestampType:
		name := timestampPrefix + units[t.Unit]
		if t.TimeZone != "" {
			name += zonePrefix + t.TimeZone
		}
		return name + typeSuffix, true
	case *arrow.ListType:
		item, ok := typeName(t.Elem())
		return listPrefix + item + typeSuffix, ok && t.Elem().ID() != arrow.LIST && arrow.TypeEqual(t, listOf(t.Elem()))
	}
	return "", false
}

func listOf(item arrow.DataType) arrow.DataType {
	return arrow.ListOfField(arrow.Field{Name: "item", Type: item})
}

// typeOf undoes typeName.
func typeOf(name string) (arrow.DataType, bool) {
	for _, p := range plain() {
		if p.String() == name {
			return p, true
		}
	}
	name, ok := strings.CutSuffix(name, typeSuffix)
	if !ok {
		return nil, false
	}
	if text, ok := strings.CutPrefix(name, timestampPrefix); ok {
		text, zone, _ := strings.Cut(text, zonePrefix)
		for u, unit := range units {
			if text == unit {
				return &arrow.TimestampType{Unit: arrow.TimeUnit(u), TimeZone: zone}, true
			}
		}
	}
	if text, ok := strings.CutPrefix(name, listPrefix); ok && !strings.HasPrefix(text, listPrefix) { // one level is all there is
		item, ok := typeOf(text)
		if ok {
			return listOf(item), true
		}
	}
	return nil, false
}

package engine

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// TypeName returns DuckDB's name for the type of a column.
func TypeName(f arrow.Field) string {
	if name, ok := f.Metadata.GetValue("ARROW:extension:name"); ok {
		switch {
		case strings.HasPrefix(name, "geoarrow."):
			return "GEOMETRY"
		case name == "arrow.json":
			return "JSON"
		case name == "arrow.uuid":
			return "UUID"
		}
	}
	return plainName(f.Type)
}

func plainName(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale)
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			return "TIMESTAMP WITH TIME ZONE"
		}
		return [...]string{
			arrow.Second: "TIMESTAMP_S", arrow.Millisecond: "TIMESTAMP_MS",
			arrow.Microsecond: "TIMESTAMP", arrow.Nanosecond: "TIMESTAMP_NS",
		}[t.Unit]
	case *arrow.MapType:
		return fmt.Sprintf("MAP(%s, %s)", TypeName(t.KeyField()), TypeName(t.ItemField()))
	case *arrow.FixedSizeListType:
		return fmt.Sprintf("%s[%d]", TypeName(t.ElemField()), t.Len())
	case arrow.ListLikeType:
		return TypeName(t.ElemField()) + "[]"
	case *arrow.StructType:
		var fields []string
		for _, f := range t.Fields() {
			fields = append(fields, fmt.Sprintf("%q %s", f.Name, TypeName(f)))
		}
		return "STRUCT(" + strings.Join(fields, ", ") + ")"
	}
	if name, ok := plainNames[t.ID()]; ok {
		return name
	}
	return t.String()
}

var plainNames = map[arrow.Type]string{
	arrow.NULL: `"NULL"`, arrow.BOOL: "BOOLEAN",
	arrow.INT8: "TINYINT", arrow.INT16: "SMALLINT", arrow.INT32: "INTEGER", arrow.INT64: "BIGINT",
	arrow.UINT8: "UTINYINT", arrow.UINT16: "USMALLINT", arrow.UINT32: "UINTEGER", arrow.UINT64: "UBIGINT",
	arrow.FLOAT32: "FLOAT", arrow.FLOAT64: "DOUBLE",
	arrow.STRING: "VARCHAR", arrow.LARGE_STRING: "VARCHAR", arrow.BINARY: "BLOB", arrow.LARGE_BINARY: "BLOB",
	arrow.FIXED_SIZE_BINARY: "BLOB",
	arrow.DATE32:            "DATE", arrow.DATE64: "DATE", arrow.TIME32: "TIME", arrow.TIME64: "TIME",
	arrow.DURATION: "INTERVAL", arrow.INTERVAL_MONTHS: "INTERVAL", arrow.INTERVAL_DAY_TIME: "INTERVAL",
	arrow.INTERVAL_MONTH_DAY_NANO: "INTERVAL",
}

// Digits returns how many decimal digits a number has, and how many of them are after the decimal
// point.
func Digits(t arrow.DataType) (precision, scale int32, ok bool) {
	if d, ok := t.(arrow.DecimalType); ok {
		return d.GetPrecision(), d.GetScale(), true
	}
	n, ok := map[arrow.Type]int32{
		arrow.INT8: 3, arrow.UINT8: 3, arrow.INT16: 5, arrow.UINT16: 5, arrow.INT32: 10, arrow.UINT32: 10,
		arrow.INT64: 19, arrow.UINT64: 20,
		arrow.FLOAT32: 7, arrow.FLOAT64: 15,
	}[t.ID()]
	return n, 0, ok
}

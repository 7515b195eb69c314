package geoarrow

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
)

func TestTypeNames(t *testing.T) {
	all := append(plainTypes(), &arrow.Decimal128Type{Precision: 19, Scale: 4},
		&arrow.Decimal256Type{Precision: 70, Scale: -3}, &arrow.FixedSizeBinaryType{ByteWidth: 16})
	for u := arrow.Second; u <= arrow.Nanosecond; u++ {
		for _, zone := range []string{"", "UTC", "-05:30", "America/New_York"} {
			all = append(all, &arrow.TimestampType{Unit: u, TimeZone: zone})
		}
	}
	for _, typ := range all {
		for _, typ := range []arrow.DataType{typ, ListOf(typ, false), ListOf(typ, true)} {
			name, ok := TypeName(typ)
			back, known := TypeNamed(name)
			if !ok || !known || !arrow.TypeEqual(back, typ) {
				t.Errorf("%v: %q, %t, gives %v, %t", typ, name, ok, back, known)
			}
		}
	}
	for _, typ := range []arrow.DataType{
		arrow.BinaryTypes.LargeString,
		ListOf(ListOf(arrow.PrimitiveTypes.Int32, false), true), arrow.Null, arrow.StructOf(),
	} {
		if name, ok := TypeName(typ); ok {
			t.Errorf("%v has the name %q", typ, name)
		}
	}
	for _, name := range []string{
		"", "int7", "list[", "list[]", "list[list[int32]]", "list[list_of_nullable[int32]]", "timestamp[]",
		"timestamp[fs]", "list[int32", "decimal(", "decimal(0, 1)",
		"decimal(x, 1)", "fixed_size_binary[]", "fixed_size_binary[0]", "null",
	} {
		if typ, ok := TypeNamed(name); ok {
			t.Errorf("%q is %v", name, typ)
		}
	}
}

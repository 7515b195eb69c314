package export

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

var wkbField = arrow.Field{
	Name: "geometry", Type: arrow.BinaryTypes.Binary, Nullable: true,
	Metadata: arrow.NewMetadata([]string{extensionName, extensionMetadata}, []string{
		"geoarrow.wkb",
		`{"crs":"EPSG:4326"}`,
	}),
}

var wkbPoint = []byte{1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0} // POINT (1 -2)

// built makes an array of a type with what fill appends.
func built(kind arrow.DataType, fill func(array.Builder)) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, kind)
	defer b.Release()
	fill(b)
	return b.NewArray()
}

func TestValueText(t *testing.T) {
	millis := func(zone string) arrow.DataType { return &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: zone} }
	at := func(b array.Builder) { b.(*array.TimestampBuilder).Append(1777617012500) }
	floats := func(v ...float64) func(array.Builder) {
		return func(b array.Builder) {
			l := b.(*array.ListBuilder)
			l.Append(true)
			for _, x := range v {
				l.ValueBuilder().(*array.Float64Builder).Append(x)
			}
			l.ValueBuilder().AppendNull()
		}
	}
	pair := arrow.StructOf(arrow.Field{Name: `a"b`, Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int8, Nullable: true})
	for _, test := range []struct {
		name       string
		field      arrow.Field
		fill       func(array.Builder)
		text, json string
	}{
		{"text", arrow.Field{Type: arrow.BinaryTypes.String}, func(b array.Builder) {
			b.(*array.StringBuilder).Append("a\"<\n")
		}, "a\"<\n", `"a\"<\n"`},
		{"large integer", arrow.Field{Type: arrow.PrimitiveTypes.Int64}, func(b array.Builder) {
			b.(*array.Int64Builder).Append(math.MinInt64)
		}, "-9223372036854775808", "-9223372036854775808"},
		{"byte", arrow.Field{Type: arrow.PrimitiveTypes.Uint8}, func(b array.Builder) {
			b.(*array.Uint8Builder).Append(200)
		}, "200", "200"},
		{"bool", arrow.Field{Type: arrow.FixedWidthTypes.Boolean}, func(b array.Builder) {
			b.(*array.BooleanBuilder).Append(true)
		}, "true", "true"},
		{"float", arrow.Field{Type: arrow.PrimitiveTypes.Float64}, func(b array.Builder) {
			b.(*array.Float64Builder).Append(1e21)
		}, "1e+21", "1e+21"},
		{"negative zero", arrow.Field{Type: arrow.PrimitiveTypes.Float64}, func(b array.Builder) {
			b.(*array.Float64Builder).Append(math.Copysign(0, -1))
		}, "-0", "-0"},
		{"NaN", arrow.Field{Type: arrow.PrimitiveTypes.Float64}, func(b array.Builder) {
			b.(*array.Float64Builder).Append(math.NaN())
		}, "NaN", `"NaN"`},
		{"infinity", arrow.Field{Type: arrow.PrimitiveTypes.Float32}, func(b array.Builder) {
			b.(*array.Float32Builder).Append(float32(math.Inf(-1)))
		}, "-Inf", `"-Inf"`},
		{
			"decimal of 38 digits",
			arrow.Field{Type: &arrow.Decimal128Type{Precision: 38, Scale: 1}},
			func(b array.Builder) {
				n, err := decimal128.FromString("1234567890123456789012345678901234567.8", 38, 1)
				if err != nil {
					panic(err)
				}
				b.(*array.Decimal128Builder).Append(n)
			},
			"1234567890123456789012345678901234567.8", "1234567890123456789012345678901234567.8",
		},
		{"date", arrow.Field{Type: arrow.FixedWidthTypes.Date32}, func(b array.Builder) {
			b.(*array.Date32Builder).Append(-1)
		}, "1969-12-31", `"1969-12-31"`},
		{"timestamp", arrow.Field{Type: millis("")}, at, "2026-05-01T06:30:12.5", `"2026-05-01T06:30:12.5"`},
		{
			"timestamp in UTC",
			arrow.Field{Type: millis("UTC")},
			at, "2026-05-01T06:30:12.5Z",
			`"2026-05-01T06:30:12.5Z"`,
		},
		{"bytes", arrow.Field{Type: arrow.BinaryTypes.Binary}, func(b array.Builder) {
			b.(*array.BinaryBuilder).Append([]byte{0, 255})
		}, "AP8=", `"AP8="`},
		{"geometry", wkbField, func(b array.Builder) {
			b.(*array.BinaryBuilder).Append(wkbPoint)
		}, "POINT (1 -2)", `"POINT (1 -2)"`},
		{
			"JSON text",
			arrow.Field{
				Type:     arrow.BinaryTypes.String,
				Metadata: arrow.MetadataFrom(map[string]string{extensionName: "arrow.json"}),
			},
			func(b array.Builder) { b.(*array.StringBuilder).Append("{ \"a\":\n[1.50, \"b  <\\u00e9\"] }") },
			"{ \"a\":\n[1.50, \"b  <\\u00e9\"] }", `{"a":[1.50,"b  <\u00e9"]}`,
		},
		{
			"list",
			arrow.Field{Type: arrow.ListOf(arrow.PrimitiveTypes.Float64)},
			floats(0.1, math.NaN()),
			`[0.1,"NaN",null]`, `[0.1,"NaN",null]`,
		},
		{
			"struct",
			arrow.Field{Type: pair},
			func(b array.Builder) {
				s := b.(*array.StructBuilder)
				s.Append(true)
				s.FieldBuilder(0).AppendNull()
				s.FieldBuilder(1).(*array.Int8Builder).Append(-3)
			},
			`{"a\"b":null,"n":-3}`, `{"a\"b":null,"n":-3}`,
		},
		{
			"map",
			arrow.Field{Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32)},
			func(b array.Builder) {
				m := b.(*array.MapBuilder)
				m.Append(true)
				m.KeyBuilder().(*array.StringBuilder).Append("k")
				m.ItemBuilder().(*array.Int32Builder).Append(1)
			},
			`[{"key":"k","value":1}]`, `[{"key":"k","value":1}]`,
		},
		{
			"dictionary",
			arrow.Field{Type: &arrow.DictionaryType{
				IndexType: arrow.PrimitiveTypes.Int8,
				ValueType: arrow.BinaryTypes.String,
			}},
			func(b array.Builder) {
				if err := b.(*array.BinaryDictionaryBuilder).AppendString("red, \"dark\""); err != nil {
					panic(err)
				}
			},
			"red, \"dark\"", `"red, \"dark\""`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			column := built(test.field.Type, test.fill)
			defer column.Release()
			text, err := AppendText([]byte("> "), test.field, column, 0)
			if err != nil || string(text) != "> "+test.text {
				t.Errorf("AppendText of %v: got %q, %v, want %q", column, text, err, "> "+test.text)
			}
			got, err := appendJSON([]byte("> "), test.field, column, 0)
			if err != nil || string(got) != "> "+test.json {
				t.Errorf("appendJSON of %v: got %q, %v, want %q", column, got, err, "> "+test.json)
			}
			if !json.Valid(got[2:]) {
				t.Errorf("appendJSON of %v: %s is no JSON", column, got[2:])
			}
		})
	}
}

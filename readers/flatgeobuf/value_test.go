package flatgeobuf_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gogama/flatgeobuf/flatgeobuf/flat"
)

// one returns a file of a column and a feature without geometry for each value; nil is none.
func one(kind flat.ColumnType, values ...any) []byte {
	f := fgbFile{columns: []fgbColumn{{"v", kind}}}
	for _, v := range values {
		if v == nil {
			f.features = append(f.features, feature(nil))
			continue
		}
		f.features = append(f.features, feature(nil, value(0, v)))
	}
	return f.bytes()
}

const noGeometry = "\ngeometry: geoarrow.wkb xy: null"

func TestTypes(t *testing.T) {
	nulls := noGeometry + " | null"
	check(t, with{}, []fgbCase{
		{"byte", one(flat.ColumnTypeByte, int8(-128), nil), "v: int32: -128 | null" + nulls},
		{"ubyte", one(flat.ColumnTypeUByte, uint8(255), nil), "v: int32: 255 | null" + nulls},
		{"bool", one(flat.ColumnTypeBool, true, false), "v: bool: true | false" + nulls},
		{"short", one(flat.ColumnTypeShort, int16(-32768), nil), "v: int32: -32768 | null" + nulls},
		{"ushort", one(flat.ColumnTypeUShort, uint16(65535), nil), "v: int32: 65535 | null" + nulls},
		{
			"int", one(flat.ColumnTypeInt, int32(math.MinInt32), int32(math.MaxInt32)),
			"v: int32: -2147483648 | 2147483647" + nulls,
		},
		{"uint", one(flat.ColumnTypeUInt, uint32(math.MaxUint32), nil), "v: int64: 4294967295 | null" + nulls},
		{
			"long", one(flat.ColumnTypeLong, int64(math.MinInt64), int64(math.MaxInt64)),
			"v: int64: -9223372036854775808 | 9223372036854775807" + nulls,
		},
		{
			"ulong", one(flat.ColumnTypeULong, uint64(math.MaxUint64), uint64(0)),
			"v: uint64: 18446744073709551615 | 0" + nulls,
		},
		{"float", one(flat.ColumnTypeFloat, float32(0.1), nil), "v: float64: 0.10000000149011612 | null" + nulls},
		{"double", one(flat.ColumnTypeDouble, math.Copysign(0, -1), math.Inf(1)), "v: float64: -0 | +Inf" + nulls},
		{
			"nan with another payload", one(flat.ColumnTypeDouble, math.Float64frombits(0xfff8000000000123), nil),
			"v: float64: NaN 0x7ff8000000000000 | null" + nulls,
		},
		{"string", one(flat.ColumnTypeString, "é", ""), `v: string: "é" | ""` + nulls},
		{
			"a string that looks like a date", one(flat.ColumnTypeString, "2020-01-01", nil),
			`v: string: "2020-01-01" | null` + nulls,
		},
		{"json", one(flat.ColumnTypeJson, `{"a": [1]}`, nil), `v: string json: '{"a": [1]}' | null` + nulls},
		{"bytes", one(flat.ColumnTypeBinary, "\x00\xff", ""), `v: string: "00ff" | ""` + nulls},
		{"no value of a type", one(flat.ColumnTypeLong, nil, nil), "v: int64: null | null" + nulls},
	})
}

func TestTimes(t *testing.T) {
	nulls := noGeometry + " | null"
	check(t, with{}, []fgbCase{
		{"dates", one(flat.ColumnTypeDateTime, "2020-01-31", nil), "v: date32: 2020-01-31 | null" + nulls},
		{
			"times", one(flat.ColumnTypeDateTime, "2020-01-31T10:11:12", "2020-01-31T10:11:12.345"),
			"v: timestamp[ms]: 2020-01-31T10:11:12 | 2020-01-31T10:11:12.345" + nulls,
		},
		{
			"finer times", one(flat.ColumnTypeDateTime, "2020-01-31T10:11:12.123456789", nil),
			"v: timestamp[ns]: 2020-01-31T10:11:12.123456789 | null" + nulls,
		},
		{
			"zones", one(flat.ColumnTypeDateTime, "2020-01-31T10:11:12Z", "2020-01-31T10:11:12+02:00"),
			"v: timestamp[ms, tz=UTC]: 2020-01-31T10:11:12 | 2020-01-31T08:11:12" + nulls,
		},
		{
			"a date and a time", one(flat.ColumnTypeDateTime, "2020-01-31", "2020-01-31T10:11:12"),
			"v: timestamp[ms]: 2020-01-31T00:00:00 | 2020-01-31T10:11:12" + nulls,
		},
		{
			"a zone and none", one(flat.ColumnTypeDateTime, "2020-01-31T10:11:12Z", "2020-01-31T10:11:12"),
			`v: string: "2020-01-31T10:11:12Z" | "2020-01-31T10:11:12"` + nulls,
		},
		{
			"an impossible date", one(flat.ColumnTypeDateTime, "2020-01-31", "2020-02-30"),
			`v: string: "2020-01-31" | "2020-02-30"` + nulls,
		},
		{"none", one(flat.ColumnTypeDateTime, nil, nil), "v: string: null | null" + nulls},
	})
}

func TestColumns(t *testing.T) {
	f := func(features [][]byte, names ...string) []byte {
		f := fgbFile{features: features}
		for _, name := range names {
			f.columns = append(f.columns, fgbColumn{name, flat.ColumnTypeInt})
		}
		return f.bytes()
	}
	two := [][]byte{feature(nil, value(1, int32(2)), value(0, int32(1)))}
	check(t, with{}, []fgbCase{
		{"the header's order", f(two, "b", "a"), "b: int32: 1\na: int32: 2" + noGeometry},
		{"equal names", f(two, "a", "a", "a_1"), "a: int32: 1\na_2: int32: 2\na_1: int32: null" + noGeometry},
		{"a name of none", f(two, "", "b"), ": int32: 1\nb: int32: 2" + noGeometry},
		{"geometry", f(two, "geometry", "geometry_1"), "geometry_2: int32: 1\ngeometry_1: int32: 2" + noGeometry},
		{"no column", f([][]byte{feature(nil)}), noGeometry[1:]},
		{"no feature", f(nil, "a"), "a: int32:\ngeometry: geoarrow.wkb xy:"},
	})
}

func TestMalformedValues(t *testing.T) {
	long := func(values ...[]byte) []byte {
		return fgbFile{
			columns:  []fgbColumn{{"v", flat.ColumnTypeLong}, {"s", flat.ColumnTypeString}},
			features: [][]byte{feature(nil), feature(nil, values...)},
		}.bytes()
	}
	cases := []fgbCase{
		{
			"a column beyond the last", long(value(2, int64(1))),
			"byte 168, feature 1: a value of column 2, expected a number below 2",
		},
		{
			"a column twice", long(value(0, int64(1)), value(0, int64(1))),
			`byte 178, feature 1, v: a second value of column "v"`,
		},
		{
			"half a value", long(value(0, int32(1))),
			"byte 170, feature 1, v: the properties end inside of a value: it has 8 bytes, of which 4 are there",
		},
		{
			"half a length", long(value(1, int16(1))),
			"byte 170, feature 1, s: the properties end inside of a value's length",
		},
		{
			"a length of 2^32-1", long(value(1, int32(-1))),
			"byte 170, feature 1, s: the properties end inside of a value: it has 4294967295 bytes, of which 0 " +
				"are there",
		},
		{"a text that is no UTF-8", long(value(1, "a\xff")), "byte 174, feature 1, s: expected UTF-8"},
		{"a boolean of 2", one(flat.ColumnTypeBool, true, uint8(2)), "v: expected a boolean, 0 or 1"},
		{"a date that is no UTF-8", one(flat.ColumnTypeDateTime, "2020-01-01", "\xff"), "v: expected UTF-8"},
	}
	cases[6].want = "byte 150, feature 1, " + cases[6].want
	cases[7].want = "byte 166, feature 1, " + cases[7].want
	check(t, with{}, cases)
	for i := range cases {
		cases[i].want = "v: int64: null\ns: string: null" + noGeometry + "\ncrs: none\nskipped: 1 at [140]"
	}
	check(t, with{options: map[string]any{"on_error": "skip"}}, cases[:6])
	for i, rule := range []string{
		`168, row 1, "": bad-properties: the properties from here on are null`,
		`178, row 1, "v": second-value: left out`,
		`170, row 1, "v": bad-properties: the properties from here on are null`,
		`170, row 1, "s": bad-properties: the properties from here on are null`,
		`170, row 1, "s": bad-properties: the properties from here on are null`,
		`174, row 1, "s": bad-value: value is null`,
	} {
		name, _, _ := strings.Cut(strings.TrimLeft(rule[strings.Index(rule, `":`)+3:], " "), ":")
		v := map[bool]string{true: "1", false: "null"}[i == 1]
		cases[i].want = "v: int64: null | " + v + "\ns: string: null | null" + noGeometry +
			" | null\ncrs: none\ndeviations: " + name + " 1\ndeviation: byte " + rule
	}
	for _, mode := range []string{"null", "repair"} {
		check(t, with{options: map[string]any{"on_error": mode}}, cases[:6])
	}
}

// TestOddValues has values that every mode reads: what is passed is counted.
func TestOddValues(t *testing.T) {
	stray := fgbFile{
		columns:  []fgbColumn{{"v", flat.ColumnTypeLong}},
		features: [][]byte{feature(nil, value(0, int64(1)), []byte{0})},
	}.bytes()
	for _, mode := range []string{"fail", "skip", "null", "repair"} {
		check(t, with{options: map[string]any{"on_error": mode}}, []fgbCase{
			{"no JSON", one(flat.ColumnTypeJson, "{}", "{"), `v: string mixed: "{}" | "{"` + noGeometry + " | null"},
			{"a stray byte", stray, "v: int64: 1" + noGeometry +
				"\ncrs: none\ndeviations: stray-byte 1\ndeviation: byte 126, row 0, \"\": stray-byte: left out"},
		})
	}
}

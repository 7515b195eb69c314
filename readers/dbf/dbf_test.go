package dbf_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/dbf"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// workers returns the engine with several workers that read parts of a few bytes.
func workers() readertest.Variant {
	return readertest.Variant{Name: "workers", Parser: func(l readers.Layout, size int) readers.Parser {
		return dbf.Sized(l, size, 1+size%4, int64(max(1, size)))
	}}
}

// blocks returns the engine with blocks of a few bytes.
func blocks() readertest.Variant {
	return readertest.Variant{Name: "blocks", Parser: func(l readers.Layout, size int) readers.Parser {
		return dbf.Sized(l, size, 1, 0)
	}}
}

func TestFiles(t *testing.T) { readertest.Run(t, dbf.Format(), workers(), blocks()) }

func FuzzRead(f *testing.F) { readertest.Fuzz(f, dbf.Format(), workers(), blocks()) }

// check reads a table and asks for its columns, or for an error that holds a text. Every size of
// parts and blocks must give the same.
func check(t *testing.T, in readertest.Input, want string) {
	t.Helper()
	if in.Name == "" {
		in.Name = "a.dbf"
	}
	got, err := readertest.Check(t, dbf.Format(), in)
	if text, isError := strings.CutPrefix(want, "error: "); isError {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got error %v, want %s", err, text)
		}
	} else if err != nil {
		t.Errorf("got error %v, want %s", err, want)
	} else if got := readertest.Columns(got); strings.TrimSuffix(got, "crs: none\n") != want && got != want &&
		strings.Replace(got, "crs: none\n", "", 1) != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	sizes := []int{1, 2, 3, 5, 8, 13, 40, 100}
	readertest.Same(t, dbf.Format(), in, sizes, workers(), blocks())
	in.Limits.BatchRows = 2
	readertest.Same(t, dbf.Format(), in, sizes, workers(), blocks())
}

func column(name string, kind byte, length, decimals int, values ...string) table {
	t := table{fields: []field{{name, kind, length, decimals}}}
	for _, v := range values {
		t.records = append(t.records, " "+v+strings.Repeat(" ", length-len(v)))
	}
	return t
}

// right aligns texts to the right.
func right(length int, values ...string) []string {
	for i, v := range values {
		values[i] = strings.Repeat(" ", length-len(v)) + v
	}
	return values
}

func TestNumbers(t *testing.T) {
	for _, tt := range []struct {
		name string
		t    table
		want string
	}{
		{
			"N(9,0)", column("N", 'N', 9, 0, right(9, "1", "-1", "999999999", "-99999999", "0", "", "-0")...),
			"N: int32: 1 | -1 | 999999999 | -99999999 | 0 | null | 0\n",
		},
		{
			"N(8,0)", column("N", 'N', 8, 0, right(8, "12345678", "-1234567", "1", "")...),
			"N: int32: 12345678 | -1234567 | 1 | null\n",
		},
		{"N(1,0)", column("N", 'N', 1, 0, "7", " ", "0"), "N: int32: 7 | null | 0\n"},
		{
			"N(10,0) of small values", column("N", 'N', 10, 0, right(10, "1", "-123456789", "1234567890")...),
			"N: int64: 1 | -123456789 | 1234567890\n",
		},
		{
			"N(16,0), N(17,0)", column("N", 'N', 17, 0, right(17, "1234567890123456", "-123456789012345",
				"12345678901234567", "-1234567890123456", "")...),
			"N: int64: 1234567890123456 | -123456789012345 | 12345678901234567 | -1234567890123456 | null\n",
		},
		{
			"N(18,0)", column("N", 'N', 18, 0, right(18, "999999999999999999", "-99999999999999999")...),
			"N: int64: 999999999999999999 | -99999999999999999\n",
		},
		{
			"B2: N(19,0) with 63 bits", column("N", 'N', 19, 0, right(19, "9223372036854775807",
				"9007199254740993", "-922337203685477580")...),
			"N: int64: 9223372036854775807 | 9007199254740993 | -922337203685477580\n",
		},
		{"N(20,0) at the ends of int64", column("N", 'N', 20, 0, right(20, "-9223372036854775808",
			"9223372036854775807")...), "N: int64: -9223372036854775808 | 9223372036854775807\n"},
		{
			"N8: N(20,0) beyond int64", column("N", 'N', 20, 0, right(20, "1", "9223372036854775808", "",
				"-9223372036854775809", "99999999999999999999")...),
			"N: decimal(38, 0): 1 | 9223372036854775808 | null | -9223372036854775809 | 99999999999999999999\n",
		},
		{
			"N(38,0) and more", column("N", 'N', 40, 0, right(40, strings.Repeat("9", 38),
				"-"+strings.Repeat("9", 38), "7")...),
			"N: decimal(38, 0): " + strings.Repeat("9", 38) + " | -" + strings.Repeat("9", 38) + " | 7\n",
		},
		{
			"39 digits", column("N", 'N', 40, 0, right(40, "1"+strings.Repeat("0", 38), "9007199254740993",
				"7", "1"+strings.Repeat("0", 37)+"1")...),
			"N: float64: 1e+38 | 9.007199254740992e+15 | 7 | 1e+38\nrounded integers: 3\n",
		},
		{
			"decimals, then a fraction", column("N", 'N', 20, 0, right(20, "9223372036854775809",
				"9007199254740993", "", "0.5")...),
			"N: float64: 9.223372036854776e+18 | 9.007199254740992e+15 | null | 0.5\nrounded integers: 2\n",
		},
		{
			"a fraction in N(w,0)", column("N", 'N', 6, 0, right(6, "1", "2.5", "", "-0", "3")...),
			"N: float64: 1 | 2.5 | null | 0 | 3\n",
		},
		{"an exponent in N(w,0)", column("N", 'N', 6, 0, right(6, "1", "1e3")...), "N: float64: 1 | 1000\n"},
		{"left-aligned", column("N", 'N', 9, 0, "1", "-22", "+333", "000444"), "N: int32: 1 | -22 | 333 | 444\n"},
		{
			"N7: zeros in front, a plus", column("N", 'N', 9, 0, right(9, "00012", "+5", "000000000")...),
			"N: int32: 12 | 5 | 0\n",
		},
		{
			"NULs", column("N", 'N', 6, 0, "\x00\x00\x00\x00\x00\x00", "12\x00\x00\x00\x00", "\x00\x00 3\x00 "),
			"N: int32: null | 12 | 3\n",
		},
		{
			"B5: stars and blanks", column("N", 'N', 10, 0, "**********", "", "      ****"),
			"N: int64: null | null | null\n",
		},
		{
			"N with decimals", column("N", 'N', 10, 3, right(10, "1.500", "-0.125", "", "12", "-1234.567",
				"****", "+1.5", ".5", "5.", "1e2", "-.500", "007.250")...),
			"N: float64: 1.5 | -0.125 | null | 12 | -1234.567 | null | 1.5 | 0.5 | 5 | 100 | -0.5 | 7.25\n",
		},
		{"N13: -0.000", column("N", 'N', 8, 3, right(8, "-0.000", "0.000")...), "N: float64: -0 | 0\n"},
		{"only decimals", column("N", 'N', 4, 3, ".125", ".500"), "N: float64: 0.125 | 0.5\n"},
		{
			"F", column("F", 'F', 19, 11, " 3.57310000000e+001", "-1.00000000000e-300", "                  7"),
			"F: float64: 35.731 | -1e-300 | 7\n",
		},
		{"F(5,0)", column("F", 'F', 5, 0, right(5, "12", "1.5")...), "F: float64: 12 | 1.5\n"},
		{
			"N1, N3, B1: digits", column("N", 'N', 24, 15, right(24, "90.812466899317490", "1.7976931348623157e308",
				"4.9e-324", "90.81246689931749")...),
			"N: float64: 90.81246689931749 | 1.7976931348623157e+308 | 5e-324 | 90.81246689931749\n",
		},
		{
			"values that are no number", column("N", 'N', 9, 2, "nan", "-inf", "Infinity", "-1.00"),
			"N: float64: NaN 0x7ff8000000000000 | -Inf | +Inf | -1\n",
		},
		{"all null", column("N", 'N', 9, 2, "", ""), "N: float64: null | null\n"},
		{"all null, N(w,0)", column("N", 'N', 9, 0, "", ""), "N: int32: null | null\n"},
		{"no width", column("N", 'N', 0, 0, "", ""), "N: int32: null | null\n"},
		{
			"N5: N/A", column("N", 'N', 6, 0, "1", "N/A"),
			`error: a.dbf: dbf: byte 73, record 1, N: expected a number, found "N/A"`,
		},
		{
			"B3: #VALUE", column("N", 'N', 6, 2, "1", "#VALUE"),
			`error: byte 73, record 1, N: expected a number, found "#VALUE"`,
		},
		{"B3: a minus", column("N", 'N', 6, 0, right(6, "-")...), `error: record 0, N: expected a number, found "-"`},
		{"B3: a point", column("N", 'N', 6, 2, right(6, ".")...), `error: record 0, N: expected a number, found "."`},
		{
			"B4: 12 34", column("N", 'N', 6, 0, right(6, "12 34")...),
			`error: record 0, N: expected a number, found "12 34"`,
		},
		{
			"B4: 12 34 in the next word", column("N", 'N', 12, 0, right(12, "12 12345678")...),
			`error: expected a number, found "12 12345678"`,
		},
		{"B4: 1,5", column("N", 'N', 6, 2, right(6, "1,5")...), `error: expected a number, found "1,5"`},
		{"N6: 1.2.3", column("N", 'N', 6, 2, right(6, "1.2.3")...), `error: expected a number, found "1.2.3"`},
		{"N6: 1-2", column("N", 'N', 9, 0, right(9, "1-2345678")...), `error: expected a number, found "1-2345678"`},
		{"N6: --1", column("N", 'N', 6, 0, right(6, "--1")...), `error: expected a number, found "--1"`},
		{"N6: 0x10", column("N", 'N', 6, 0, right(6, "0x10")...), `error: expected a number, found "0x10"`},
		{"N6: 1e", column("N", 'N', 6, 2, right(6, "1e")...), `error: expected a number, found "1e"`},
		{"N6: 1_000", column("N", 'N', 6, 0, right(6, "1_000")...), `error: expected a number, found "1_000"`},
		{
			"beyond float64", column("N", 'N', 6, 2, right(6, "1e400")...),
			`error: expected a number that a float64 can hold, found "1e400"`,
		},
		{
			"N11: an exponent of many digits", column("N", 'N', 16, 2, right(16, "1e99999999999")...),
			`error: that a float64 can hold, found "1e99999999999"`,
		},
		{"nan in N(w,0)", column("N", 'N', 6, 0, "1", "nan"), "N: float64: 1 | NaN 0x7ff8000000000000\n"},
		{
			"1.#QNAN in N(w,0)", column("N", 'N', 9, 0, right(9, "123", "1.#QNAN", "")...),
			"N: float64: 123 | NaN 0x7ff8000000000000 | null\n",
		},
		{
			"infinity of Microsoft's C library", column("N", 'N', 9, 2, right(9, "1.#J", "1.#IO", "1.#INF",
				"1.#INF000", "-1.#INF", "1,#INF", "1.#inf")...),
			"N: float64: +Inf | +Inf | +Inf | +Inf | -Inf | +Inf | +Inf\n",
		},
		{
			"NaN of Microsoft's C library", column("N", 'N', 9, 2, right(9, "1.$", "1.#R", "-1.#J",
				"-1.#IND00", "1.#QNAN0", "1.#SNAN", "-1.#IND", "-nan(ind)", "nan(snan)")...),
			"N: float64: " + strings.TrimSuffix(strings.Repeat("NaN 0x7ff8000000000000 | ", 9), " | ") + "\n",
		},
		{"N6: 1.#", column("N", 'N', 6, 2, right(6, "1.#")...), `error: expected a number, found "1.#"`},
		{"N6: 2.#INF", column("N", 'N', 6, 2, right(6, "2.#INF")...), `error: expected a number, found "2.#INF"`},
	} {
		t.Run(tt.name, func(t *testing.T) { check(t, readertest.Input{Text: tt.t.bytes()}, tt.want) })
	}
}

func TestOtherTypes(t *testing.T) {
	for _, tt := range []struct {
		name string
		t    table
		want string
	}{
		{
			"D", column("D", 'D', 8, 0, "20260306", "", "00000000", "********", "19700101", "00010101",
				"99991231", "20240229", "19691231", "\x00\x00\x00\x00\x00\x00\x00\x00"),
			"D: date32: 2026-03-06 | null | null | null | 1970-01-01 | 0001-01-01 | 9999-12-31 | 2024-02-29 | " +
				"1969-12-31 | null\n",
		},
		{"D of another length", column("D", 'D', 10, 0, " 20260306 ", ""), "D: date32: 2026-03-06 | null\n"},
		{
			"B6: 2026-3-6", column("D", 'D', 8, 0, "2026-3-6"),
			`error: byte 66, record 0, D: expected a date as YYYYMMDD, found "2026-3-6"`,
		},
		{
			"B6: month 13", column("D", 'D', 8, 0, "20260306", "20261399"),
			`error: record 1, D: expected a date as YYYYMMDD, found "20261399"`,
		},
		{"30 February", column("D", 'D', 8, 0, "20230229"), `error: found "20230229"`},
		{"day 0", column("D", 'D', 8, 0, "20230200"), `error: found "20230200"`},
		{
			"L", column("L", 'L', 1, 0, "T", "t", "Y", "y", "F", "f", "N", "n", "?", " ", "\x00"),
			"L: bool: true | true | true | true | false | false | false | false | null | null | null\n",
		},
		{"L of two bytes", column("L", 'L', 2, 0, "T ", " F", "  "), "L: bool: true | false | null\n"},
		{
			"B7: X", column("L", 'L', 1, 0, "T", "X"),
			`error: byte 68, record 1, L: expected T, F, Y, N, ? or a blank, found "X"`,
		},
		{
			"B7: true in a long field", column("L", 'L', 4, 0, "true"),
			`error: expected T, F, Y, N, ? or a blank, found "true"`,
		},
		{
			"C", column("C", 'C', 10, 0, "ab", "  x y ", "", "\x00 q", "1234567890", "a\x00b", "tab\t",
				"        ", "a         "),
			"C: string: \"ab\" | \"x y\" | null | \"q\" | \"1234567890\" | \"a\\x00b\" | \"tab\\t\" | null | \"a\"\n",
		},
		{"all null", column("C", 'C', 3, 0, "", ""), "C: string: null | null\n"},
		{"no width", column("C", 'C', 0, 0, "", ""), "C: string: null | null\n"},
		{"an unknown letter", column("Z", 'Z', 3, 0, "abc", ""), "Z: string: \"abc\" | null\n"},
		{
			"I", column("I", 'I', 4, 0, "\x4d\x00\x00\x00", "\xff\xff\xff\xff", "\x00\x00\x00\x80"),
			"I: int32: 77 | -1 | -2147483648\n",
		},
		{"+", column("P", '+', 4, 0, "\x01\x00\x00\x00"), "P: int32: 1\n"},
		{"I of 5 bytes", column("I", 'I', 5, 0, ""), "error: byte 43, I: a field of type I has 5 bytes, expected 4"},
		{"O", column("O", 'O', 8, 0, "\x00\x00\x00\x00\x00\x00\xf8\x3f", "\x00\x00\x00\x00\x00\x00\x00\x80",
			"\x01\x00\x00\x00\x00\x00\xf0\xff"), "O: float64: 1.5 | -0 | NaN 0x7ff8000000000000\n"},
		{
			"T", column("T", 'T', 8, 0, "\x8d\x3d\x25\x00\xe8\x03\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x00",
				"        ", "\x8c\x3d\x25\x00\xff\x5b\x26\x05"),
			"T: timestamp[ms]: 1970-01-02T00:00:01 | null | null | 1970-01-01T23:59:59.999\n",
		},
		{"@", column("A", '@', 8, 0, "\x8c\x3d\x25\x00\x00\x00\x00\x00"), "A: timestamp[ms]: 1970-01-01T00:00:00\n"},
		{
			"T of a day of 24 hours and more", column("T", 'T', 8, 0, "\x8c\x3d\x25\x00\x00\x5c\x26\x05"),
			"error: record 0, T: expected a Julian day from 1721426 to 5373484 and the milliseconds of a day, found " +
				"2440588 and 86400000",
		},
		{
			"Y", column("Y", 'Y', 8, 0, "\x39\x30\x00\x00\x00\x00\x00\x00", "\xff\xff\xff\xff\xff\xff\xff\x7f",
				"\x00\x00\x00\x00\x00\x00\x00\x80"),
			"Y: decimal(19, 4): 1.2345 | 922337203685477.5807 | -922337203685477.5808\n",
		},
		{
			"a letter that is none", column("X", 7, 3, 0, "abc"),
			"error: byte 43, X: a field type is a letter, found the bytes 07",
		},
	} {
		t.Run(tt.name, func(t *testing.T) { check(t, readertest.Input{Text: tt.t.bytes()}, tt.want) })
	}
}

func TestDeleted(t *testing.T) {
	tab := table{fields: []field{{"N", 'N', 2, 0}, {"C", 'C', 1, 0}}, records: []string{
		" 01a", "*02b",
		"\x0003c", "*XXd", " 05e",
	}}
	for _, tt := range []struct {
		name    string
		options map[string]any
		records []string
		want    string
	}{
		{"B10: left out", nil, tab.records, "N: int32: 1 | 3 | 5\nC: string: \"a\" | \"c\" | \"e\"\n"},
		{
			"included, and looked at",
			map[string]any{"include_deleted": true},
			tab.records,
			`error: byte 110, record 3, N: expected a number, found "XX"`,
		},
		{
			"included",
			map[string]any{"include_deleted": true},
			tab.records[:3],
			"N: int32: 1 | 2 | 3\nC: string: \"a\" | \"b\" | \"c\"\n",
		},
		{"all of them", nil, []string{"*01a", "*02b"}, "N: int32: \nC: string: \n"},
		{"no record", nil, []string{}, "N: int32: \nC: string: \n"},
		{
			"a flag that is none", nil,
			[]string{" 01a", "x02b"},
			`error: byte 101, record 1: the deletion flag is "x", expected a blank or *`,
		},
		{
			"skipped, deleted ones are not counted",
			map[string]any{"on_error": "skip", "include_deleted": true},
			append(tab.records, "x06f", "  7g", "?.8x"),
			"N: int32: 1 | 2 | 3 | 5 | 7\nC: string: \"a\" | \"b\" | \"c\" | \"e\" | \"g\"\nskipped: 3 at [109 117 " +
				"125]\n",
		},
		{
			"what is skipped decides no type",
			map[string]any{"on_error": "skip"},
			[]string{" 1.a", " 02b", "x.5c"},
			"N: float64: 1 | 2\nC: string: \"a\" | \"b\"\nskipped: 1 at [105]\n",
		},
		{
			"what is skipped decides no type, either",
			map[string]any{"on_error": "skip"},
			[]string{" 01a", "x.5c", " 03b"},
			"N: int32: 1 | 3\nC: string: \"a\" | \"b\"\nskipped: 1 at [101]\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tab.records = tt.records
			check(t, readertest.Input{Text: tab.bytes(), Options: tt.options}, tt.want)
		})
	}
}

// TestFirstError asks for the error of the lowest offset where several columns and records have
// one.
func TestFirstError(t *testing.T) {
	tab := table{fields: []field{{"A", 'N', 2, 0}, {"B", 'N', 2, 0}}}
	for range 50 {
		tab.records = append(tab.records, " 1 2 ")
	}
	tab.records[40], tab.records[30], tab.records[31] = " x 2 ", " 1 y ", " x y "
	check(t, readertest.Input{Text: tab.bytes()}, `error: byte 250, record 30, B: expected a number, found "y"`)
}

func TestOptionErrors(t *testing.T) {
	_, err := readertest.Parse(t, dbf.Format(), readertest.Input{Name: "a.dbf", Text: column("C", 'C', 2,
		0, "a").bytes(), Options: map[string]any{"encoding": "klingon"}})
	var option *readers.OptionError
	if !errors.As(err, &option) || option.Option != "encoding" {
		t.Errorf("got %v, want an error of the option encoding", err)
	}
}

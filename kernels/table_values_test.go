package kernels_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// csvNumber is a number of a field: no zeros in front of others.
var csvNumber = regexp.MustCompile(`^[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// fieldKindsOf is what TableKinds says of one field, by regexp, math/big and strconv. The field is
// without quotes around it.
func fieldKindsOf(field string, quoted bool) uint32 {
	token := strings.Trim(field, " \t")
	lower := strings.ToLower(token)
	switch {
	case field == "" && quoted:
		return kernels.FieldEmpty
	case field == "":
		return 0
	case slices.Contains([]string{"true", "false"}, strings.ToLower(field)):
		return kernels.FieldBool
	case isDate(field):
		return kernels.FieldDate
	case lower == "nan" || lower == "inf" || lower == "-inf":
		return kernels.NumberReal
	case !csvNumber.MatchString(token):
		return kernels.FieldText
	case strings.ContainsAny(token, ".eE") || token == "-0":
		if v, _ := strconv.ParseFloat(token, 64); math.IsInf(v, 0) {
			return kernels.FieldText
		}
		return kernels.NumberReal
	}
	v, _ := new(big.Int).SetString(token, 10)
	if !v.IsInt64() {
		return kernels.FieldText
	}
	kinds := kernels.NumberInt64
	if int64(int32(v.Int64())) == v.Int64() {
		kinds = kernels.NumberInt32
	}
	if v.Sign() < 0 {
		kinds |= kernels.NumberNegative
	}
	if held, _ := new(big.Float).SetInt64(int64(float64(v.Int64()))).Int(nil); held.Cmp(v) != 0 && v.BitLen() < 64 {
		kinds |= kernels.NumberInexact
	}
	return kinds
}

// csvDate is the shape of a date of a field.
var csvDate = regexp.MustCompile(`^[0-9]{4}(-[0-9]{2}-|/[0-9]{2}/)[0-9]{2}$`)

// isDate asks package time, which has the same calendar, but no slashes.
func isDate(field string) bool {
	_, err := time.Parse(time.DateOnly, strings.ReplaceAll(field, "/", "-"))
	return err == nil && csvDate.MatchString(field)
}

// dateFields are fields around every bound of a date.
func dateFields() []string {
	list := []string{
		"2024-02-29", "2023-02-29", "2000-02-29", "1900-02-29", "0000-02-29", "0000-01-01", "0000-00-00",
		"9999-12-31", "1970-01-01", "1969-12-31", "2024/06/30", "2024/06/31",
		"2024-06/30", "2024/06-30", "2024.06.30", "2024-6-30", "2024-06-3", "2024-06-300", " 2024-06-30",
		"2024-06-30 ", "2024-06-30Z", "2024-06-30T10:00", "+024-06-30", "20240630", "2024-06-3é",
		"2O24-06-30", "2024-O6-30", "2024-06-3\x00", "\"024-06-3", "2024-06-0:", "2024-06-3/", "1:24-06-30",
	}
	for month := range 14 {
		for _, day := range []int{0, 1, 28, 29, 30, 31, 32} {
			list = append(list, fmt.Sprintf("2023-%02d-%02d", month, day), fmt.Sprintf("2024/%02d/%02d", month, day))
		}
	}
	return list
}

// fieldValues are fields around every bound of their rules.
func fieldValues() []string {
	list := []string{
		"", "0", "-0", "+0", "00", "-00", "007", "+007", "-01", "00.5", "0.5", ".5", "-.5", "+.5", "5.",
		"-5.", "5.e3", ".e3", ".", "-", "+", "+-5", "-+5", "--5",
		"1e5", "1E+5", "1e-5", "1e", "1e+", "e5", "1e5.5", "1_0", "0x10", "1,5", "1 5", "5\"", " 5", "5\t",
		" \t5 \t", " ", "\t\t", "  x", "12 Main Street",
		"true", "TRUE", "t", "Y", "yes", "no", "N", "false", "F", " true", "true ", "truer", "on", "off",
		"fals", "tr", "t\x00", "\x00", "\x00t",
		"nan", "NaN", "NAN", "inf", "-inf", "+inf", "-INF", "infinity", "nano", " nan ", "null", "na",
		"n/a", "N/A", "none", "None", `\N`, "#N/A", "-", "#n/b", `\`,
		"1e308", "1e309", "-1e309", "1e400", "1e-400", "1.7976931348623157e308", "1.7976931348623159e308",
		"4.9e-324", "0.1", "123456789.123456789",
		"9007199254740992", "9007199254740993", "-9007199254740993", "1.00000000000000000000000000001",
		"12345678901234567890", "é", "5é", "\xff",
		"0.1234567890123456789012345", "100000000000000000000000", "2147483647.0", "1" + strings.Repeat("0", 400),
		strings.Repeat("0", 30) + "1",
		strings.Repeat("x", 2000), "2024 " + strings.Repeat("x", 2000), strings.Repeat("9", 500) + "x",
		strings.Repeat(" ", 900) + "7",
	}
	for _, power := range []uint{7, 15, 31, 32, 52, 53, 54, 62, 63, 64, 65} {
		v := new(big.Int).Lsh(big.NewInt(1), power)
		for d := int64(-1); d <= 1; d++ {
			w := new(big.Int).Add(v, big.NewInt(d))
			list = append(list, w.String(), "-"+w.String(), "+"+w.String())
		}
	}
	return append(list, dateFields()...)
}

// asTable writes fields as rows of columns, quoted where they must be or where their number is odd,
// and says which are.
func asTable(fields []string, columns int) (text []byte, quoted []bool) {
	for i, f := range fields {
		q := i%2 == 1 || strings.ContainsAny(f, ",\r\n\"") || f == "" && columns == 1
		if quoted = append(quoted, q); q {
			f = `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
		}
		text = append(text, f...)
		if i%columns == columns-1 {
			text = append(text, '\n')
		} else {
			text = append(text, ',')
		}
	}
	return text, quoted
}

// tableOf reads the fields of text, of which nothing is odd.
func tableOf(r *rig, text []byte, columns int) *kernels.Table {
	r.Helper()
	x, err := r.k.AllocTable(r.s, upload(r, text), commas, columns)
	r.ok(err)
	r.Cleanup(func() { r.ok(x.Free(r.s)) })
	if x.Odd != 0 || read(r, x.StillOdd())[0] != 0 {
		r.Fatalf("odd: %d; text %.400q", x.Odd, text)
	}
	return x
}

func TestTableKinds(t *testing.T) {
	r := open(t)
	fields := fieldValues()
	for _, shift := range []int{0, 1} { // quoted or not
		row := append(slices.Clone(fields), "x")[:(len(fields)+shift)/2*2]
		if shift == 1 {
			row = append([]string{"y"}, fields...)
		}
		text, quoted := asTable(row, len(row))
		x := tableOf(r, text, len(row))
		kinds := poisoned[uint32](r, len(row))
		r.ok(r.k.TableKinds(r.s, upload(r, text), x, kinds))
		for i, got := range read(r, kinds) {
			if want := fieldKindsOf(row[i], quoted[i]); got != want {
				t.Errorf("%.100q, quoted %v: got %#x, want %#x", row[i], quoted[i], got, want)
			}
		}
	}
	// All rows of a column together.
	text := []byte("1,a,,x,2024-02-29\n-2,1,,,\n3.5,,\"\",z,\"\"\n")
	kinds := poisoned[uint32](r, 5)
	r.ok(r.k.TableKinds(r.s, upload(r, text), tableOf(r, text, 5), kinds))
	sameItems(r, "kinds", read(r, kinds), []uint32{
		kernels.NumberInt32 | kernels.NumberNegative | kernels.NumberReal, kernels.FieldText | kernels.NumberInt32,
		kernels.FieldEmpty, kernels.FieldText, kernels.FieldDate | kernels.FieldEmpty,
	})
}

// A field of which a host is to say what it is.
func TestTableUnsure(t *testing.T) {
	r := open(t)
	for name, field := range map[string]string{
		"a long number":  strings.Repeat("7", 1100),
		"many blanks":    strings.Repeat(" ", 1100) + "7",
		"many behind":    "7" + strings.Repeat("\t", 1100),
		"a long decimal": "0." + strings.Repeat("7", 1100),
	} {
		kinds := poisoned[uint32](r, 1)
		r.ok(r.k.TableKinds(r.s, upload(r, []byte(field)), tableOf(r, []byte(field), 1), kinds))
		if got := read(r, kinds)[0]; got != kernels.NumberUndecided && name != "a long number" ||
			got&kernels.NumberUndecided == 0 {
			t.Errorf("%s: got %#x, want %#x", name, got, kernels.NumberUndecided)
		}
	}
}

func TestParseTable(t *testing.T) {
	r := open(t)
	const rows, columns = 300, 11 // more than one launch takes
	var fields []string
	for i := range rows * columns {
		v := []string{"", strconv.Itoa(i * 7919), " +" + strconv.Itoa(i), "-" + strconv.Itoa(i+1)}[i%4]
		switch i % columns % 4 {
		case 1:
			v = []string{"", "-9223372036854775808", "9223372036854775807", "+12345678901"}[i%4]
		case 2:
			v = []string{"", "NaN", "-inf", ".5", "-0", "1e-320", "5.", "0.1234567890123456789"}[i%8]
		case 3:
			v = []string{"", "true", "False", "TRUE", "false"}[i%5]
		}
		fields = append(fields, v)
	}
	text, _ := asTable(fields, columns)
	x := tableOf(r, text, columns)
	list := make([]kernels.TableColumn, columns)
	for i := range list {
		c := kernels.TableColumn{Column: columns - 1 - i}
		switch c.Type = kernels.TableType(c.Column % 4); c.Type {
		case kernels.TableInt32:
			c.Int32 = poisoned[int32](r, rows)
		case kernels.TableInt64:
			c.Int64 = poisoned[int64](r, rows)
		case kernels.TableFloat64:
			c.Float64 = poisoned[float64](r, rows)
		default:
			c.Bool = poisoned[uint64](r, kernels.Words(rows))
		}
		list[i] = c
	}
	words := kernels.Words(rows)
	valid, odd := poisoned[uint64](r, words*columns), upload(r, []uint32{0})
	r.ok(r.k.ParseTable(r.s, upload(r, text), x, list, valid, odd))
	if got := read(r, odd)[0]; got != 0 {
		t.Errorf("odd: %#x, want 0", got)
	}
	field := func(row, column int) string { return strings.TrimSpace(fields[row*columns+column]) }
	for i, c := range list {
		name := fmt.Sprintf("column %d", c.Column)
		sameItems(r, name+": valid", read(r, valid.Slice(i*words, (i+1)*words)), bitmap(rows, func(row int) bool {
			return field(row, c.Column) != ""
		}))
		switch c.Type {
		case kernels.TableInt32:
			sameItems(r, name, read(r, c.Int32), mapRows(rows, func(row int) int32 {
				v, _ := strconv.ParseInt(field(row, c.Column), 10, 32)
				return int32(v)
			}))
		case kernels.TableInt64:
			sameItems(r, name, read(r, c.Int64), mapRows(rows, func(row int) int64 {
				v, _ := strconv.ParseInt(field(row, c.Column), 10, 64)
				return v
			}))
		case kernels.TableFloat64:
			got := mapRows(rows, func(row int) uint64 { return math.Float64bits(read(r, c.Float64)[row]) })
			sameItems(r, name, got, mapRows(rows, func(row int) uint64 { return floatBits(field(row, c.Column)) }))
		default:
			sameItems(r, name, read(r, c.Bool), bitmap(rows, func(row int) bool {
				return strings.ContainsAny(field(row, c.Column), "tTyY")
			}))
		}
	}
	// A number that lies next to the middle of two.
	text = []byte("1.00000000000000011102230246251565404\n")
	one := []kernels.TableColumn{{Type: kernels.TableFloat64, Float64: poisoned[float64](r, 1)}}
	r.ok(r.k.ParseTable(r.s, upload(r, text), tableOf(r, text, 1), one, poisoned[uint64](r, 1), odd))
	if got := read(r, odd)[0]; got != kernels.NumberUndecided {
		t.Errorf("odd: %#x, want %#x", got, kernels.NumberUndecided)
	}
}

// floatBits is the value of a field that is a number, or nothing. There is one NaN.
func floatBits(token string) uint64 {
	v, _ := strconv.ParseFloat(token, 64)
	if math.IsNaN(v) {
		return 0x7ff8000000000000
	}
	return math.Float64bits(v)
}

// mapRows is f of each row.
func mapRows[T any](rows int, f func(row int) T) []T {
	out := make([]T, rows)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

func TestTablePoints(t *testing.T) {
	r := open(t)
	values := []string{
		"1.5", "", "007", "-0", "NULL", "nan", "N/A", "na", "None", `\N`, "#n/A", " - ",
		" +7. ", "1e-400", "123456789012345678901234567890", ".25",
	}
	var fields []string
	for _, x := range values {
		for _, y := range values {
			fields = append(fields, y, "x", x)
		}
	}
	text, _ := asTable(fields, 3)
	x := tableOf(r, text, 3)
	outX, outY, valid, odd := poisoned[float64](r, x.Rows), poisoned[float64](r, x.Rows),
		poisoned[uint64](r, kernels.Words(x.Rows)), upload(r, []uint32{0})
	r.ok(r.k.TablePoints(r.s, upload(r, text), x, 2, 0, outX, outY, valid, odd))
	ordinate := func(i int) (uint64, bool) {
		v, err := strconv.ParseFloat(strings.TrimSpace(fields[i]), 64)
		return math.Float64bits(v), err == nil && v == v
	}
	has := func(row int) bool {
		_, okX := ordinate(3*row + 2)
		_, okY := ordinate(3 * row)
		return okX && okY
	}
	sameItems(r, "valid", read(r, valid), bitmap(x.Rows, has))
	for name, c := range map[string]struct {
		got []float64
		at  int
	}{"x": {read(r, outX), 2}, "y": {read(r, outY), 0}} {
		for row, v := range c.got {
			want, _ := ordinate(3*row + c.at)
			if !has(row) {
				want = 0
			}
			if math.Float64bits(v) != want {
				t.Errorf("%s of %q: got %v, want %v", name, fields[3*row:3*row+3], v, math.Float64frombits(want))
			}
		}
	}
	if got := read(r, odd)[0]; got != 0 {
		t.Errorf("odd: %#x, want 0", got)
	}
	for _, c := range []struct {
		field string
		want  uint32
	}{
		{"x", kernels.FieldWrong},
		{"inf", kernels.FieldWrong},
		{"1e999", kernels.FieldWrong},
		{"1\x00", kernels.FieldWrong},
		{"\x00", kernels.FieldWrong},
		{"--1", kernels.FieldWrong},
		{strings.Repeat("7", 1100), kernels.NumberUndecided},
		{strings.Repeat(" ", 1100) + "7", kernels.NumberUndecided},
	} {
		text := []byte("1," + c.field + "\n")
		odd := upload(r, []uint32{0})
		r.ok(r.k.TablePoints(r.s, upload(r, text), tableOf(r, text, 2), 0, 1, poisoned[float64](r, 1),
			poisoned[float64](r, 1), poisoned[uint64](r, 1), odd))
		if got := read(r, odd)[0]; got != c.want {
			t.Errorf("%.50q: odd %#x, want %#x", c.field, got, c.want)
		}
	}
}

func TestTableDates(t *testing.T) {
	r := open(t)
	const columns = 10 // more than one launch takes
	var fields []string
	for i := range 400 * columns {
		switch v := dateFields()[i%len(dateFields())]; {
		case i%columns == 3 || !isDate(v): // a column without a value
			fields = append(fields, "")
		default:
			fields = append(fields, v)
		}
	}
	text, _ := asTable(fields, columns)
	text = append(text[:bytes.LastIndexByte(text, ',')+1], "2024-12-31"...) // the text ends with a date
	fields[len(fields)-1] = "2024-12-31"
	x := tableOf(r, text, columns)
	list := []int{9, 0, 1, 2, 3, 8, 7, 5, 4}
	rows, words := x.Rows, kernels.Words(x.Rows)
	days, valid := poisoned[int32](r, rows*len(list)), poisoned[uint64](r, words*len(list))
	first, last := poisoned[int32](r, len(list)), poisoned[int32](r, len(list))
	r.ok(r.k.TableDates(r.s, upload(r, text), x, list, days, valid, first, last))
	for i, column := range list {
		name := fmt.Sprintf("column %d", column)
		field := func(row int) string { return fields[row*columns+column] }
		sameItems(r, name+": valid", read(r, valid.Slice(i*words, (i+1)*words)), bitmap(rows, func(row int) bool {
			return field(row) != ""
		}))
		low, high := int32(math.MaxInt32), int32(math.MinInt32)
		want := mapRows(rows, func(row int) int32 {
			at, err := time.Parse(time.DateOnly, strings.ReplaceAll(field(row), "/", "-"))
			if err != nil {
				return 0
			}
			day := int32(at.Unix() / 86400)
			low, high = min(low, day), max(high, day)
			return day
		})
		sameItems(r, name, read(r, days.Slice(i*rows, (i+1)*rows)), want)
		if l, h := read(r, first)[i], read(r, last)[i]; low <= high && (l != low || h != high) || low > high && l <= h {
			t.Errorf("%s: from day %d to %d, want %d to %d", name, l, h, low, high)
		}
	}
}

func TestTableTexts(t *testing.T) {
	r := open(t)
	const rows, columns = 130, 10
	var fields []string
	for i := range rows * columns {
		fields = append(fields, []string{"", "a", "b\"c", "\n", "long " + strings.Repeat("x", i%90)}[i%5])
	}
	text, quoted := asTable(fields, columns)
	x := tableOf(r, text, columns)
	list := []int{9, 0, 1, 2, 3, 8, 7, 5, 4}
	textDev, words := upload(r, text), kernels.Words(rows)
	starts, ends, valid := poisoned[int64](r, rows*len(list)), poisoned[int64](r, rows*len(list)),
		poisoned[uint64](r, words*len(list))
	r.ok(r.k.TableTexts(r.s, textDev, x, list, starts, ends, valid))
	offsets, narrow := poisoned[int64](r, rows*len(list)+1), poisoned[int32](r, (rows+1)*len(list))
	s, err := r.k.MeasureStrings(r.s, textDev, starts, ends, kernels.StringsDoubled, offsets)
	r.ok(err)
	defer func() { r.ok(s.Free(r.s)) }()
	out := poisoned[byte](r, len(text))
	r.ok(r.k.GatherStrings(r.s, s, out, gpu.Buffer[int32]{}))
	r.ok(r.k.TableOffsets(r.s, offsets, rows, narrow))
	all, each := read(r, offsets), read(r, narrow)
	for i, column := range list {
		own := each[i*(rows+1) : (i+1)*(rows+1)]
		values := read(r, out)[all[i*rows]:all[(i+1)*rows]]
		for row := range rows {
			if got, want := string(values[own[row]:own[row+1]]), fields[row*columns+column]; got != want {
				t.Fatalf("row %d of column %d: got %q, want %q", row, column, got, want)
			}
		}
		sameItems(r, "valid", read(r, valid.Slice(i*words, (i+1)*words)), bitmap(rows, func(row int) bool {
			return quoted[row*columns+column] || fields[row*columns+column] != ""
		}))
	}
}

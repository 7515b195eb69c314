package table_test

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
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
	ktable "github.com/vibeflight/vibeflight/kernels/table"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
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
		return ktable.FieldEmpty
	case field == "":
		return 0
	case slices.Contains([]string{"true", "false"}, strings.ToLower(field)):
		return ktable.FieldBool
	case isDate(field):
		return ktable.FieldDate
	case lower == "nan" || lower == "inf" || lower == "-inf":
		return knumber.NumberReal
	case !csvNumber.MatchString(token):
		return ktable.FieldText
	case strings.ContainsAny(token, ".eE") || token == "-0":
		if v, _ := strconv.ParseFloat(token, 64); math.IsInf(v, 0) {
			return ktable.FieldText
		}
		return knumber.NumberReal
	}
	v, _ := new(big.Int).SetString(token, 10)
	if !v.IsInt64() {
		return ktable.FieldText
	}
	kinds := knumber.NumberInt64
	if int64(int32(v.Int64())) == v.Int64() {
		kinds = knumber.NumberInt32
	}
	if v.Sign() < 0 {
		kinds |= knumber.NumberNegative
	}
	if held, _ := new(big.Float).SetInt64(int64(float64(v.Int64()))).Int(nil); held.Cmp(v) != 0 && v.BitLen() < 64 {
		kinds |= knumber.NumberInexact
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
func tableOf(r *kerneltest.Rig, text []byte, columns int) *ktable.Table {
	r.Helper()
	x, err := ktable.AllocTable(r.Set, r.Stream, kerneltest.Upload(r, text), commas, columns)
	r.OK(err)
	r.Cleanup(func() { r.OK(x.Free(r.Stream)) })
	if x.Odd != 0 || kerneltest.Read(r, x.StillOdd())[0] != 0 {
		r.Fatalf("odd: %d; text %.400q", x.Odd, text)
	}
	return x
}

func TestTableKinds(t *testing.T) {
	r := kerneltest.Open(t)
	fields := fieldValues()
	for _, shift := range []int{0, 1} { // quoted or not
		row := append(slices.Clone(fields), "x")[:(len(fields)+shift)/2*2]
		if shift == 1 {
			row = append([]string{"y"}, fields...)
		}
		text, quoted := asTable(row, len(row))
		x := tableOf(r, text, len(row))
		kinds := kerneltest.Poisoned[uint32](r, len(row))
		r.OK(ktable.TableKinds(r.Set, r.Stream, kerneltest.Upload(r, text), x, kinds))
		for i, got := range kerneltest.Read(r, kinds) {
			if want := fieldKindsOf(row[i], quoted[i]); got != want {
				t.Errorf("%.100q, quoted %v: got %#x, want %#x", row[i], quoted[i], got, want)
			}
		}
	}
	// All rows of a column together.
	text := []byte("1,a,,x,2024-02-29\n-2,1,,,\n3.5,,\"\",z,\"\"\n")
	kinds := kerneltest.Poisoned[uint32](r, 5)
	r.OK(ktable.TableKinds(r.Set, r.Stream, kerneltest.Upload(r, text), tableOf(r, text, 5), kinds))
	kerneltest.SameItems(r, "kinds", kerneltest.Read(r, kinds), []uint32{
		knumber.NumberInt32 | knumber.NumberNegative | knumber.NumberReal, ktable.FieldText | knumber.NumberInt32,
		ktable.FieldEmpty, ktable.FieldText, ktable.FieldDate | ktable.FieldEmpty,
	})
}

// A field of which a host is to say what it is.
func TestTableUnsure(t *testing.T) {
	r := kerneltest.Open(t)
	for name, field := range map[string]string{
		"a long number":  strings.Repeat("7", 1100),
		"many blanks":    strings.Repeat(" ", 1100) + "7",
		"many behind":    "7" + strings.Repeat("\t", 1100),
		"a long decimal": "0." + strings.Repeat("7", 1100),
	} {
		kinds := kerneltest.Poisoned[uint32](r, 1)
		r.OK(ktable.TableKinds(r.Set, r.Stream, kerneltest.Upload(r, []byte(field)),
			tableOf(r, []byte(field), 1), kinds))
		if got := kerneltest.Read(r, kinds)[0]; got != knumber.NumberUndecided && name != "a long number" ||
			got&knumber.NumberUndecided == 0 {
			t.Errorf("%s: got %#x, want %#x", name, got, knumber.NumberUndecided)
		}
	}
}

func TestParseTable(t *testing.T) {
	r := kerneltest.Open(t)
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
	list := make([]ktable.TableColumn, columns)
	for i := range list {
		c := ktable.TableColumn{Column: columns - 1 - i}
		switch c.Type = ktable.TableType(c.Column % 4); c.Type {
		case ktable.TableInt32:
			c.Int32 = kerneltest.Poisoned[int32](r, rows)
		case ktable.TableInt64:
			c.Int64 = kerneltest.Poisoned[int64](r, rows)
		case ktable.TableFloat64:
			c.Float64 = kerneltest.Poisoned[float64](r, rows)
		default:
			c.Bool = kerneltest.Poisoned[uint64](r, kernels.Words(rows))
		}
		list[i] = c
	}
	words := kernels.Words(rows)
	valid, odd := kerneltest.Poisoned[uint64](r, words*columns), kerneltest.Upload(r, []uint32{0})
	r.OK(ktable.ParseTable(r.Set, r.Stream, kerneltest.Upload(r, text), x, list, valid, odd))
	if got := kerneltest.Read(r, odd)[0]; got != 0 {
		t.Errorf("odd: %#x, want 0", got)
	}
	field := func(row, column int) string { return strings.TrimSpace(fields[row*columns+column]) }
	for i, c := range list {
		name := fmt.Sprintf("column %d", c.Column)
		kerneltest.SameItems(r, name+": valid", kerneltest.Read(r, valid.Slice(i*words, (i+1)*words)),
			kerneltest.Bitmap(rows, func(row int) bool {
				return field(row, c.Column) != ""
			}))
		switch c.Type {
		case ktable.TableInt32:
			kerneltest.SameItems(r, name, kerneltest.Read(r, c.Int32), mapRows(rows, func(row int) int32 {
				v, _ := strconv.ParseInt(field(row, c.Column), 10, 32)
				return int32(v)
			}))
		case ktable.TableInt64:
			kerneltest.SameItems(r, name, kerneltest.Read(r, c.Int64), mapRows(rows, func(row int) int64 {
				v, _ := strconv.ParseInt(field(row, c.Column), 10, 64)
				return v
			}))
		case ktable.TableFloat64:
			got := mapRows(rows, func(row int) uint64 { return math.Float64bits(kerneltest.Read(r, c.Float64)[row]) })
			kerneltest.SameItems(r, name, got, mapRows(rows, func(row int) uint64 {
				return floatBits(field(row, c.Column))
			}))
		default:
			kerneltest.SameItems(r, name, kerneltest.Read(r, c.Bool), kerneltest.Bitmap(rows, func(row int) bool {
				return strings.ContainsAny(field(row, c.Column), "tTyY")
			}))
		}
	}
	// A number that lies next to the middle of two.
	text = []byte("1.00000000000000011102230246251565404\n")
	one := []ktable.TableColumn{{Type: ktable.TableFloat64, Float64: kerneltest.Poisoned[float64](r, 1)}}
	r.OK(ktable.ParseTable(r.Set, r.Stream, kerneltest.Upload(r, text), tableOf(r, text, 1), one,
		kerneltest.Poisoned[uint64](r, 1), odd))
	if got := kerneltest.Read(r, odd)[0]; got != knumber.NumberUndecided {
		t.Errorf("odd: %#x, want %#x", got, knumber.NumberUndecided)
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
	r := kerneltest.Open(t)
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
	outX, outY, valid, odd := kerneltest.Poisoned[float64](r, x.Rows), kerneltest.Poisoned[float64](r, x.Rows),
		kerneltest.Poisoned[uint64](r, kernels.Words(x.Rows)), kerneltest.Upload(r, []uint32{0})
	r.OK(ktable.TablePoints(r.Set, r.Stream, kerneltest.Upload(r, text), x, 2, 0, outX, outY, valid, odd))
	ordinate := func(i int) (uint64, bool) {
		v, err := strconv.ParseFloat(strings.TrimSpace(fields[i]), 64)
		return math.Float64bits(v), err == nil && v == v
	}
	has := func(row int) bool {
		_, okX := ordinate(3*row + 2)
		_, okY := ordinate(3 * row)
		return okX && okY
	}
	kerneltest.SameItems(r, "valid", kerneltest.Read(r, valid), kerneltest.Bitmap(x.Rows, has))
	for name, c := range map[string]struct {
		got []float64
		at  int
	}{"x": {kerneltest.Read(r, outX), 2}, "y": {kerneltest.Read(r, outY), 0}} {
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
	if got := kerneltest.Read(r, odd)[0]; got != 0 {
		t.Errorf("odd: %#x, want 0", got)
	}
	for _, c := range []struct {
		field string
		want  uint32
	}{
		{"x", ktable.FieldWrong},
		{"inf", ktable.FieldWrong},
		{"1e999", ktable.FieldWrong},
		{"1\x00", ktable.FieldWrong},
		{"\x00", ktable.FieldWrong},
		{"--1", ktable.FieldWrong},
		{strings.Repeat("7", 1100), knumber.NumberUndecided},
		{strings.Repeat(" ", 1100) + "7", knumber.NumberUndecided},
	} {
		text := []byte("1," + c.field + "\n")
		odd := kerneltest.Upload(r, []uint32{0})
		r.OK(ktable.TablePoints(r.Set, r.Stream, kerneltest.Upload(r, text), tableOf(r, text, 2), 0, 1,
			kerneltest.Poisoned[float64](r, 1),
			kerneltest.Poisoned[float64](r, 1), kerneltest.Poisoned[uint64](r, 1), odd))
		if got := kerneltest.Read(r, odd)[0]; got != c.want {
			t.Errorf("%.50q: odd %#x, want %#x", c.field, got, c.want)
		}
	}
}

func TestTableDates(t *testing.T) {
	r := kerneltest.Open(t)
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
	days, valid := kerneltest.Poisoned[int32](r, rows*len(list)), kerneltest.Poisoned[uint64](r, words*len(list))
	first, last := kerneltest.Poisoned[int32](r, len(list)), kerneltest.Poisoned[int32](r, len(list))
	r.OK(ktable.TableDates(r.Set, r.Stream, kerneltest.Upload(r, text), x, list, days, valid, first, last))
	for i, column := range list {
		name := fmt.Sprintf("column %d", column)
		field := func(row int) string { return fields[row*columns+column] }
		kerneltest.SameItems(r, name+": valid", kerneltest.Read(r, valid.Slice(i*words, (i+1)*words)),
			kerneltest.Bitmap(rows, func(row int) bool {
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
		kerneltest.SameItems(r, name, kerneltest.Read(r, days.Slice(i*rows, (i+1)*rows)), want)
		if l, h := kerneltest.Read(r, first)[i], kerneltest.Read(r, last)[i]; low <= high &&
			(l != low || h != high) || low > high && l <= h {
			t.Errorf("%s: from day %d to %d, want %d to %d", name, l, h, low, high)
		}
	}
}

func TestTableTexts(t *testing.T) {
	r := kerneltest.Open(t)
	const rows, columns = 130, 10
	var fields []string
	for i := range rows * columns {
		fields = append(fields, []string{"", "a", "b\"c", "\n", "long " + strings.Repeat("x", i%90)}[i%5])
	}
	text, quoted := asTable(fields, columns)
	x := tableOf(r, text, columns)
	list := []int{9, 0, 1, 2, 3, 8, 7, 5, 4}
	textDev, words := kerneltest.Upload(r, text), kernels.Words(rows)
	starts, ends, valid := kerneltest.Poisoned[int64](r, rows*len(list)), kerneltest.Poisoned[int64](r, rows*len(list)),
		kerneltest.Poisoned[uint64](r, words*len(list))
	r.OK(ktable.TableTexts(r.Set, r.Stream, textDev, x, list, starts, ends, valid))
	offsets, narrow := kerneltest.Poisoned[int64](r, rows*len(list)+1), kerneltest.Poisoned[int32](r,
		(rows+1)*len(list))
	s, err := ktext.MeasureStrings(r.Set, r.Stream, textDev, starts, ends, ktext.StringsDoubled, offsets)
	r.OK(err)
	defer func() { r.OK(s.Free(r.Stream)) }()
	out := kerneltest.Poisoned[byte](r, len(text))
	r.OK(ktext.GatherStrings(r.Set, r.Stream, s, out, gpu.Buffer[int32]{}))
	r.OK(ktable.TableOffsets(r.Set, r.Stream, offsets, rows, narrow))
	all, each := kerneltest.Read(r, offsets), kerneltest.Read(r, narrow)
	for i, column := range list {
		own := each[i*(rows+1) : (i+1)*(rows+1)]
		values := kerneltest.Read(r, out)[all[i*rows]:all[(i+1)*rows]]
		for row := range rows {
			if got, want := string(values[own[row]:own[row+1]]), fields[row*columns+column]; got != want {
				t.Fatalf("row %d of column %d: got %q, want %q", row, column, got, want)
			}
		}
		kerneltest.SameItems(r, "valid", kerneltest.Read(r, valid.Slice(i*words, (i+1)*words)),
			kerneltest.Bitmap(rows, func(row int) bool {
				return quoted[row*columns+column] || fields[row*columns+column] != ""
			}))
	}
}

package dbf_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers/dbf"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// slow returns the other reader of these tests: it reads a value of a field as text, with the
// standard library, and gives it as readertest writes it, or false for one that is malformed.
// Integers of N(w,0) are given with all digits.
func slow(f field, value string) (string, bool) {
	text := strings.Trim(value, " \x00")
	if f.kind == 'C' {
		if text == "" {
			return "null", true
		}
		return strconv.Quote(text), true
	}
	if f.kind == 'L' {
		switch {
		case text == "" || text == "?":
			return "null", true
		case strings.Contains("TtYy", text):
			return "true", true
		case strings.Contains("FfNn", text):
			return "false", true
		}
		return "", false
	}
	if strings.Trim(text, "*") == "" || f.kind == 'D' && text == "00000000" {
		return "null", true
	}
	if f.kind == 'D' {
		day, err := time.Parse("20060102", text)
		return day.Format(time.DateOnly), err == nil && len(text) == 8
	}
	if strings.ContainsAny(text, "_xXpPiIaA") {
		return "", false
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", false
	}
	if f.kind == 'N' && f.decimals == 0 {
		if n, ok := new(big.Int).SetString(text, 10); ok {
			return n.String(), true
		}
		return "~" + strconv.FormatFloat(v, 'g', -1, 64), true // ~ is what makes the column float64
	}
	return strconv.FormatFloat(v, 'g', -1, 64), true
}

// typeOf returns the type of a column of values that slow gave, and rewrites integers that become
// floats, of which it counts those that are rounded.
func typeOf(f field, values []string) (name string, rounded int) {
	switch {
	case f.kind == 'C':
		return "string", 0
	case f.kind == 'L':
		return "bool", 0
	case f.kind == 'D':
		return "date32", 0
	case f.kind == 'F' || f.decimals > 0:
		return "float64", 0
	}
	name = "int64"
	if f.length < 10 {
		name = "int32"
	}
	wide, float := false, false
	for _, v := range values {
		n, ok := new(big.Int).SetString(v, 10)
		digits := strings.TrimLeft(v, "-")
		switch {
		case v == "null":
		case !ok || len(digits) > 38: // what has a ~ is no integer
			float = true
		case !n.IsInt64():
			wide = true
		}
	}
	if !float {
		if wide {
			name = "decimal(38, 0)"
		}
		return name, 0
	}
	for i, v := range values {
		values[i] = strings.TrimPrefix(v, "~")
		if n, ok := new(big.Int).SetString(v, 10); ok {
			float, exact := new(big.Float).SetInt(n).Float64()
			if exact != big.Exact {
				rounded++
			}
			values[i] = strconv.FormatFloat(float, 'g', -1, 64)
		}
	}
	return "float64", rounded
}

// randomValue returns a value of a field, most often one as other programs write it.
func randomValue(r *rand.Rand, f field) string {
	var text string
	switch digits := r.IntN(f.length + 1); {
	case r.IntN(12) == 0:
		text = ""
	case f.kind == 'C':
		text = strings.Repeat("ab c ", 60)[r.IntN(5):][:digits]
	case f.kind == 'L':
		text = string("TFyn?X "[r.IntN(40)%7])
	case f.kind == 'D':
		text = time.Unix(r.Int64N(4e9)-2e9, 0).UTC().Format("20060102")
		if r.IntN(40) == 0 {
			text = strconv.Itoa(19000000 + r.IntN(2000000))
		}
	case r.IntN(60) == 0:
		text = []string{
			"*", "1e5", ".", "-", "1.5", "+7", "007", ".5", "-0", "1 2", "1,5", "x", "5.",
			"-.0",
		}[r.IntN(14)]
	default:
		for range digits {
			text += string(rune('0' + r.IntN(10)))
		}
		if r.IntN(4) == 0 && text != "" {
			text = "-" + text[1:]
		}
		if at := len(text) - f.decimals - 1; f.decimals > 0 && at >= 0 {
			text = text[:at] + "." + text[at+1:]
		}
	}
	text = text[:min(len(text), f.length)]
	blanks := strings.Repeat(" ", f.length-len(text))
	if f.kind == 'C' || r.IntN(20) == 0 {
		return text + blanks
	}
	return blanks + text
}

// TestOracle reads random tables and compares with the other reader.
func TestOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 150
	if testing.Short() {
		rounds = 50
	}
	for round := range rounds {
		var tab table
		for range 1 + r.IntN(4) {
			f := field{fmt.Sprint("F", len(tab.fields)), "CNNNFDL"[r.IntN(7)], 1 + r.IntN(45), 0}
			switch {
			case f.kind == 'D':
				f.length = 8
			case f.kind == 'L':
				f.length = 1
			case f.kind == 'F', f.kind == 'N' && r.IntN(2) == 0:
				f.decimals = r.IntN(min(f.length, 18))
			}
			tab.fields = append(tab.fields, f)
		}
		want := make([][]string, len(tab.fields))
		var skipped []int64
		for i := range r.IntN(60) {
			record, good, values := " ", true, []string{}
			if r.IntN(10) == 0 {
				record = "*"
			}
			for _, f := range tab.fields {
				raw := randomValue(r, f)
				v, ok := slow(f, raw)
				good = good && ok
				values = append(values, v)
				record += raw
			}
			tab.records = append(tab.records, record)
			switch {
			case record[0] == '*':
			case !good:
				skipped = append(skipped, int64(32+32*len(tab.fields)+1+i*len(record)))
			default:
				for k, v := range values {
					want[k] = append(want[k], v)
				}
			}
		}
		var text strings.Builder
		all := 0
		for k, f := range tab.fields {
			name, rounded := typeOf(f, want[k])
			all += rounded
			fmt.Fprintf(&text, "%s: %s: %s\n", f.name, name, strings.Join(want[k], " | "))
		}
		text.WriteString("crs: none\n")
		if all > 0 {
			fmt.Fprintf(&text, "rounded integers: %d\n", all)
		}
		if len(skipped) > 0 {
			fmt.Fprintf(&text, "skipped: %d at %d\n", len(skipped), skipped)
		}
		in := readertest.Input{Name: "a.dbf", Text: tab.bytes(), Options: map[string]any{"on_error": "skip"}}
		got, err := readertest.Check(t, dbf.Format(), in)
		if err != nil {
			t.Fatal(err)
		}
		if got := readertest.Columns(got); got != text.String() {
			t.Fatalf("round %d, fields %v\n%q\ngot:\n%s\nwant:\n%s", round, tab.fields, tab.records, got, text.String())
		}
		sizes := []int{1 + r.IntN(200), 1 + r.IntN(2000)}
		readertest.Same(t, dbf.Format(), in, sizes, workers(), blocks())
		in.Limits.BatchRows = 1 + r.IntN(5)
		readertest.Same(t, dbf.Format(), in, sizes, workers(), blocks())
	}
}

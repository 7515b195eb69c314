package csv_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// field is what the oracle reads.
type field struct {
	text   string
	quoted bool
}

// split reads records a byte at a time, the plain way. It knows well-formed text only.
func split(text string, delimiter byte) (records [][]field) {
	var record []field
	for i := 0; i < len(text); {
		if len(record) == 0 && (text[i] == '\n' || text[i] == '\r') {
			i++
			continue
		}
		var f field
		if text[i] == '"' {
			f.quoted = true
			for i++; text[i] != '"' || i+1 < len(text) && text[i+1] == '"'; i++ {
				if text[i] == '"' {
					i++
				}
				f.text += text[i : i+1]
			}
			i++
		} else {
			for ; i < len(text) && text[i] != delimiter && text[i] != '\n' && text[i] != '\r'; i++ {
				f.text += text[i : i+1]
			}
		}
		record = append(record, f)
		if i < len(text) && text[i] == delimiter {
			i++
			if i < len(text) && text[i] != '\n' && text[i] != '\r' {
				continue
			}
			record = append(record, field{})
		}
		records = append(records, record)
		record = nil
	}
	return records
}

// Words of docs/formats/csv.md as regular expressions.
var (
	integer  = regexp.MustCompile(`^[ \t]*[+-]?(0|[1-9][0-9]*)[ \t]*$`)
	float    = regexp.MustCompile(`^[ \t]*([+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[nN][aA][nN]|-?[iI][nN][fF])[ \t]*$`)
	truth    = regexp.MustCompile(`^(?i)true$`)
	lie      = regexp.MustCompile(`^(?i)false$`)
	dateText = regexp.MustCompile(`^[0-9]{4}([-/])[0-9]{2}[-/][0-9]{2}$`)
)

// kindOf returns the kind of one value: "int", "float", "bool", "date" or "text".
func kindOf(s string) string {
	trimmed := strings.Trim(s, " \t")
	switch {
	case integer.MatchString(s):
		if _, err := strconv.ParseInt(trimmed, 10, 64); err != nil {
			return "text"
		}
		if trimmed == "-0" {
			return "float"
		}
		return "int"
	case float.MatchString(s):
		if v, err := strconv.ParseFloat(trimmed, 64); err != nil && math.IsInf(v, 0) {
			return "text"
		}
		return "float"
	case truth.MatchString(s), lie.MatchString(s):
		return "bool"
	case dateText.MatchString(s) && s[4] == s[7]:
		if _, err := time.Parse("2006-01-02", strings.ReplaceAll(s, "/", "-")); err == nil {
			return "date"
		}
	}
	return "text"
}

// typeOf returns the type of a column.
func typeOf(values []field) arrow.DataType {
	kinds := map[string]bool{}
	wide := false
	for _, f := range values {
		if f.text == "" {
			continue
		}
		k := kindOf(f.text)
		kinds[k] = true
		if k == "int" {
			v, _ := strconv.ParseInt(strings.Trim(f.text, " \t"), 10, 64)
			wide = wide || v != int64(int32(v))
		}
	}
	switch {
	case len(kinds) == 2 && kinds["int"] && kinds["float"], len(kinds) == 1 && kinds["float"]:
		return arrow.PrimitiveTypes.Float64
	case len(kinds) != 1 || kinds["text"]:
		return arrow.BinaryTypes.String
	case kinds["bool"]:
		return arrow.FixedWidthTypes.Boolean
	case kinds["date"]:
		return arrow.FixedWidthTypes.Date32
	case wide:
		return arrow.PrimitiveTypes.Int64
	}
	return arrow.PrimitiveTypes.Int32
}

// value returns a field as a value of a type, in words.
func value(f field, t arrow.DataType) string {
	switch trimmed := strings.Trim(f.text, " \t"); {
	case f.text == "" && (!f.quoted || t.ID() != arrow.STRING):
		return "null"
	case t.ID() == arrow.STRING:
		return strconv.Quote(f.text)
	case t.ID() == arrow.BOOL:
		return strconv.FormatBool(truth.MatchString(f.text))
	case t.ID() == arrow.DATE32:
		d, _ := time.Parse("2006-01-02", strings.ReplaceAll(f.text, "/", "-"))
		return strconv.FormatInt(d.Unix()/86400, 10)
	case t.ID() == arrow.FLOAT64:
		v, _ := strconv.ParseFloat(trimmed, 64)
		if v != v {
			return "7ff8000000000000"
		}
		return strconv.FormatUint(math.Float64bits(v), 16)
	default:
		v, _ := strconv.ParseInt(trimmed, 10, 64)
		return strconv.FormatInt(v, 10)
	}
}

// got returns row i of a column in the same words.
func got(c *geoarrow.Column, i int) string {
	if c.Nulls > 0 && c.Valid[i>>3]>>(i&7)&1 == 0 {
		return "null"
	}
	switch c.Type.ID() {
	case arrow.STRING:
		return strconv.Quote(string(c.Values[c.Offsets[i]:c.Offsets[i+1]]))
	case arrow.BOOL:
		return strconv.FormatBool(c.Values[i>>3]>>(i&7)&1 == 1)
	case arrow.FLOAT64:
		return strconv.FormatUint(math.Float64bits(geoarrow.View[float64](c.Values)[i]), 16)
	case arrow.INT64:
		return strconv.FormatInt(geoarrow.View[int64](c.Values)[i], 10)
	}
	return strconv.FormatInt(int64(geoarrow.View[int32](c.Values)[i]), 10)
}

// document is random well-formed text.
type document struct {
	*rand.Rand
	delimiter byte
	text      bytes.Buffer
}

var words = [][]string{
	{"", "1", "-2", "+3", "0", "2147483647", "-2147483648"},
	{"2147483648", "-9223372036854775808", "9223372036854775807", " 5", "6\t", "-0"},
	{
		"1.5", ".5", "5.", "1e3", "-0.0", "1e-400", "NaN", "-inf", "inf", "9007199254740993", "0.1",
		"123456789.123456789", "-0", "4.9e-324",
	},
	{"true", "F", "yes", "No", "t", "N"},
	{"2024-02-29", "1999/12/31", "0001-01-01", "9999-12-31", "1969-07-20"},
	{
		"x", "007", "0x10", "1e400", "99999999999999999999", "on", "2024-02-30", "1 2", "é€",
		"a longer text than sixteen bytes", "infinity", "--1", "1.2.3", ".", "+", "e5", "\x00", "tab\there",
	},
	{"a,b;c|d", "say \"so\"", "\"", "line\nend", "line\r\nend", "\n", ",", "\"\"", "é,\"ü\"\n"},
}

func (d *document) record(kinds []int) {
	for i, k := range kinds {
		if i > 0 {
			d.text.WriteByte(d.delimiter)
		}
		if d.IntN(12) == 0 {
			k = d.IntN(len(words))
		}
		s := words[k][d.IntN(len(words[k]))]
		switch {
		case d.IntN(8) == 0:
			s = ""
		case d.IntN(40) == 0:
			s = strings.Repeat(s, d.IntN(40))
		}
		plain := !strings.ContainsAny(s, "\r\n"+string(rune(d.delimiter))) && !strings.HasPrefix(s, `"`)
		if plain && d.IntN(5) > 0 && (s != "" || len(kinds) > 1) {
			d.text.WriteString(s)
		} else {
			d.text.WriteString(`"` + strings.ReplaceAll(s, `"`, `""`) + `"`)
		}
	}
}

func random(seed uint64) (text string, delimiter byte) {
	d := document{Rand: rand.New(rand.NewPCG(seed, 1))}
	d.delimiter = ",\t;|"[d.IntN(4)]
	ends := []string{"\n", "\r\n", "\r", "\n\n"}
	end := func() string { return ends[d.IntN(len(ends))] }
	if d.IntN(2) == 0 {
		ends = ends[:1]
	}
	kinds := make([]int, 1+d.IntN(6))
	for i := range kinds {
		kinds[i] = d.IntN(len(words))
		if i > 0 {
			d.text.WriteByte(d.delimiter)
		}
		fmt.Fprintf(&d.text, "column %d", i)
	}
	d.text.WriteString(end())
	for range d.IntN(30) {
		d.record(kinds)
		d.text.WriteString(end())
	}
	text = d.text.String()
	if d.IntN(4) == 0 {
		text = strings.TrimRight(text, "\r\n")
	}
	return text, d.delimiter
}

// TestOracle compares random files, whatever the windows, workers and batches, with a plain reader.
func TestOracle(t *testing.T) {
	n := uint64(90)
	if testing.Short() {
		n = 60
	}
	for seed := range n {
		text, delimiter := random(seed)
		in := readertest.Input{
			Name: "random.csv", Text: []byte(text),
			Options: map[string]any{"delimiter": string(rune(delimiter)), "header": true},
		}
		in.Limits = readers.Limits{BatchRows: 1 + int(seed%40)}
		records := split(text, delimiter)
		table, err := readertest.Parse(t, csv.Format(), in)
		if err != nil {
			t.Fatalf("seed %d: %v\n%q", seed, err, text)
		}
		if err := readertest.Canonical(table); err != nil {
			t.Fatalf("seed %d: %v\n%q", seed, err, text)
		}
		compare(t, seed, text, table, records[1:])
		sizes := []int{1 + int(seed%7), 1 + int(seed%61), 1 + int(seed%211)}
		readertest.Same(t, csv.Format(), in, sizes, variants...)
		if t.Failed() {
			return
		}
	}
}

func compare(t *testing.T, seed uint64, text string, table *readers.Table, records [][]field) {
	t.Helper()
	if int(table.Rows) != len(records) {
		t.Fatalf("seed %d: %d rows, want %d\n%q", seed, table.Rows, len(records), text)
	}
	for k := range table.Batches[0].Attributes {
		var values []field
		for _, r := range records {
			values = append(values, r[k])
		}
		want := typeOf(values)
		if have := table.Batches[0].Attributes[k].Type; !arrow.TypeEqual(have, want) {
			t.Fatalf("seed %d: column %d is %s, want %s\n%q", seed, k, have, want, text)
		}
		for b, batch := range table.Batches {
			for i := range batch.Rows {
				row := int(table.Starts[b]) + i
				if have, want := got(&batch.Attributes[k], i), value(values[row], want); have != want {
					t.Fatalf("seed %d: column %d, row %d is %s, want %s\n%q", seed, k, row, have, want, text)
				}
			}
		}
	}
}

// TestMalformed breaks random files at random bytes: whatever comes of it, windows, workers and
// options agree on it.
func TestMalformed(t *testing.T) {
	n := uint64(90)
	if testing.Short() {
		n = 60
	}
	shapes := []string{
		"1,2", ",", "NA,3", "x,1", "inf,1", "POINT(1 2),", "\"POINT(1 x)\",1",
		"SRID=1;POINT(1 2),2", "SRID=2;POINT(1 2),2", "\"LINESTRING(1 2,3 4)\",\"\"", "\xff,\xff",
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 2))
		text, _ := random(seed)
		if seed%2 == 0 {
			head := []string{"lat,lon,v\n", "wkt,x,v\n", "geom,lat,lat_y\n"}[r.IntN(3)]
			var b strings.Builder
			b.WriteString(head)
			for range r.IntN(40) {
				few := 1 + r.IntN(len(shapes))
				b.WriteString(shapes[r.IntN(few)] + "," + []string{
					"", "a", "1", "\"q\nq\"",
					"2024-01-01",
				}[r.IntN(5)] + "\n")
			}
			text = b.String()
		}
		broken := []byte(text)
		for range r.IntN(4) {
			broken[r.IntN(len(broken))] = []byte("\",;\n\r\x00\x80x1")[r.IntN(9)]
		}
		in := readertest.Input{Name: "random.csv", Text: broken, Options: map[string]any{}}
		if r.IntN(2) == 0 {
			in.Options["on_error"] = "skip"
		}
		if r.IntN(4) == 0 {
			in.Options["ragged"] = "pad"
		}
		if r.IntN(4) == 0 {
			in.Options["keep_geometry_columns"] = true
		}
		in.Limits.BatchRows = 1 + r.IntN(40)
		if _, err := readertest.Check(t, csv.Format(), in); err != nil && in.Options["on_error"] == nil &&
			seed%2 == 1 && bytes.Equal(broken, []byte(text)) {
			t.Errorf("seed %d: %v", seed, err)
		}
		readertest.Same(t, csv.Format(), in, []int{1 + r.IntN(9), 1 + r.IntN(60), 1 + r.IntN(300)}, variants...)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

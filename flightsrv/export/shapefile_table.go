package export

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// dbfTable is what is known of the attributes while rows come: their names and the widths of their
// values.
type dbfTable struct {
	fields []*dbfField
}

// dbfField is a field of dBASE III: C text, N number, L boolean, D date.
type dbfField struct {
	column int    // of the table; -1: the field numbers the rows
	name   string // in the file
	called string // in the table
	kind   byte
	float  bool // a number with decimals

	width    int // of the longest value
	sign     int // 1 if a float is negative
	whole    int // digits of floats left of the point
	decimals int // digits of floats right of the point

	empty, padded int64 // texts that are empty, and that end in blanks
}

const (
	maxNameBytes   = 10
	maxTextBytes   = 254
	maxDigits      = 18 // of an integer: readers take longer ones for floating-point numbers
	floatBytes     = 24 // of any float64 in scientific notation: -1.7976931348623157e+308
	floatDecimals  = 15
	minInt64Digits = 10 // readers take shorter ones for int32
	fieldBytes     = 32 // of a field's descriptor
	maxTableBytes  = math.MaxInt32
)

// begin makes the fields of a schema.
func (t *dbfTable) begin(schema *arrow.Schema, geometry int) error {
	used := map[string]bool{}
	for i, f := range schema.Fields() {
		if i != geometry {
			field := &dbfField{column: i, name: shortName(f.Name, used), called: f.Name, width: 1}
			field.choose(f)
			t.fields = append(t.fields, field)
		}
	}
	if len(t.fields) == 0 { // a table of no field is not readable
		t.fields = []*dbfField{{column: -1, name: "FID", called: "FID", kind: 'N', width: minInt64Digits}}
	}
	if max := (math.MaxUint16 - fieldBytes - 1) / fieldBytes; len(t.fields) > max {
		return fmt.Errorf("shapefile: %d columns, and a .dbf has %d at most", len(t.fields), max)
	}
	return nil
}

// shortName returns the first 10 bytes of a name, with a number at the end if they are used. Readers
// do not tell upper from lower case.
func shortName(name string, used map[string]bool) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' {
			return '_'
		}
		return r
	}, name)
	if strings.TrimSpace(name) == "" {
		name = "FIELD"
	}
	for n := 0; ; n++ {
		suffix := ""
		if n > 0 {
			suffix = "_" + strconv.Itoa(n)
		}
		cut := min(len(name), maxNameBytes-len(suffix))
		for cut < len(name) && !utf8.RuneStart(name[cut]) {
			cut--
		}
		short := strings.TrimRight(name[:cut], " ") + suffix
		if folded := strings.ToLower(short); !used[folded] {
			used[folded] = true
			return short
		}
	}
}

// choose sets the kind of a field. What dBASE III lacks is text: timestamps and times in ISO 8601,
// decimals, lists and structs as JSON, bytes in base64, further geometries as WKT.
func (d *dbfField) choose(f arrow.Field) {
	switch f.Type.ID() {
	case arrow.BOOL:
		d.kind = 'L'
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.UINT8, arrow.UINT16:
		d.kind = 'N'
	case arrow.INT64, arrow.UINT32, arrow.UINT64:
		d.kind, d.width = 'N', minInt64Digits
	case arrow.FLOAT32, arrow.FLOAT64:
		d.kind, d.float, d.whole, d.decimals = 'N', true, 1, 1
	case arrow.DATE32, arrow.DATE64:
		d.kind, d.width = 'D', len("20260501")
	default:
		d.kind = 'C'
	}
}

// cells appends the values of row i: each after its length and one, 0 for null. A float is its bits.
func (t *dbfTable) cells(dst []byte, rec arrow.Record, i int) ([]byte, error) {
	for _, d := range t.fields {
		if d.column < 0 {
			continue
		}
		column := rec.Column(d.column)
		start := len(dst)
		dst = append(dst, 0, 0)
		if IsNull(column, i) {
			continue
		}
		var err error
		if dst, err = d.cell(dst, rec.Schema().Field(d.column), column, i); err != nil {
			return dst, fmt.Errorf("column %q: %w", d.called, err)
		}
		binary.LittleEndian.PutUint16(dst[start:], uint16(len(dst)-start-2+1))
	}
	return dst, nil
}

// cell appends a value that is not null.
func (d *dbfField) cell(dst []byte, f arrow.Field, column arrow.Array, i int) ([]byte, error) {
	switch a := column.(type) {
	case *array.Boolean:
		if a.Value(i) {
			return append(dst, 'T'), nil
		}
		return append(dst, 'F'), nil
	case *array.Float32:
		return d.number(dst, float64(a.Value(i)))
	case *array.Float64:
		return d.number(dst, a.Value(i))
	case *array.Date32:
		return appendDay(dst, a.Value(i).ToTime())
	case *array.Date64:
		return appendDay(dst, a.Value(i).ToTime())
	}
	start := len(dst)
	dst, err := AppendText(dst, f, column, i)
	text := dst[start:]
	switch {
	case err != nil:
		return dst, err
	case d.kind == 'N' && len(text) > maxDigits:
		return dst, fmt.Errorf("%s has more than %d characters, so that readers would round it; write .gpkg",
			text, maxDigits)
	case len(text) > maxTextBytes:
		return dst, fmt.Errorf("a text of %d bytes, and a .dbf holds %d; write .gpkg", len(text), maxTextBytes)
	case strings.ContainsRune(string(text), 0):
		return dst, errors.New("a text has the character U+0000, which ends a text of a .dbf")
	case d.kind == 'C' && len(text) == 0:
		d.empty++
	case d.kind == 'C' && text[len(text)-1] == ' ':
		d.padded++
	}
	d.width = max(d.width, len(text))
	return dst, nil
}

// appendDay appends a date as YYYYMMDD.
func appendDay(dst []byte, day time.Time) ([]byte, error) {
	if y := day.Year(); y < 1 || y > 9999 {
		return dst, fmt.Errorf("the year %d is not one of a .dbf: 1 to 9999", y)
	}
	return day.AppendFormat(dst, "20060102"), nil
}

// number appends the bits of a float, and counts its digits.
func (d *dbfField) number(dst []byte, v float64) ([]byte, error) {
	if !isFinite(v) {
		return dst, fmt.Errorf("%v is not a number of a .dbf", v)
	}
	var text [floatBytes + 8]byte
	digits, exponent, _ := strings.Cut(string(strconv.AppendFloat(text[:0], math.Abs(v), 'e', -1, 64)), "e")
	power, _ := strconv.Atoi(exponent)
	mantissa := max(1, len(digits)-1) // without the point
	if math.Signbit(v) {
		d.sign = 1
	}
	d.whole = max(d.whole, power+1)
	d.decimals = max(d.decimals, mantissa-1-power)
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v)), nil
}

// scientific reports whether a float of the field needs an exponent.
func (d *dbfField) scientific() bool {
	return d.decimals > floatDecimals || d.sign+d.whole+1+d.decimals > floatBytes
}

// size returns the width and the decimals of the field in the file.
func (d *dbfField) size() (width, decimals int) {
	switch {
	case !d.float:
		return d.width, 0
	case d.scientific():
		return floatBytes, floatDecimals
	}
	return d.sign + d.whole + 1 + d.decimals, d.decimals
}

// notes returns which names are cut, and which texts readers find otherwise.
func (t *dbfTable) notes() (notes []string) {
	for _, d := range t.fields {
		if d.name != d.called {
			notes = append(notes, fmt.Sprintf("column %q is called %q", d.called, d.name))
		}
		if d.empty > 0 {
			notes = append(notes, fmt.Sprintf("column %q: %d empty texts are null", d.called, d.empty))
		}
		if d.padded > 0 {
			notes = append(notes, fmt.Sprintf("column %q: %d texts lose blanks at their end", d.called, d.padded))
		}
	}
	return notes
}

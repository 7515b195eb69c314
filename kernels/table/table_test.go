package table_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	ktable "github.com/vibeflight/vibeflight/kernels/table"
)

// plainFields reads the rows of text byte by byte, as spans of fields with their quotes. ok: it is
// a Table of n columns.
func plainFields(text []byte, d ktable.Dialect, columns int) (rows [][][2]int, closed, ok bool) {
	lineEnd := func(i int) bool { return text[i] == '\n' || text[i] == '\r' }
	ends := func(i int) bool { return i == len(text) || lineEnd(i) || text[i] == d.Delimiter }
	closed = true
	for p := 0; p < len(text); {
		if lineEnd(p) {
			p++
			continue
		}
		var row [][2]int
		for {
			from := p
			if p < len(text) && d.Quote != 0 && text[p] == d.Quote {
				for p++; ; p += 2 {
					for p < len(text) && text[p] != d.Quote {
						p++
					}
					if p+1 >= len(text) || text[p+1] != d.Quote {
						break
					}
				}
				if p++; p > len(text) || !ends(p) {
					return nil, false, false
				}
			}
			for !ends(p) {
				if d.Quote != 0 && text[p] == d.Quote {
					return nil, false, false
				}
				p++
			}
			row = append(row, [2]int{from, p})
			if p == len(text) || lineEnd(p) {
				break
			}
			p++
		}
		if closed = p < len(text); len(row) != columns {
			return nil, false, false
		}
		rows = append(rows, row)
	}
	return rows, closed, true
}

// checkTable compares the fields of text on the device with the plain reading.
func checkTable(r *kerneltest.Rig, name string, text []byte, d ktable.Dialect, columns int) {
	r.Helper()
	x, err := ktable.AllocTable(r.Set, r.Stream, kerneltest.Upload(r, text), d, columns)
	r.OK(err)
	defer func() { r.OK(x.Free(r.Stream)) }()
	odd := x.Odd != 0
	if !odd && x.Rows > 0 {
		odd = kerneltest.Read(r, x.StillOdd())[0] != 0
	}
	want, closed, ok := plainFields(text, d, columns)
	if odd == ok {
		r.Fatalf("%s, %d columns: odd %v (%d), want %v; text %.400q", name, columns, odd, x.Odd, !ok, text)
	}
	if !ok {
		return
	}
	if x.Rows != len(want) || x.Closed != closed {
		r.Fatalf("%s, %d columns: %d rows, closed %v, want %d, %v; text %.400q", name, columns, x.Rows,
			x.Closed, len(want), closed, text)
	}
	starts, stops := kerneltest.Read(r, x.Starts), kerneltest.Read(r, x.Stops)
	for i, row := range want {
		if starts[i] != int64(row[0][0]) {
			r.Fatalf("%s: row %d begins at %d, want %d; text %.400q", name, i, starts[i], row[0][0], text)
		}
		for c, span := range row {
			if got := stops[c*x.Rows+i]; got != uint32(span[1]) {
				r.Fatalf("%s: field %d of row %d ends at %d, want %d; text %.400q", name, c, i, got, span[1], text)
			}
		}
	}
}

func TestTable(t *testing.T) {
	r := kerneltest.Open(t)
	for _, c := range []struct {
		name    string
		text    string
		columns int
	}{
		{"no text", "", 2},
		{"one byte", "a", 1},
		{"line ends", "\r\n\n\r", 1},
		{"two rows", "a,b\nc,d\n", 2},
		{"no last line end", "a,b\nc,d", 2},
		{"an empty last field", "a,b\nc,", 2},
		{"CRLF, CR and blank lines", "\na,b\r\n\r\n\rc,d\re,f\n\n", 2},
		{"a line end in quotes", "\"a\r\nb\",c\n\"\",\"\"\"\"\n", 2},
		{"fewer fields", "a,b\nc\n", 2},
		{"more fields", "a,b\nc,d,e\n", 2},
		{"more and fewer", "a,b\nc\nd,e,f\n", 2},
		{"more and fewer, not closed", "a,b\nc\nd,e,f", 2},
		{"as many in other rows", "a,b,c\nd\n", 2},
		{"a stray quote", "5\",b\n6\",c\n", 2},
		{"a blank before a quote", "a, \"b\"\n", 2},
		{"text behind a quote", "\"a\"b,c\n", 2},
		{"a quote that nothing closes", "a,\"b\n", 2},
		{"a lone quote", "\"", 1},
		{"an empty text in quotes", "\"\"", 1},
		{"doubled without quotes", "a\"\"b,c\n", 2},
		{"NUL", "\x00,\x00\n", 2},
		{"not UTF-8", "\xff,\"\x80\"\n", 2},
	} {
		checkTable(r, c.name, []byte(c.text), commas, c.columns)
	}
	checkTable(r, "no quote", []byte("a\"\t\"b\n\"\t\n"), ktable.Dialect{Delimiter: '\t'}, 2)
	checkTable(r, "another quote", []byte("'a;b';\"\n"), ktable.Dialect{Delimiter: ';', Quote: '\''}, 2)
}

// Texts around every bound, of which most are odd.
func TestTableOfRandomTexts(t *testing.T) {
	r := kerneltest.Open(t)
	for _, n := range kerneltest.Sizes {
		for seed, alphabet := range []string{"\r\n,\"a", "\n,ab", "\r\n", "a\n", ",", "\"\"\"\n,", "\x00ab\n,"} {
			for _, columns := range []int{1, 2, 3} {
				checkTable(r, fmt.Sprintf("%d bytes of %q", n, alphabet), kerneltest.Random(uint64(n*9+seed),
					n, alphabet),
					commas, columns)
			}
		}
	}
}

// randomFields is text of rows that all have as many fields, in all the ways that fields are
// written.
func randomFields(seed uint64, bytesLeast, columns int) []byte {
	pieces := [][]byte{
		[]byte("a"), nil, []byte("\"\""), []byte("\"b\"\"c\""), []byte("\"d,\n\r\ne\""),
		[]byte("12.5"), []byte("\"\"\"\""), bytes.Repeat([]byte("f"), 70),
	}
	ends := []string{"\n", "\r\n", "\r", "\n\n", "\r\n\r\n\n"}
	choice := kerneltest.Random(seed, 2*bytesLeast+2*columns, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09")
	var text []byte
	for k := 0; len(text) < bytesLeast; {
		begin := len(text)
		for i := range columns {
			if i > 0 {
				text = append(text, ',')
			}
			text = append(text, pieces[int(choice[k])%len(pieces)]...)
			k++
		}
		if len(text) == begin {
			text = append(text, 'x') // a line of no bytes is no row
		}
		text = append(text, ends[int(choice[k])%len(ends)]...)
		k++
	}
	return text
}

func TestTableOfManyRows(t *testing.T) {
	r := kerneltest.Open(t)
	for seed := range uint64(40) {
		columns := 1 + int(seed%7)
		text := randomFields(seed, 300+int(seed)*1500, columns)
		if _, _, ok := plainFields(text, commas, columns); !ok {
			t.Fatalf("seed %d: no table: %.400q", seed, text)
		}
		checkTable(r, fmt.Sprintf("seed %d", seed), text, commas, columns)
		checkTable(r, fmt.Sprintf("seed %d, cut", seed), text[:len(text)-3], commas, columns)
		checkTable(r, fmt.Sprintf("seed %d, other columns", seed), text, commas, columns+1)
		broken := slices.Clone(text)
		broken[len(broken)/2] = '"'
		checkTable(r, fmt.Sprintf("seed %d, a quote", seed), broken, commas, columns)
	}
	for name, text := range map[string]string{
		"tiny rows":       strings.Repeat("a\n", 100000),
		"line ends":       "a" + strings.Repeat("\n", 100000) + "b",
		"one long field":  strings.Repeat("x", 100000) + "\n",
		"one in quotes":   "\"" + strings.Repeat("\n,\"\"", 30000) + "\"\n",
		"quotes":          strings.Repeat("\"", 65536) + "\n",
		"quotes, one odd": strings.Repeat("\"", 65537) + "\n",
	} {
		checkTable(r, name, []byte(text), commas, 1)
	}
	checkTable(r, "a row of many fields", []byte(strings.Repeat(",", 49999)+"\n"+strings.Repeat(",", 49999)),
		commas, 50000)
}

func TestTableRefuses(t *testing.T) {
	r := kerneltest.Open(t)
	text := kerneltest.Upload(r, []byte("a,b\nc,d\n"))
	x, err := ktable.AllocTable(r.Set, r.Stream, text, commas, 2)
	r.OK(err)
	defer func() { r.OK(x.Free(r.Stream)) }()
	alloc := func(d ktable.Dialect, columns int) error {
		_, err := ktable.AllocTable(r.Set, r.Stream, text, d, columns)
		return err
	}
	one, two, odd := kerneltest.Poisoned[float64](r, 1), kerneltest.Poisoned[float64](r, 2),
		kerneltest.Poisoned[uint32](r, 1)
	mask := kerneltest.Poisoned[uint64](r, 1)
	for _, c := range []struct {
		name string
		err  error
	}{
		{"no columns", alloc(commas, 0)},
		{"a line feed as delimiter", alloc(ktable.Dialect{Delimiter: '\n'}, 2)},
		{"the quote as delimiter", alloc(ktable.Dialect{Delimiter: '"', Quote: '"'}, 2)},
		{"a line feed as quote", alloc(ktable.Dialect{Delimiter: ',', Quote: '\r'}, 2)},
		{"kinds of other columns", ktable.TableKinds(r.Set, r.Stream, text, x, odd)},
		{"a column of other rows", ktable.ParseTable(r.Set, r.Stream, text, x,
			[]ktable.TableColumn{{Type: ktable.TableFloat64, Float64: one}}, mask, odd)},
		{"no such column", ktable.ParseTable(r.Set, r.Stream, text, x,
			[]ktable.TableColumn{{Column: 2, Type: ktable.TableFloat64, Float64: two}}, mask, odd)},
		{"a long mask", ktable.ParseTable(r.Set, r.Stream, text, x, nil, mask, odd)},
		{"no such ordinates", ktable.TablePoints(r.Set, r.Stream, text, x, 0, 2, two, two, mask, odd)},
		{"ordinates of other rows", ktable.TablePoints(r.Set, r.Stream, text, x, 0, 1, two, one, mask, odd)},
		{"days of other rows", ktable.TableDates(r.Set, r.Stream, text, x, []int{0},
			kerneltest.Poisoned[int32](r, 3), mask,
			kerneltest.Poisoned[int32](r, 1), kerneltest.Poisoned[int32](r, 1))},
		{"first days of other columns", ktable.TableDates(r.Set, r.Stream, text, x, []int{0},
			kerneltest.Poisoned[int32](r, 2),
			mask, kerneltest.Poisoned[int32](r, 2), kerneltest.Poisoned[int32](r, 1))},
		{"last days of other columns", ktable.TableDates(r.Set, r.Stream, text, x, []int{0},
			kerneltest.Poisoned[int32](r, 2), mask,
			kerneltest.Poisoned[int32](r, 1), kerneltest.Poisoned[int32](r, 2))},
		{"no such dates", ktable.TableDates(r.Set, r.Stream, text, x, []int{2}, kerneltest.Poisoned[int32](r, 2), mask,
			kerneltest.Poisoned[int32](r, 1), kerneltest.Poisoned[int32](r, 1))},
		{"spans of other rows", ktable.TableTexts(r.Set, r.Stream, text, x, []int{0}, kerneltest.Poisoned[int64](r, 1),
			kerneltest.Poisoned[int64](r, 2), mask)},
		{"no such text", ktable.TableTexts(r.Set, r.Stream, text, x, []int{2}, kerneltest.Poisoned[int64](r, 2),
			kerneltest.Poisoned[int64](r, 2), mask)},
		{"offsets of other rows", ktable.TableOffsets(r.Set, r.Stream, kerneltest.Poisoned[int64](r, 5),
			2, kerneltest.Poisoned[int32](r, 5))},
	} {
		if c.err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
}

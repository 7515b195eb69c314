package table_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	ktable "github.com/vibeflight/vibeflight/kernels/table"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

var commas = ktable.Dialect{Delimiter: ',', Quote: '"'}

// plainRows are the masks of Rows and of QuoteParity, byte by byte.
type plainRows struct{ inside, ends, delimiters, stray []bool }

func readRows(text []byte, d ktable.Dialect, next int) plainRows {
	n := len(text)
	m := plainRows{make([]bool, n), make([]bool, n), make([]bool, n), make([]bool, n)}
	in := false
	at := func(i int) int {
		switch {
		case i < 0:
			return ktable.EndOfFile
		case i < n:
			return int(text[i])
		}
		return next
	}
	separates := func(c int) bool { return c == '\n' || c == '\r' || c == int(d.Delimiter) }
	for i, c := range text {
		before, behind := at(i-1), at(i+1)
		switch {
		case c == d.Quote && !in:
			in = true
			m.stray[i] = i > 0 && before != int(d.Quote) && !separates(before)
		case c == d.Quote:
			in = false
			m.stray[i] = behind >= 0 && behind != int(d.Quote) && !separates(behind)
		case in:
		case c == d.Delimiter:
			m.delimiters[i] = true
		case c == '\n' || c == '\r' && behind != '\n':
			m.ends[i] = true
		}
		m.inside[i] = in
	}
	return m
}

// flagged is the mask of the flags.
func flagged(flags []bool) []uint64 {
	return kerneltest.Bitmap(len(flags), func(i int) bool { return flags[i] })
}

// rowMasks takes the memory of the masks of n bytes.
func rowMasks(r *kerneltest.Rig, n int) ktable.RowMasks {
	words := kernels.Words(n)
	return ktable.RowMasks{
		Ends: kerneltest.Poisoned[uint64](r, words), Delimiters: kerneltest.Poisoned[uint64](r, words),
		Stray: kerneltest.Poisoned[uint64](r, words),
	}
}

// sameRows compares the masks of text, cut at the places, with the plain reading.
func sameRows(r *kerneltest.Rig, name string, text []byte, places ...int) {
	r.Helper()
	want := readRows(text, commas, ktable.EndOfFile)
	carry := kerneltest.Upload(r, []ktable.RowCarry{{}})
	from := 0
	for _, to := range append(places, len(text)) {
		next := ktable.EndOfFile
		if to < len(text) {
			next = int(text[to])
		}
		chunk := text[from:to]
		m := rowMasks(r, len(chunk))
		r.OK(ktable.Rows(r.Set, r.Stream, kerneltest.Upload(r, chunk),
			kerneltest.Upload(r, flagged(want.inside[from:to])), commas, next, m, carry))
		name := fmt.Sprintf("%s cut at %v, from %d", name, places, from)
		kerneltest.SameMask(r, name+": ends", chunk, kerneltest.Read(r, m.Ends), flagged(want.ends[from:to]))
		kerneltest.SameMask(r, name+": delimiters", chunk, kerneltest.Read(r, m.Delimiters),
			flagged(want.delimiters[from:to]))
		kerneltest.SameMask(r, name+": stray", chunk, kerneltest.Read(r, m.Stray), flagged(want.stray[from:to]))
		from = to
	}
}

func TestRows(t *testing.T) {
	r := kerneltest.Open(t)
	for _, n := range kerneltest.Sizes {
		for seed, alphabet := range []string{"\r\n,\"a", "\r\n", "\"\"\"\r,", "\x00ab\n,"} {
			sameRows(r, fmt.Sprintf("%d bytes of %q", n, alphabet), kerneltest.Random(uint64(n*9+seed), n, alphabet))
		}
	}
	for name, text := range kerneltest.HostileTexts() {
		if len(text) < 3000 {
			sameRows(r, name, text)
		}
	}
}

// A text in chunks has the masks of the text.
func TestRowsInChunks(t *testing.T) {
	r := kerneltest.Open(t)
	small := []byte("a,\"b\r\n\"\"c\",\r\n\r\rx\"\",\"y\"z\n\n\"\"\r\",\"\"\"\"")
	for i := range len(small) + 1 {
		sameRows(r, "a small text", small, i)
	}
	large := kerneltest.Random(11, 40000, "\r\n,\"ab")
	rng := rand.New(rand.NewPCG(3, 5))
	for range 12 {
		places := []int{rng.IntN(40000), rng.IntN(40000), rng.IntN(600) * 64}
		slices.Sort(places)
		sameRows(r, "a large text", large, places...)
	}
}

// Rows without quotes: every byte is outside.
func TestRowsWithoutQuotes(t *testing.T) {
	r := kerneltest.Open(t)
	text := kerneltest.Random(5, 5000, "\r\n\t\"a")
	tabs := ktable.Dialect{Delimiter: '\t'}
	m := rowMasks(r, len(text))
	m.Stray = kernels.Mask{}
	r.OK(ktable.Rows(r.Set, r.Stream, kerneltest.Upload(r, text), kernels.Mask{}, tabs, ktable.EndOfFile,
		m, kerneltest.Upload(r, []ktable.RowCarry{{}})))
	want := readRows(text, ktable.Dialect{Delimiter: '\t', Quote: 0}, ktable.EndOfFile)
	kerneltest.SameMask(r, "ends", text, kerneltest.Read(r, m.Ends), flagged(want.ends))
	kerneltest.SameMask(r, "delimiters", text, kerneltest.Read(r, m.Delimiters), flagged(want.delimiters))
}

// table is what a text holds: rows of fields, those that stood in quotes with ' around them.
type table [][]string

// plainTable reads the rows of text byte by byte. A row that nothing ends counts if final.
func plainTable(text []byte, final bool) (rows table) {
	m := readRows(text, commas, ktable.EndOfFile)
	field := func(b []byte) string {
		if len(b) > 1 && b[0] == '"' && b[len(b)-1] == '"' {
			return "'" + string(b[1:len(b)-1]) + "'"
		}
		return string(b)
	}
	row, start, begun := []string{}, 0, 0
	end := func(stop int) {
		row = append(row, field(text[start:stop]))
		if stop == begun {
			row = nil
		}
		rows, row = append(rows, row), []string{}
	}
	for i, c := range text {
		switch {
		case m.delimiters[i]:
			row, start = append(row, field(text[start:i])), i+1
		case m.ends[i]:
			stop := i
			if c == '\n' && i > 0 && text[i-1] == '\r' {
				stop--
			}
			end(stop)
			start, begun = i+1, i+1
		}
	}
	if final && begun < len(text) {
		end(len(text))
	}
	return rows
}

// readTable reads the rows of text on the device.
func readTable(r *kerneltest.Rig, text []byte, final bool) (rows table, stray int64) {
	r.Helper()
	n := len(text)
	textDev, inside, m := kerneltest.Upload(r, text), kerneltest.Poisoned[uint64](r, kernels.Words(n)), rowMasks(r, n)
	r.OK(ktext.QuoteParity(r.Set, r.Stream, textDev, '"', ktext.QuoteDoubled, inside, gpu.Buffer[ktext.QuoteCarry]{}))
	r.OK(ktable.Rows(r.Set, r.Stream, textDev, inside, commas, ktable.EndOfFile, m, gpu.Buffer[ktable.RowCarry]{}))
	stray, err := r.Set.CountBits(r.Stream, m.Stray)
	r.OK(err)
	x, err := ktable.AllocRowSpans(r.Set, r.Stream, textDev, m, final)
	r.OK(err)
	defer func() { r.OK(x.Free(r.Stream)) }()
	delimiters, err := r.Set.AllocPositions(r.Stream, m.Delimiters, 0)
	r.OK(err)
	defer func() { r.OK(delimiters.Free(r.Stream)) }()

	fields := kerneltest.Read(r, x.Fields)
	count := len(fields)
	rows = make(table, count)
	if count == 0 {
		return nil, stray
	}
	for column := range int(slices.Max(fields)) + 1 {
		c := ktable.Column{
			Starts: kerneltest.Poisoned[int64](r, count), Ends: kerneltest.Poisoned[int64](r, count),
			Present: kerneltest.Poisoned[uint64](r, kernels.Words(count)),
			Quoted:  kerneltest.Poisoned[uint64](r, kernels.Words(count)),
		}
		r.OK(ktable.FieldSpans(r.Set, r.Stream, textDev, x, delimiters, column, '"', c))
		starts, ends, present, quoted := kerneltest.Read(r, c.Starts), kerneltest.Read(r, c.Ends),
			kerneltest.Read(r, c.Present), kerneltest.Read(r, c.Quoted)
		for i := range rows {
			field := string(text[starts[i]:ends[i]])
			if quoted[i/64]>>(i%64)&1 != 0 {
				field = "'" + field + "'"
			}
			if present[i/64]>>(i%64)&1 != 0 {
				rows[i] = append(rows[i], field)
			} else if field != "" {
				r.Fatalf("row %d has no field %d, but %q", i, column, field)
			}
		}
	}
	return rows, stray
}

// sameTable compares what a text holds, and shows the first row that differs.
func sameTable(r *kerneltest.Rig, name string, got, want table) {
	r.Helper()
	if len(got) != len(want) {
		r.Fatalf("%s: %d rows, want %d", name, len(got), len(want))
	}
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			r.Fatalf("%s: row %d is %q, want %q", name, i, got[i], want[i])
		}
	}
}

// The traps of CSV, as far as they are structure.
func TestRowSpans(t *testing.T) {
	r := kerneltest.Open(t)
	tests := []struct {
		name  string
		text  string
		want  table
		stray int64
	}{
		{name: "no text"},
		{name: "one byte", text: "a", want: table{{"a"}}},
		{name: "one line end", text: "\n", want: table{nil}},
		{name: "C5 a stray quote", text: "a,b\n5 10\",1,2\n3,4,5\n", want: table{
			{"a", "b"},
			{"5 10\",1,2\n3,4,5\n"},
		}, stray: 1},
		{name: "C6 two of them in two rows", text: "1\",2\n3\",4\n", want: table{{"1\",2\n3\"", "4"}}, stray: 1},
		{name: "C7 doubled in a field without quotes", text: "A\"\"B,1\n", want: table{{"A\"\"B", "1"}}, stray: 2},
		{name: "C8 lone CR", text: "a,b\rc,d\r", want: table{{"a", "b"}, {"c", "d"}}},
		{name: "C9 a BOM is text", text: "\uFEFFlat,lon\n", want: table{{"\uFEFFlat", "lon"}}},
		{
			name: "C10 a header with a comma in quotes", text: "\"name, full\",lat\n",
			want: table{{"'name, full'", "lat"}},
		},
		{name: "C11 blank lines", text: "\na\n\r\n\r\rb\n\n", want: table{nil, {"a"}, nil, nil, nil, {"b"}, nil}},
		{name: "C12 no last line end", text: "1,2\n3,4,", want: table{{"1", "2"}, {"3", "4", ""}}},
		{name: "C13 ragged rows", text: "1\n2,3,4\n,\n", want: table{{"1"}, {"2", "3", "4"}, {"", ""}}},
		{
			name: "C17 line ends in quotes", text: "\"a\r\nb\",\"c\"\"d\"\r\n\"\",e",
			want: table{{"'a\r\nb'", "'c\"\"d'"}, {"''", "e"}},
		},
		{name: "C19 a blank before a quote", text: "1, \"a,b\",2\n", want: table{{"1", " \"a,b\"", "2"}}, stray: 1},
		{name: "text behind a closing quote", text: "\"a\"b,c\n", want: table{{"\"a\"b", "c"}}, stray: 1},
		{name: "a quote that nothing closes", text: "a,\"b\nc,d\n", want: table{{"a", "\"b\nc,d\n"}}},
		{name: "a lone quote", text: "\"", want: table{{"\""}}},
	}
	for _, tt := range tests {
		got, stray := readTable(r, []byte(tt.text), true)
		sameTable(r, tt.name, got, tt.want)
		sameTable(r, tt.name+", plainly", plainTable([]byte(tt.text), true), tt.want)
		if stray != tt.stray {
			t.Errorf("%s: %d stray quotes, want %d", tt.name, stray, tt.stray)
		}
	}
}

func TestRowSpansOfLargeTexts(t *testing.T) {
	r := kerneltest.Open(t)
	texts := map[string][]byte{
		"line ends":            bytes.Repeat([]byte("\n"), 40000),
		"CRLF":                 bytes.Repeat([]byte("\r\n"), 20000),
		"one row":              bytes.Repeat([]byte("x"), 40000),
		"delimiters and a row": []byte(strings.Repeat("a,b,c\r\n", 6000) + "1,2"),
		"one long field":       []byte("a,\"" + strings.Repeat("\r\n,", 13000) + "\",b\nc,d"),
		"around the end of tile": []byte(strings.Repeat("x", 16382) + "\r\n,\r\n" + strings.Repeat("y",
			16379) + "\r\nz"),
	}
	for _, n := range kerneltest.Sizes {
		texts[fmt.Sprintf("%d random bytes", n)] = kerneltest.Random(uint64(n), n, "\r\n,,,\"\"abcdefghijklmno")
	}
	for name, text := range texts {
		for _, final := range []bool{true, false} {
			got, _ := readTable(r, text, final)
			sameTable(r, name, got, plainTable(text, final))
		}
	}
}

// A row of very many fields: their number alone is looked at.
func TestRowSpansOfManyFields(t *testing.T) {
	r := kerneltest.Open(t)
	text := []byte(strings.Repeat(",", 50000) + "\n" + strings.Repeat(",", 20000))
	m := rowMasks(r, len(text))
	m.Stray = kernels.Mask{}
	textDev := kerneltest.Upload(r, text)
	r.OK(ktable.Rows(r.Set, r.Stream, textDev, kernels.Mask{}, commas, ktable.EndOfFile, m,
		gpu.Buffer[ktable.RowCarry]{}))
	x, err := ktable.AllocRowSpans(r.Set, r.Stream, textDev, m, true)
	r.OK(err)
	kerneltest.SameItems(r, "fields", kerneltest.Read(r, x.Fields), []int32{50001, 20001})
	kerneltest.SameItems(r, "first", kerneltest.Read(r, x.First), []int64{0, 50000, 70000})
	r.OK(x.Free(r.Stream))

	// A row that goes on in the next chunk is not one yet.
	m = ktable.RowMasks{Ends: kerneltest.Upload(r, make([]uint64, 1)), Delimiters: kerneltest.Upload(r, []uint64{2})}
	x, err = ktable.AllocRowSpans(r.Set, r.Stream, kerneltest.Upload(r, []byte("a,b")), m, false)
	r.OK(err)
	kerneltest.SameItems(r, "no row: first", kerneltest.Read(r, x.First), []int64{0})
	if n := x.Starts.Len(); n != 0 {
		t.Errorf("%d rows, want none", n)
	}
	r.OK(x.Free(r.Stream))
}

func TestRowsRefuse(t *testing.T) {
	r := kerneltest.Open(t)
	text, mask, short := kerneltest.Upload(r, make([]byte, 100)), kerneltest.Poisoned[uint64](r, 2),
		kerneltest.Poisoned[uint64](r, 1)
	none, m := gpu.Buffer[ktable.RowCarry]{}, rowMasks(r, 100)
	with := func(change func(*ktable.RowMasks)) ktable.RowMasks {
		other := m
		change(&other)
		return other
	}
	spans := &ktable.RowSpans{
		Starts: kerneltest.Poisoned[int64](r, 70), Stops: kerneltest.Poisoned[int64](r, 70),
		First: kerneltest.Poisoned[int64](r, 71), Fields: kerneltest.Poisoned[int32](r, 70),
	}
	column := ktable.Column{
		Starts: kerneltest.Poisoned[int64](r, 70), Ends: kerneltest.Poisoned[int64](r, 70),
		Present: mask, Quoted: mask,
	}
	narrow := column
	narrow.Present = short
	_, noEnds := ktable.AllocRowSpans(r.Set, r.Stream, text, with(func(m *ktable.RowMasks) { m.Ends = short }), true)
	tests := []struct {
		name string
		err  error
	}{
		{"short ends", ktable.Rows(r.Set, r.Stream, text, mask, commas, -1, with(func(m *ktable.RowMasks) {
			m.Ends = short
		}), none)},
		{"short delimiters", ktable.Rows(r.Set, r.Stream, text, mask, commas, -1, with(func(m *ktable.RowMasks) {
			m.Delimiters = short
		}), none)},
		{"short stray quotes", ktable.Rows(r.Set, r.Stream, text, mask, commas, -1, with(func(m *ktable.RowMasks) {
			m.Stray = short
		}), none)},
		{"stray quotes without quotes", ktable.Rows(r.Set, r.Stream, text, kernels.Mask{}, commas, -1, m, none)},
		{"a quote as delimiter", ktable.Rows(r.Set, r.Stream, text, mask, ktable.Dialect{Delimiter: '"', Quote: '"'},
			-1, m, none)},
		{"a line feed as delimiter", ktable.Rows(r.Set, r.Stream, text, mask,
			ktable.Dialect{Delimiter: '\n', Quote: '"'},
			-1, m, none)},
		{"no delimiter", ktable.Rows(r.Set, r.Stream, text, mask, ktable.Dialect{Quote: '"'}, -1, m, none)},
		{"a line feed as quote", ktable.Rows(r.Set, r.Stream, text, mask, ktable.Dialect{Delimiter: ',', Quote: '\n'},
			-1, m, none)},
		{"no byte behind", ktable.Rows(r.Set, r.Stream, text, mask, commas, 256, m, none)},
		{"two carries", ktable.Rows(r.Set, r.Stream, text, mask, commas, -1, m,
			kerneltest.Poisoned[ktable.RowCarry](r, 2))},
		{"spans of other text", noEnds},
		{"no column", ktable.FieldSpans(r.Set, r.Stream, text, spans, spans.First, -1, '"', column)},
		{"a column of other rows", ktable.FieldSpans(r.Set, r.Stream, text, spans, spans.First, 0, '"', narrow)},
	}
	for _, tt := range tests {
		if tt.err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}

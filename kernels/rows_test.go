package kernels_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

var commas = kernels.Dialect{Delimiter: ',', Quote: '"'}

// plainRows are the masks of Rows and of QuoteParity, byte by byte.
type plainRows struct{ inside, ends, delimiters, stray []bool }

func readRows(text []byte, d kernels.Dialect, next int) plainRows {
	n := len(text)
	m := plainRows{make([]bool, n), make([]bool, n), make([]bool, n), make([]bool, n)}
	in := false
	at := func(i int) int {
		switch {
		case i < 0:
			return kernels.EndOfFile
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
func flagged(flags []bool) []uint64 { return bitmap(len(flags), func(i int) bool { return flags[i] }) }

// rowMasks takes the memory of the masks of n bytes.
func rowMasks(r *rig, n int) kernels.RowMasks {
	words := kernels.Words(n)
	return kernels.RowMasks{
		Ends: poisoned[uint64](r, words), Delimiters: poisoned[uint64](r, words),
		Stray: poisoned[uint64](r, words),
	}
}

// sameRows compares the masks of text, cut at the places, with the plain reading.
func sameRows(r *rig, name string, text []byte, places ...int) {
	r.Helper()
	want := readRows(text, commas, kernels.EndOfFile)
	carry := upload(r, []kernels.RowCarry{{}})
	from := 0
	for _, to := range append(places, len(text)) {
		next := kernels.EndOfFile
		if to < len(text) {
			next = int(text[to])
		}
		chunk := text[from:to]
		m := rowMasks(r, len(chunk))
		r.ok(r.k.Rows(r.s, upload(r, chunk), upload(r, flagged(want.inside[from:to])), commas, next, m, carry))
		name := fmt.Sprintf("%s cut at %v, from %d", name, places, from)
		sameMask(r, name+": ends", chunk, read(r, m.Ends), flagged(want.ends[from:to]))
		sameMask(r, name+": delimiters", chunk, read(r, m.Delimiters), flagged(want.delimiters[from:to]))
		sameMask(r, name+": stray", chunk, read(r, m.Stray), flagged(want.stray[from:to]))
		from = to
	}
}

func TestRows(t *testing.T) {
	r := open(t)
	for _, n := range sizes {
		for seed, alphabet := range []string{"\r\n,\"a", "\r\n", "\"\"\"\r,", "\x00ab\n,"} {
			sameRows(r, fmt.Sprintf("%d bytes of %q", n, alphabet), random(uint64(n*9+seed), n, alphabet))
		}
	}
	for name, text := range hostileTexts() {
		if len(text) < 3000 {
			sameRows(r, name, text)
		}
	}
}

// A text in chunks has the masks of the text.
func TestRowsInChunks(t *testing.T) {
	r := open(t)
	small := []byte("a,\"b\r\n\"\"c\",\r\n\r\rx\"\",\"y\"z\n\n\"\"\r\",\"\"\"\"")
	for i := range len(small) + 1 {
		sameRows(r, "a small text", small, i)
	}
	large := random(11, 40000, "\r\n,\"ab")
	rng := rand.New(rand.NewPCG(3, 5))
	for range 12 {
		places := []int{rng.IntN(40000), rng.IntN(40000), rng.IntN(600) * 64}
		slices.Sort(places)
		sameRows(r, "a large text", large, places...)
	}
}

// Rows without quotes: every byte is outside.
func TestRowsWithoutQuotes(t *testing.T) {
	r := open(t)
	text := random(5, 5000, "\r\n\t\"a")
	tabs := kernels.Dialect{Delimiter: '\t'}
	m := rowMasks(r, len(text))
	m.Stray = kernels.Mask{}
	r.ok(r.k.Rows(r.s, upload(r, text), kernels.Mask{}, tabs, kernels.EndOfFile, m, upload(r, []kernels.RowCarry{{}})))
	want := readRows(text, kernels.Dialect{Delimiter: '\t', Quote: 0}, kernels.EndOfFile)
	sameMask(r, "ends", text, read(r, m.Ends), flagged(want.ends))
	sameMask(r, "delimiters", text, read(r, m.Delimiters), flagged(want.delimiters))
}

// table is what a text holds: rows of fields, those that stood in quotes with ' around them.
type table [][]string

// plainTable reads the rows of text byte by byte. A row that nothing ends counts if final.
func plainTable(text []byte, final bool) (rows table) {
	m := readRows(text, commas, kernels.EndOfFile)
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
func readTable(r *rig, text []byte, final bool) (rows table, stray int64) {
	r.Helper()
	n := len(text)
	textDev, inside, m := upload(r, text), poisoned[uint64](r, kernels.Words(n)), rowMasks(r, n)
	r.ok(r.k.QuoteParity(r.s, textDev, '"', kernels.QuoteDoubled, inside, gpu.Buffer[kernels.QuoteCarry]{}))
	r.ok(r.k.Rows(r.s, textDev, inside, commas, kernels.EndOfFile, m, gpu.Buffer[kernels.RowCarry]{}))
	stray, err := r.k.CountBits(r.s, m.Stray)
	r.ok(err)
	x, err := r.k.AllocRowSpans(r.s, textDev, m, final)
	r.ok(err)
	defer func() { r.ok(x.Free(r.s)) }()
	delimiters, err := r.k.AllocPositions(r.s, m.Delimiters, 0)
	r.ok(err)
	defer func() { r.ok(delimiters.Free(r.s)) }()

	fields := read(r, x.Fields)
	count := len(fields)
	rows = make(table, count)
	if count == 0 {
		return nil, stray
	}
	for column := range int(slices.Max(fields)) + 1 {
		c := kernels.Column{
			Starts: poisoned[int64](r, count), Ends: poisoned[int64](r, count),
			Present: poisoned[uint64](r, kernels.Words(count)), Quoted: poisoned[uint64](r, kernels.Words(count)),
		}
		r.ok(r.k.FieldSpans(r.s, textDev, x, delimiters, column, '"', c))
		starts, ends, present, quoted := read(r, c.Starts), read(r, c.Ends), read(r, c.Present), read(r, c.Quoted)
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
func sameTable(r *rig, name string, got, want table) {
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
	r := open(t)
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
	r := open(t)
	texts := map[string][]byte{
		"line ends":            bytes.Repeat([]byte("\n"), 40000),
		"CRLF":                 bytes.Repeat([]byte("\r\n"), 20000),
		"one row":              bytes.Repeat([]byte("x"), 40000),
		"delimiters and a row": []byte(strings.Repeat("a,b,c\r\n", 6000) + "1,2"),
		"one long field":       []byte("a,\"" + strings.Repeat("\r\n,", 13000) + "\",b\nc,d"),
		"around the end of tile": []byte(strings.Repeat("x", 16382) + "\r\n,\r\n" + strings.Repeat("y",
			16379) + "\r\nz"),
	}
	for _, n := range sizes {
		texts[fmt.Sprintf("%d random bytes", n)] = random(uint64(n), n, "\r\n,,,\"\"abcdefghijklmno")
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
	r := open(t)
	text := []byte(strings.Repeat(",", 50000) + "\n" + strings.Repeat(",", 20000))
	m := rowMasks(r, len(text))
	m.Stray = kernels.Mask{}
	textDev := upload(r, text)
	r.ok(r.k.Rows(r.s, textDev, kernels.Mask{}, commas, kernels.EndOfFile, m, gpu.Buffer[kernels.RowCarry]{}))
	x, err := r.k.AllocRowSpans(r.s, textDev, m, true)
	r.ok(err)
	sameItems(r, "fields", read(r, x.Fields), []int32{50001, 20001})
	sameItems(r, "first", read(r, x.First), []int64{0, 50000, 70000})
	r.ok(x.Free(r.s))

	// A row that goes on in the next chunk is none yet.
	m = kernels.RowMasks{Ends: upload(r, make([]uint64, 1)), Delimiters: upload(r, []uint64{2})}
	x, err = r.k.AllocRowSpans(r.s, upload(r, []byte("a,b")), m, false)
	r.ok(err)
	sameItems(r, "no row: first", read(r, x.First), []int64{0})
	if n := x.Starts.Len(); n != 0 {
		t.Errorf("%d rows, want none", n)
	}
	r.ok(x.Free(r.s))
}

func TestRowsRefuse(t *testing.T) {
	r := open(t)
	text, mask, short := upload(r, make([]byte, 100)), poisoned[uint64](r, 2), poisoned[uint64](r, 1)
	none, m := gpu.Buffer[kernels.RowCarry]{}, rowMasks(r, 100)
	with := func(change func(*kernels.RowMasks)) kernels.RowMasks {
		other := m
		change(&other)
		return other
	}
	spans := &kernels.RowSpans{
		Starts: poisoned[int64](r, 70), Stops: poisoned[int64](r, 70),
		First: poisoned[int64](r, 71), Fields: poisoned[int32](r, 70),
	}
	column := kernels.Column{Starts: poisoned[int64](r, 70), Ends: poisoned[int64](r, 70), Present: mask, Quoted: mask}
	narrow := column
	narrow.Present = short
	_, noEnds := r.k.AllocRowSpans(r.s, text, with(func(m *kernels.RowMasks) { m.Ends = short }), true)
	tests := []struct {
		name string
		err  error
	}{
		{"short ends", r.k.Rows(r.s, text, mask, commas, -1, with(func(m *kernels.RowMasks) { m.Ends = short }), none)},
		{"short delimiters", r.k.Rows(r.s, text, mask, commas, -1, with(func(m *kernels.RowMasks) {
			m.Delimiters = short
		}), none)},
		{"short stray quotes", r.k.Rows(r.s, text, mask, commas, -1, with(func(m *kernels.RowMasks) {
			m.Stray = short
		}), none)},
		{"stray quotes without quotes", r.k.Rows(r.s, text, kernels.Mask{}, commas, -1, m, none)},
		{"a quote as delimiter", r.k.Rows(r.s, text, mask, kernels.Dialect{Delimiter: '"', Quote: '"'}, -1, m, none)},
		{"a line feed as delimiter", r.k.Rows(r.s, text, mask, kernels.Dialect{Delimiter: '\n', Quote: '"'},
			-1, m, none)},
		{"no delimiter", r.k.Rows(r.s, text, mask, kernels.Dialect{Quote: '"'}, -1, m, none)},
		{"a line feed as quote", r.k.Rows(r.s, text, mask, kernels.Dialect{Delimiter: ',', Quote: '\n'}, -1, m, none)},
		{"no byte behind", r.k.Rows(r.s, text, mask, commas, 256, m, none)},
		{"two carries", r.k.Rows(r.s, text, mask, commas, -1, m, poisoned[kernels.RowCarry](r, 2))},
		{"spans of other text", noEnds},
		{"no column", r.k.FieldSpans(r.s, text, spans, spans.First, -1, '"', column)},
		{"a column of other rows", r.k.FieldSpans(r.s, text, spans, spans.First, 0, '"', narrow)},
	}
	for _, tt := range tests {
		if tt.err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}

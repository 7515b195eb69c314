package dbf_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/dbf"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/source"
)

// TestSweep reads random tables of every type of field, most of them with mistakes, in blocks,
// parts and batches of random sizes, and its chunks again: tables, counts and errors must be the
// same.
func TestSweep(t *testing.T) {
	readertest.Sweep(t, 500, func(seed uint64) bool { return sweepOne(t, rand.New(rand.NewPCG(seed, 7))) })
}

// sweepOne reads a document in every way, and reports whether it is a table.
func sweepOne(t *testing.T, r *rand.Rand) bool {
	t.Helper()
	in := sweepInput(r, "CNNFDLM", "CNFDLMIBYTVQGX@+O", 80)
	sizes := []int{1 + r.IntN(40), 1 + r.IntN(400), 1 + r.IntN(64<<10)}
	table, err := readertest.Check(t, dbf.Format(), in)
	readertest.Same(t, dbf.Format(), in, sizes, workers(), blocks())
	small := in
	small.Limits.BatchRows = 1 + r.IntN(100)
	if r.IntN(2) == 0 {
		small.Limits.BatchRows = 1 + r.IntN(4)
	}
	if err == nil {
		again, err := readertest.Check(t, dbf.Format(), small)
		if err != nil || readertest.Rows(again) != readertest.Rows(table) {
			t.Errorf("batches of %d rows, error %v", small.Limits.BatchRows, err)
		}
		checkSpans(t, small)
	}
	readertest.Same(t, dbf.Format(), small, sizes, workers(), blocks())
	return err == nil
}

// checkSpans reads each chunk again by its span: the columns must be those of the first time.
func checkSpans(t *testing.T, in readertest.Input) {
	t.Helper()
	src, layout := openBeside(t, in)
	defer func() { _ = src.Close() }()
	parser := dbf.Sized(layout, 100, 3, 50)
	read := func(span readers.Span) (chunks []readers.Chunk) {
		_, err := parser.Parse(t.Context(), src, readers.Request{Span: span, Limits: in.Limits},
			func(c readers.Chunk) error {
				chunks = append(chunks, c)
				return nil
			})
		if err != nil {
			t.Errorf("%+v: %v", span, err)
		}
		return chunks
	}
	for _, c := range read(readers.Span{To: -1}) {
		if c.Columns.Rows == 0 {
			continue
		}
		again := read(c.Span)
		if len(again) != 1 || again[0].Columns.Rows != c.Columns.Rows {
			t.Errorf("%q\n%+v again, got %d chunks", in.Text, c.Span, len(again))
			return
		}
		if got, want := columnsText(again[0].Columns, c.Columns), columnsText(c.Columns,
			again[0].Columns); got != want {
			t.Errorf("%q\n%+v again, got\n%s\nwant:\n%s", in.Text, c.Span, got, want)
			return
		}
	}
}

// columnsText returns everything of columns that counts, with types that hold those of others too:
// a chunk may be as wide as the part that its rows were of.
func columnsText(columns, others *geoarrow.Columns) string {
	var b strings.Builder
	for i := range columns.Attributes {
		facts := columns.Attributes[i].Facts.Join(others.Attributes[i].Facts)
		c, ok := columns.Attributes[i].Widen(facts.Resolve(geoarrow.RoleAttribute), columns.Rows)
		if !ok {
			return fmt.Sprintf("%s is needed as text", c.Name)
		}
		fmt.Fprintf(&b, "%q %v rounded %d replaced %d nulls %d valid %x offsets %d values %x\n", c.Name,
			c.Type, c.Rounded, c.Replaced, c.Nulls, c.Valid, c.Offsets, c.Values)
	}
	return b.String()
}

// openBeside opens an input and its siblings.
func openBeside(t *testing.T, in readertest.Input) (*source.File, readers.Layout) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{".dbf": in.Text}
	for ext, text := range in.Siblings {
		files[ext] = text
	}
	for ext, text := range files {
		if err := os.WriteFile(filepath.Join(dir, "a"+ext), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	src, err := source.Open("a.dbf", filepath.Join(dir, "a.dbf"))
	if err != nil {
		t.Fatal(err)
	}
	opts, err := dbf.Format().ParseOptions(in.Options)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := dbf.Format().Open(t.Context(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	return src, layout
}

// sweepInput returns a random table with its siblings and options, of some types of fields, or of
// others if it is one of Visual FoxPro, and fewer records than most.
func sweepInput(r *rand.Rand, kinds, foxKinds string, most int) readertest.Input {
	tab := table{version: []byte{3, 0x83, 0x8B, 0x30, 0x32, 0xF5}[r.IntN(6)]}
	fox := tab.version == 0x30 || tab.version == 0x32
	if fox {
		kinds = foxKinds
	}
	for k := range 1 + r.IntN(6) {
		f := sweepField(r, fmt.Sprint("F", k), kinds[r.IntN(len(kinds))], fox)
		tab.fields, tab.flags = append(tab.fields, f), append(tab.flags, byte(r.IntN(2)*2))
	}
	if fox {
		tab.fields, tab.flags = append(tab.fields, field{"_NullFlags", '0', 2, 0}), append(tab.flags, 1)
	}
	rows, careless := r.IntN(most), r.IntN(3) == 0
	for range rows {
		record := string(" \x00***   "[r.IntN(8)])
		for _, f := range tab.fields {
			record += sweepValue(r, f, careless)
		}
		tab.records = append(tab.records, record)
	}
	in := readertest.Input{Name: "a.dbf", Text: tab.bytes(), Options: map[string]any{}, Siblings: map[string][]byte{}}
	in.Options["on_error"] = []string{"fail", "skip", "null", "repair"}[r.IntN(4)]
	if r.IntN(8) == 0 {
		in.Options["decimal"] = ","
	}
	if r.IntN(4) == 0 {
		in.Options["include_deleted"] = true
	}
	if r.IntN(3) == 0 {
		in.Siblings[".cpg"] = []byte([]string{"UTF-8", "1252", "936", "GB18030", "932", "SYSTEM", ""}[r.IntN(7)])
	}
	memos := []string{"first", "", strings.Repeat("long ", 200), "M\xfcnchen", "é", strings.Repeat("x", 40)}
	switch {
	case r.IntN(8) == 0: // no memo file
	case tab.version == 0x83:
		in.Siblings[".dbt"] = dbt3(memos...)
	case tab.version == 0x8B:
		in.Siblings[".dbt"] = dbt4(512, memos...)
	default:
		in.Siblings[".fpt"] = fpt(64, memos...)
	}
	if r.IntN(4) == 0 {
		in.Limits.MaxFeatureBytes = int64(50 + r.IntN(1500))
	}
	if r.IntN(3) == 0 {
		in.Text = mutated(r, in.Text)
	}
	return in
}

func sweepField(r *rand.Rand, name string, kind byte, fox bool) field {
	f := field{name, kind, 1 + r.IntN(40), 0}
	switch kind {
	case 'N', 'F':
		if r.IntN(2) == 0 {
			f.decimals = r.IntN(min(f.length, 18))
		}
	case 'D':
		f.length = 8
	case 'L':
		f.length = 1
	case 'I', '+':
		f.length = 4
	case 'B', 'Y', 'T', '@', 'O':
		f.length = 8
	case 'M', 'G':
		f.length = 10
		if fox {
			f.length = 4
		}
	}
	return f
}

func sweepValue(r *rand.Rand, f field, careless bool) string {
	if careless && r.IntN(30) == 0 { // anything
		b := make([]byte, f.length)
		for i := range b {
			b[i] = "0123456789 .-+eE\x00*TF\xff\xc3\xa9a"[r.IntN(24)]
		}
		return string(b)
	}
	switch f.kind {
	case 'N', 'F', 'D', 'L':
		for {
			if v := randomValue(r, f); careless {
				return v
			} else if _, ok := slow(f, v); ok {
				return v
			}
		}
	case 'M', 'G':
		number := []int{0, 1, 2, 3, 8, 9, 10, 20}[r.IntN(8)]
		if f.length == 10 {
			return fmt.Sprintf("%10d", number)
		}
		return string([]byte{byte(number), 0, 0, 0})
	case 'T', '@':
		day, clock := 2440588+r.IntN(20000), r.IntN(86_400_000)
		return string([]byte{
			byte(day), byte(day >> 8), byte(day >> 16), 0, byte(clock), byte(clock >> 8),
			byte(clock >> 16), byte(clock >> 24),
		})
	case 'I', '+', 'B', 'Y', 'O', '0':
		b := make([]byte, f.length)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return string(b)
	case 'V', 'Q':
		return strings.Repeat("x", f.length-1) + string([]byte{byte(r.IntN(f.length))})
	}
	text := []string{"", "abc", "  ab  c", "M\xfcnchen", "é", "\x8b\xab\xd6\xd0", "\x00a\x00b\x00"}[r.IntN(7)]
	return text[:min(len(text), f.length)] + strings.Repeat(" ", max(0, f.length-len(text)))
}

// mutated changes, takes out or puts in a few bytes.
func mutated(r *rand.Rand, text []byte) []byte {
	text = append([]byte(nil), text...)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(text))
		if r.IntN(2) == 0 {
			at = r.IntN(min(len(text), 200))
		}
		switch r.IntN(6) {
		case 0:
			text = text[:at+1]
		case 1:
			text = append(text[:at], text[at+1:]...)
		case 2:
			text = append(text[:at:at], append([]byte{byte(r.Uint32())}, text[at:]...)...)
		default:
			text[at] = []byte{0, 1, 0x20, 0x2A, 0xFF, 0x80, byte(r.Uint32())}[r.IntN(7)]
		}
		if len(text) == 0 {
			return text
		}
	}
	return text
}

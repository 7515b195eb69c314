package dbf_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/dbf"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/source"
)

// dbt3 returns a memo file of dBASE III: each text begins a block of 512 bytes and ends with 0x1A
// twice.
func dbt3(texts ...string) []byte {
	b := make([]byte, 512)
	for _, s := range texts {
		b = append(b, s...)
		b = append(b, 0x1A, 0x1A)
		b = append(b, make([]byte, -len(b)&511)...)
	}
	return b
}

// dbt4 returns one of dBASE IV, with blocks of a size.
func dbt4(block int, texts ...string) []byte {
	b := make([]byte, max(block, 512))
	binary.LittleEndian.PutUint16(b[20:], uint16(block))
	for _, s := range texts {
		b = append(b, 0xFF, 0xFF, 8, 0)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s)+8))
		b = append(b, s...)
		for len(b)%block != 0 {
			b = append(b, 0)
		}
	}
	return b
}

// fpt returns one of FoxPro.
func fpt(block int, texts ...string) []byte {
	b := make([]byte, 512)
	binary.BigEndian.PutUint16(b[6:], uint16(block))
	for _, s := range texts {
		b = binary.BigEndian.AppendUint32(b, 1)
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
		for len(b)%block != 0 {
			b = append(b, 0)
		}
	}
	return b
}

func TestMemos(t *testing.T) {
	pointers := right(10, "1", "", "2", "0")
	memo := func(version byte, values ...string) table {
		tab := column("M", 'M', 10, 0, values...)
		tab.version = version
		return tab
	}
	long := strings.Repeat("0123456789", 10_000)
	for _, tt := range []struct {
		name     string
		t        table
		siblings map[string][]byte
		options  map[string]any
		want     string
	}{
		{
			"B9: dBASE III", memo(0x83, pointers...),
			map[string][]byte{".dbt": dbt3("first", "second\r\nline")},
			nil, "M: string: \"first\" | null | \"second\\r\\nline\" | null\n",
		},
		{
			"a long one", memo(0x83, pointers[:1]...),
			map[string][]byte{".dbt": dbt3(long)},
			nil,
			"M: string: \"" + long + "\"\n",
		},
		{
			"dBASE III without an end", memo(0x83, pointers[:1]...),
			map[string][]byte{".dbt": append(make([]byte, 512), "first"...)},
			nil, "M: string: \"first\"\n",
		},
		{
			"dBASE IV", memo(0x8B, pointers...),
			map[string][]byte{".dbt": dbt4(512, "first", "")},
			nil,
			"M: string: \"first\" | null | \"\" | null\n",
		},
		{
			"dBASE IV, blocks of 1024", memo(0x8B, pointers...),
			map[string][]byte{".dbt": dbt4(1024, "first", strings.Repeat("x", 600))},
			nil,
			"M: string: \"first\" | null | \"" + strings.Repeat("x", 600) + "\" | null\n",
		},
		{
			"FoxPro", memo(0xF5, right(10, "8", "", "9")...),
			map[string][]byte{".fpt": fpt(64, "first", "second")},
			nil, "M: string: \"first\" | null | \"second\"\n",
		},
		{
			"Visual FoxPro",
			table{version: 0x30, fields: []field{{"M", 'M', 4, 0}}, records: []string{
				" \x08\x00\x00\x00",
				" \x00\x00\x00\x00", " \x09\x00\x00\x00", "     ",
			}},
			map[string][]byte{".fpt": fpt(64, "first", "")},
			nil, "M: string: \"first\" | null | \"\" | null\n",
		},
		{"in the code page", memo(0x83, pointers[0]), map[string][]byte{
			".dbt": dbt3("M\xfcnchen"),
			".cpg": []byte("1252"),
		}, nil, "M: string: \"München\"\n"},
		{
			"general, as hexadecimal text",
			table{version: 0x30, fields: []field{{"G", 'G', 4, 0}}, records: []string{" \x08\x00\x00\x00"}},
			map[string][]byte{".fpt": fpt(64, "\x00\xffA")},
			nil, "G: string: \"00ff41\"\n",
		},
		{
			"B of dBASE 5", func() table { t := memo(0x8B, pointers[0]); t.fields[0].kind = 'B'; return t }(),
			map[string][]byte{".dbt": dbt4(512, "\x01\x02")},
			nil, "M: string: \"0102\"\n",
		},
		{
			"no memo file", memo(0x83, pointers...), nil, nil,
			"error: byte 66, record 0, M: the memo is in block 1 of a memo file, and there is none next to the table " +
				"(option memo: ignore reads it without)",
		},
		{"no memo file and no memo", memo(0x83, pointers[1]), nil, nil, "M: string: null\n"},
		{
			"ignored", memo(0x83, pointers...), nil,
			map[string]any{"memo": "ignore"},
			"M: string: null | null | null | null\n",
		},
		{
			"skipped", memo(0x83, pointers[0], pointers[1], pointers[2]),
			map[string][]byte{".dbt": dbt3("first")},
			map[string]any{"on_error": "skip"},
			"M: string: \"first\" | null\nskipped: 1 at [87]\n",
		},
		{
			"after the file", memo(0x83, right(10, "99")...),
			map[string][]byte{".dbt": dbt3("first")},
			nil,
			"error: record 0, M: the memo is in block 99 of a.dbt, which has 1024 bytes in blocks of 512",
		},
		{
			"a pointer that is none", memo(0x83, right(10, "1x")...),
			map[string][]byte{".dbt": dbt3("first")},
			nil, `error: record 0, M: expected the number of a block of the memo file, found "1x"`,
		},
		{
			"a length beyond the file", memo(0x8B, pointers[0]),
			map[string][]byte{".dbt": dbt4(512, strings.Repeat("x", 500))[:1000]},
			nil,
			"error: record 0, M: the memo in block 1 of a.dbt says that it has 500 bytes, the file has 480 after it",
		},
		{
			"a length of less than nothing", memo(0x8B, pointers[0]),
			map[string][]byte{".dbt": append(make([]byte, 512), "\xff\xff\x08\x00\x07\x00\x00\x00"...)},
			nil,
			"error: the memo in block 1 of a.dbt says that it has -1 bytes",
		},
		{
			"a header that is cut", memo(0x83, pointers[0]),
			map[string][]byte{".dbt": make([]byte, 20)},
			nil, "error: byte 0: the memo file a.dbt ends inside of its header",
		},
		{
			"blocks of no bytes", memo(0xF5, pointers[0]),
			map[string][]byte{".fpt": fpt(512)[:512:512]},
			nil, "error: record 0, M: the memo is in block 1 of a.fpt, which has 512 bytes in blocks of 512",
		},
		{
			"blocks of 0 bytes", memo(0xF5, pointers[0]),
			map[string][]byte{".fpt": make([]byte, 600)},
			nil,
			"error: byte 0: the memo file a.fpt says that its blocks have no bytes",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check(t, readertest.Input{Text: tt.t.bytes(), Siblings: tt.siblings, Options: tt.options}, tt.want)
		})
	}
}

func TestMemoLimit(t *testing.T) {
	tab := column("M", 'M', 10, 0, "         1")
	tab.version = 0x83
	for name, text := range map[string][]byte{
		"dBASE III": dbt3(strings.Repeat("x", 5000)),
		"dBASE IV":  dbt4(512, strings.Repeat("x", 5000)),
	} {
		if name == "dBASE IV" {
			tab.version = 0x8B
		}
		in := readertest.Input{
			Text: tab.bytes(), Siblings: map[string][]byte{".dbt": text},
			Limits: readers.Limits{MaxFeatureBytes: 1000},
		}
		check(t, in, "error: a.dbt: the memo in block 1 is beyond the limit 1000 of --max-feature-bytes")
	}
}

// TestMemoAtLimit reads memos that are as long as they may be, and one byte longer: where the end
// is looked for does not matter.
func TestMemoAtLimit(t *testing.T) {
	tab := column("M", 'M', 10, 0, "         1")
	tab.version = 0x83
	for length := int64(500); length < 1600; length += 61 {
		in := readertest.Input{
			Text:     tab.bytes(),
			Siblings: map[string][]byte{".dbt": dbt3(strings.Repeat("x", int(length)))},
			Limits:   readers.Limits{MaxFeatureBytes: length},
		}
		check(t, in, "M: string: \""+strings.Repeat("x", int(length))+"\"\n")
		in.Limits.MaxFeatureBytes--
		check(t, in, "error: a.dbt: the memo in block 1 is beyond the limit")
	}
}

// TestMemoLimitAndErrors asks for what comes first in the file, whichever column it is in.
func TestMemoLimitAndErrors(t *testing.T) {
	tab := table{version: 0x83, fields: []field{{"M", 'M', 10, 0}, {"N", 'N', 1, 0}}}
	for range 9 {
		tab.records = append(tab.records, "           1")
	}
	in := readertest.Input{
		Siblings: map[string][]byte{".dbt": dbt3(strings.Repeat("x", 5000))},
		Limits:   readers.Limits{MaxFeatureBytes: 1000},
	}
	tab.records[7], tab.records[5] = "          11", "           x"
	in.Text = tab.bytes()
	check(t, in, `error: record 5, N: expected a number, found "x"`)
	in.Options = map[string]any{"on_error": "skip"}
	check(t, in, "error: the memo in block 1 is beyond the limit 1000 of --max-feature-bytes")
	tab.records[3] = "          11"
	in.Text, in.Options = tab.bytes(), nil
	check(t, in, "error: the memo in block 1 is beyond the limit 1000 of --max-feature-bytes")
}

// TestVisualFoxPro asks for nulls that are in the hidden field, and for texts of variable length.
func TestVisualFoxPro(t *testing.T) {
	tab := table{
		version: 0x32,
		fields: []field{
			{"I", 'I', 4, 0},
			{"C", 'C', 3, 0},
			{"V", 'V', 4, 0},
			{"B", 'B', 8, 4},
			{"Q", 'Q', 3, 0},
			{"Y", 'Y', 8, 0},
			{"N", 'N', 3, 0},
			{"L", 'L', 1, 0},
			{"T", 'T', 8, 0},
			{"_NullFlags", '0', 2, 0},
		},
		flags: []byte{2, 2, 2, 2, 2, 2, 0, 2, 2, 1},
		// bits: I 0, C 1, V 2 and 3, B 4, Q 5 and 6, Y 7, L 8, T 9
		records: []string{
			" \x05\x00\x00\x00abc" + "xy \x02" + "\x00\x00\x00\x00\x00\x00\xf8\x3f" + "\x01\x02\x02" +
				"\x10\x27\x00\x00\x00\x00\x00\x00" + " 12" + "T" + "\x8d\x3d\x25\x00\x00\x00\x00\x00" + "\x24\x00",
			" \x05\x00\x00\x00abc" + "wxyz" + "\x00\x00\x00\x00\x00\x00\xf8\x3f" + "\x01\x02\x03" +
				"\x10\x27\x00\x00\x00\x00\x00\x00" + "   " + "F" + "\x8d\x3d\x25\x00\x00\x00\x00\x00" + "\x00\x00",
			" \x05\x00\x00\x00abc" + "wxyz" + "\x00\x00\x00\x00\x00\x00\xf8\x3f" + "\x01\x02\x03" +
				"\x10\x27\x00\x00\x00\x00\x00\x00" + "   " + "F" + "\x8d\x3d\x25\x00\x00\x00\x00\x00" + "\xdb\x03",
			" \x00\x00\x00\x00   " + "   \x00" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00" +
				"\x00\x00\x00\x00\x00\x00\x00\x00" + "  0" + " " + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x24\x00",
		},
	}
	check(t, readertest.Input{Text: tab.bytes()}, `I: int32: 5 | 5 | null | 0
C: string: "abc" | "abc" | null | null
V: string: "xy" | "wxyz" | null | ""
B: float64: 1.5 | 1.5 | null | 0
Q: string: "0102" | "010203" | null | ""
Y: decimal(19, 4): 1.0000 | 1.0000 | null | 0.0000
N: int32: 12 | null | null | 0
L: bool: true | false | null | null
T: timestamp[ms]: 1970-01-02T00:00:00 | 1970-01-02T00:00:00 | null | null
`)
	tab.records[0] = strings.Replace(tab.records[0], "xy \x02", "xy \x04", 1)
	check(t, readertest.Input{Text: tab.bytes()},
		"error: record 0, V: the last byte says that the value has 4 bytes, expected less than the field's 4")
	// Without the hidden field nothing says which values are null.
	tab = table{
		version: 0x30, fields: []field{{"I", 'I', 4, 0}}, flags: []byte{2},
		records: []string{" \x05\x00\x00\x00"},
	}
	check(t, readertest.Input{Text: tab.bytes()}, "I: int32: 5\n")
}

// A pointer of four bytes is a number, whose bytes may be those of blanks: 32 is one.
func TestMemoBlockOfBlanks(t *testing.T) {
	memo := func(block int, values ...string) readertest.Input {
		tab := table{version: 0x30, fields: []field{{"M", 'M', 4, 0}}, records: values}
		return readertest.Input{Text: tab.bytes(), Siblings: map[string][]byte{".fpt": fpt(block, "first", "second")}}
	}
	check(t, memo(16, "     ", " \x20\x00\x00\x00", " \x21\x00\x00\x00"), "M: string: null | \"first\" | \"second\"\n")
}

// sharing returns a table of which all records have the same memos, in n columns.
func sharing(columns, records, memoBytes int) readertest.Input {
	tab := table{version: 0x83}
	for i := range columns {
		tab.fields = append(tab.fields, field{fmt.Sprintf("M%d", i), 'M', 10, 0})
	}
	for range records {
		tab.records = append(tab.records, " "+strings.Repeat("         1", columns))
	}
	return readertest.Input{
		Name: "a.dbf", Text: tab.bytes(),
		Siblings: map[string][]byte{".dbt": dbt3(strings.Repeat("x", memoBytes))},
	}
}

// TestSharedMemos: any number of records may have the same memo, so what a batch holds of it is
// counted, and not what the files have.
func TestSharedMemos(t *testing.T) {
	in := sharing(2, 1000, 10_000) // 20 MB of memos in 33 KB
	in.Limits = readers.Limits{BatchBytes: 1 << 20, PartBytes: 10_000}
	table, err := readertest.Check(t, dbf.Format(), in)
	if err != nil {
		t.Fatal(err)
	}
	// the last one begins below 2^20 bytes: 20,000 of memos and 21 of the table a row
	if got := table.Batches[0].Rows; got != 53 {
		t.Errorf("the first batch has %d rows, want 53", got)
	}
	for i, b := range table.Batches {
		if got, want := b.Bytes(), int64(1<<20+30_000); got > want {
			t.Errorf("batch %d has %d bytes, want at most %d", i, got, want)
		}
	}
	for _, rows := range []int{7, 50} {
		in.Limits.BatchRows = rows
		readertest.Same(t, dbf.Format(), in, []int{1, 100, 5000}, workers(), blocks())
	}
}

// TestSharedMemosEnd: what a worker reads in one go ends when the memos of its records pass some
// parts' worth.
func TestSharedMemosEnd(t *testing.T) {
	in := sharing(3, 1000, 10_000)
	folder := t.TempDir()
	for name, text := range map[string][]byte{"a.dbf": in.Text, "a.dbt": in.Siblings[".dbt"]} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	src, err := source.Open("a.dbf", filepath.Join(folder, "a.dbf"), dbf.Format().Siblings...)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	opts, err := dbf.Format().ParseOptions(nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := dbf.ReadHeader(t.Context(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.NewReader(src, readers.Limits{PartBytes: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	for at := int64(0); at < 990; {
		run, err := r.ReadSome(t.Context(), at, 1000)
		if err != nil || run.To != at+14 || run.Columns.Rows != 14 || len(run.SiblingBytes) != 14 ||
			run.SiblingBytes[13] != 14*30_000 {
			t.Fatalf("from record %d: to %d, %d rows, next to %v, %v: want 14 rows", at, run.To,
				run.Columns.Rows, run.SiblingBytes, err)
		}
		at = run.To
	}
}

// TestMemosOfOneRecord: many memos of one record are together a row, whose length is bounded.
func TestMemosOfOneRecord(t *testing.T) {
	in := sharing(3, 5, 400)
	in.Limits.MaxFeatureBytes = 1200
	if _, err := readertest.Check(t, dbf.Format(), in); err != nil {
		t.Error(err)
	}
	in.Limits.MaxFeatureBytes--
	check(t, in, "error: a.dbt: the memos of one record, M2 the last of them, is beyond the limit 1199 of "+
		"--max-feature-bytes")
}

package dbf_test

import (
	"context"
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

// with changes bytes of a file.
func with(text []byte, at int, b ...byte) []byte {
	copy(text[at:], b)
	return text
}

func TestHeader(t *testing.T) {
	two := table{fields: []field{{"N", 'N', 2, 0}, {"C", 'C', 1, 0}}, records: []string{" 01a", " 02b"}}
	change := func(f func(*table)) table {
		tab := two
		f(&tab)
		return tab
	}
	const values = "N: int32: 1 | 2\nC: string: \"a\" | \"b\"\n"
	skip := map[string]any{"on_error": "skip"}
	for _, tt := range []struct {
		name    string
		text    []byte
		options map[string]any
		want    string
	}{
		{"as it should be", two.bytes(), nil, values},
		{"an end mark", change(func(t *table) { t.rest = []byte{0x1A} }).bytes(), nil, values},
		{"B14: no 0x0D", change(func(t *table) { t.behind = []byte{} }).bytes(), nil, values},
		{"B14: a backlink", change(func(t *table) {
			t.version, t.behind = 0x30, append([]byte{0x0D}, make([]byte, 263)...)
		}).bytes(), nil, values},
		{"B14: a backlink and no 0x0D", change(func(t *table) {
			t.version, t.behind = 0x30, []byte(strings.Repeat("x", 263))
		}).bytes(), nil, values},
		{"bytes after the fields", change(func(t *table) {
			t.behind = []byte("\x0dC\x00 what else")
		}).bytes(), nil, values},
		{"zeros after the fields", change(func(t *table) { t.behind = make([]byte, 33) }).bytes(), nil, values},
		{"bytes after the last field of a record", change(func(t *table) {
			t.records, t.length = []string{" 01axy", " 02bxy"}, 6
		}).bytes(), nil, values},
		{"fewer records in the header", change(func(t *table) {
			t.promised = 1
		}).bytes(), nil, "N: int32: 1\nC: string: \"a\"\n"},
		{"B11: more records in the header", change(func(t *table) {
			t.promised = 5
		}).bytes(), nil, "error: a.dbf: dbf: byte 4: the header promises 5 records of 4 bytes, the file has room for 2"},
		{"B11: skipped", change(func(t *table) { t.promised = 5 }).bytes(), skip, values + "skipped: 3 at [105]\n"},
		{"B11: skipped after a malformed one", change(func(t *table) {
			t.promised = 5
			t.records = []string{" 01a", " x1a", " 02b"}
		}).bytes(), skip, values + "skipped: 3 at [101 109]\n"},
		{
			"B11: all records there are", with(two.bytes(), 4, 0xff, 0xff, 0xff, 0xff), nil,
			"error: the header promises 4294967295 records",
		},
		{
			"a cut record", two.bytes()[:97+7], nil,
			"error: byte 4: the header promises 2 records of 4 bytes, the file has room for 1",
		},
		{"empty", nil, nil, "error: byte 0: the file ends inside of the header"},
		{"31 bytes", two.bytes()[:31], nil, "error: byte 31: the file ends inside of the header"},
		{"no field", table{}.bytes(), nil, "error: byte 32: the header has no field"},
		{
			"a header of 32 bytes", table{behind: []byte{}}.bytes(), nil,
			"error: byte 8: the header says that it is 32 bytes long, which leaves no room for a field",
		},
		{
			"a header beyond the file", with(two.bytes(), 8, 0xff, 0x7f), nil,
			"error: byte 8: the header says that it is 32767 bytes long, the file has 105",
		},
		{
			"records of 0 bytes", with(two.bytes(), 10, 0, 0), nil,
			"error: byte 10: the header says that a record has no bytes",
		},
		{
			"records shorter than their fields", with(two.bytes(), 10, 3, 0), nil,
			"error: byte 10: the fields take 4 bytes with the deletion flag, the header says that a record has 3",
		},
		{
			"more empty fields than bytes", table{
				fields:  []field{{"A", 'C', 0, 0}, {"B", 'N', 0, 0}},
				records: []string{" "},
			}.bytes(), nil,
			"error: byte 10: 2 fields have no bytes, more than records of 1 bytes may have",
		},
		{
			"encrypted", with(two.bytes(), 15, 1), nil,
			"error: byte 15: the table is encrypted; save it without encryption",
		},
		{
			"dBASE 7", with(two.bytes(), 0, 4, 0, 0, 0, 0, 0, 0, 0, 0xff, 0x7f), nil,
			"tables of dBASE 7 are not read, save it as dBASE 5",
		},
		{
			"dBASE II", with(two.bytes(), 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0), nil,
			"tables of dBASE II and FoxBASE are not read, save it as dBASE III",
		},
		{
			"text", []byte(strings.Repeat("id,name\n", 20)), nil,
			"error: byte 8: the header says that it is 25705 bytes long",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if strings.HasPrefix(tt.want, "tables") {
				tt.want = "error: " + tt.want
			}
			check(t, readertest.Input{Text: tt.text, Options: tt.options}, tt.want)
		})
	}
}

func TestFieldNames(t *testing.T) {
	for _, tt := range []struct {
		name  string
		names []string
		want  string
	}{
		{"B12: repeated", []string{"A", "A", "B", "A"}, "A A_1 B A_2"},
		{"B12: a number that is taken", []string{"A", "A_1", "A"}, "A A_1 A_2"},
		{"B12: empty", []string{"", " ", "B"}, "field_1 field_2 B"},
		{"case counts", []string{"a", "A"}, "a A"},
		{"among blanks", []string{" A ", "B\x00garbage"}, "A B"},
		{"eleven bytes", []string{"ABCDEFGHIJK"}, "ABCDEFGHIJK"},
		{"in the code page", []string{"Stra\xdfe"}, "Straße"},
		{"geometry", []string{"geometry", "id"}, "geometry id"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tab := table{records: []string{" "}}
			for _, n := range tt.names {
				tab.fields = append(tab.fields, field{n, 'C', 1, 0})
				tab.records[0] += "x"
			}
			read, err := readertest.Check(t, dbf.Format(), readertest.Input{Name: "a.dbf", Text: tab.bytes()})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range read.Batches[0].Attributes {
				got = append(got, c.Name)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestLongTexts asks for the second byte of a text's length, B12, and for what else is there.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("abcdefgh", 75)
	check(t, readertest.Input{Text: column("C", 'C', 600, 0, long).bytes()}, `C: string: "`+long+"\"\n")
	check(t, readertest.Input{Text: column("C", 'C', 5, 3, "abcde").bytes()}, "C: string: \"abcde\"\n")
	both := table{
		fields:  []field{{"C", 'C', 300, 0}, {"N", 'N', 2, 1}},
		records: []string{" " + strings.Repeat("x", 299) + "y.5"},
	}
	both.records[0] = " " + strings.Repeat("x", 300) + ".5"
	check(t, readertest.Input{Text: both.bytes()}, `C: string: "`+strings.Repeat("x", 300)+"\"\nN: float64: 0.5\n")
}

// TestBeyond2GiB reads records after byte 2^31, and 2^32, of a file with a hole, B13.
func TestBeyond2GiB(t *testing.T) {
	const length = 4000
	tab := table{fields: []field{{"N", 'N', 20, 0}, {"C", 'C', length - 21, 0}}}
	last := int64(1)<<32/length + 10
	tab.promised, tab.behind = int(last)+1, nil
	path := filepath.Join(t.TempDir(), "big.dbf")
	head := tab.bytes()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	record := " " + strings.Repeat(" ", 8) + "123456789012" + "end" + strings.Repeat(" ", length-24)
	if _, err := f.Write(head); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(record), int64(len(head))+last*length); err != nil {
		t.Skip("no such large file here: ", err)
	}
	src, err := source.Open("big.dbf", path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	opts, err := dbf.Format().ParseOptions(nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := dbf.ReadHeader(context.Background(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.NewReader(src, readers.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := r.Read(context.Background(), last-1, last+1)
	if err != nil {
		t.Fatal(err)
	}
	n, c := &run.Columns.Attributes[0], &run.Columns.Attributes[1]
	if run.Columns.Rows != 2 || n.Nulls != 1 || geoarrow.View[int64](n.Values)[1] != 123456789012 ||
		string(c.Values) != "end" || run.Starts[1] != int64(len(head))+last*length {
		t.Errorf("got %d rows, %d, %q at %d", run.Columns.Rows, geoarrow.View[int64](n.Values), c.Values, run.Starts)
	}
}

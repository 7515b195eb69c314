package xlsx_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/xlsx"
)

const related = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"

// book returns a workbook with one sheet of the given rows. Parts replace or add to its own.
func book(t testing.TB, rows string, parts map[string]string) []byte {
	t.Helper()
	all := map[string]string{
		"xl/workbook.xml": `<workbook><sheets><sheet name="S" r:id="a"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="a" Type="` + related +
			`worksheet" Target="s.xml"/><Relationship Id="b" Type="` + related +
			`sharedStrings" Target="strings.xml"/><Relationship Id="c" Type="` + related +
			`styles" Target="styles.xml"/></Relationships>`,
		"xl/s.xml": "<worksheet><sheetData>" + rows + "</sheetData></worksheet>",
	}
	for name, text := range parts {
		all[name] = text
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range []string{
		"xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/strings.xml", "xl/styles.xml", "xl/s.xml",
	} {
		if all[name] == "" {
			continue
		}
		part, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(all[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func texts(values ...string) string {
	return `<row><c t="str"><v>` + strings.Join(values, `</v></c><c t="str"><v>`) + "</v></c></row>"
}

// Each case is a defect and a part of its error.
func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name, rows, want string
		parts            map[string]string
	}{
		{"row out of order", `<row r="2"/><row r="2"/>`, `the number "2" of a row`, nil},
		{"row beyond the last", `<row r="1048577"/>`, `the number "1048577" of a row`, nil},
		{"row after the last", `<row r="1048576"/><row/>`, "more than 1048576 rows", nil},
		{"column beyond the last", `<row><c r="XFE1"/></row>`, "more than 16384 columns", nil},
		{"cell of another row", `<row r="1"><c r="A2"/></row>`, `the reference "A2"`, nil},
		{"type of no cell", `<row><c t="q"><v>1</v></c></row>`, `S!A1: "q" is not a type`, nil},
		{"no shared strings", `<row><c t="s"><v>0</v></c></row>`, "S!A1", nil},
		{"boolean", `<row><c t="b"><v>2</v></c></row>`, "not a boolean", nil},
		{"number", `<row><c><v>0x1</v></c></row>`, "not a number", nil},
		{"infinity", `<row><c><v>1e999</v></c></row>`, "", nil},
		{"not XML", `<row><c></row>`, "", nil},
		{"document type", "", "document type", map[string]string{"xl/s.xml": "<!DOCTYPE x><worksheet/>"}},
		{"another root", "", "root element <worksheet>", map[string]string{"xl/s.xml": "<x/>"}},
		{"no sheet", "", "no worksheet", map[string]string{"xl/workbook.xml": "<workbook/>"}},
		{
			"sheet without a part", "", `the relationship "z" is missing`,
			map[string]string{"xl/workbook.xml": `<workbook><sheets><sheet name="S" r:id="z"/></sheets></workbook>`},
		},
		{"sheet that is not there", "", `no member "xl/s.xml"`, map[string]string{"xl/s.xml": ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := readertest.Input{Name: "a.xlsx", Text: book(t, test.rows, test.parts)}
			table, err := readertest.Parse(t, xlsx.Format(), in)
			if err == nil {
				if test.want != "" {
					t.Fatalf("got a table, want %q:\n%s", test.want, readertest.Rows(table))
				}
				return
			}
			at, wrong := readertest.Place(err)
			if wrong != nil || at == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, %v, want %q", err, wrong, test.want)
			}
		})
	}
}

// A column that differs far below is text, in every batch; a wide row comes late.
func TestManyRows(t *testing.T) {
	var rows strings.Builder
	rows.WriteString(texts("n", "m"))
	for i := range 300 {
		fmt.Fprintf(&rows, "<row><c><v>%d</v></c><c><v>%d</v></c></row>", i, i)
	}
	rows.WriteString(`<row r="500">` + strings.TrimPrefix(texts("x", "y", "z"), "<row>"))
	for _, size := range []int{0, 7, 100, 301} {
		in := readertest.Input{Name: "a.xlsx", Text: book(t, rows.String(), nil)}
		in.Limits.BatchRows = size
		table, err := readertest.Check(t, xlsx.Format(), in)
		if err != nil {
			t.Fatal(err)
		}
		if table.Rows != 499 || len(table.Batches[0].Attributes) != 3 {
			t.Errorf("batches of %d: %d rows, %d columns", size, table.Rows, len(table.Batches[0].Attributes))
		}
		if a := table.Batches[0].Attributes[0]; a.Name != "n" || a.Type.String() != "utf8" {
			t.Errorf("batches of %d: column %s %s", size, a.Name, a.Type)
		}
	}
}

// A gap of a million rows in a file of a kilobyte is a table of nulls, or beyond the limit of memory.
func TestGap(t *testing.T) {
	text := book(t, texts("a")+`<row r="1048576"><c><v>1</v></c></row>`, nil)
	table, err := readertest.Parse(t, xlsx.Format(), readertest.Input{Name: "a.xlsx", Text: text})
	if err != nil || table.Rows != 1048576 {
		t.Fatalf("%v, %v", table, err)
	}
	wide := book(t, `<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>`, nil)
	in := readertest.Input{Name: "a.xlsx", Text: wide, Limits: readers.Limits{Memory: 1 << 20}}
	if _, err = readertest.Parse(t, xlsx.Format(), in); err == nil || !strings.Contains(err.Error(), "--memory") {
		t.Errorf("a sheet of 2^34 cells: %v", err)
	}
}

// Many shared strings unpack from a small file, up to a limit.
func TestSharedStrings(t *testing.T) {
	text := "<sst>" + strings.Repeat("<si/>", 1<<16) + "<si><t>last</t></si></sst>"
	in := readertest.Input{Name: "a.xlsx", Text: book(t, `<row><c t="s"><v>65536</v></c></row>`,
		map[string]string{"xl/strings.xml": text})}
	table, err := readertest.Parse(t, xlsx.Format(), in)
	if err != nil || !strings.Contains(readertest.Rows(table), `"last"`) {
		t.Fatalf("%v, %v", table, err)
	}
}

// Very many columns of one name that may be the geometry take no more time than others.
func TestEqualNames(t *testing.T) {
	names := make([]string, 16384)
	for i := range names {
		names[i] = "geom"
	}
	in := readertest.Input{
		Name: "a.xlsx", Text: book(t, texts(names...)+texts("x"), nil), Options: map[string]any{"header": "true"},
	}
	table, err := readertest.Parse(t, xlsx.Format(), in)
	if err != nil || len(table.Batches[0].Attributes) != len(names) {
		t.Fatal(err)
	}
	if got := table.Batches[0].Attributes[16383].Name; got != "geom_16383" {
		t.Errorf("the last column is called %s", got)
	}
}

// Parts are found by their names in any case, and with backslashes.
func TestNamesOfParts(t *testing.T) {
	in := readertest.Input{Name: "a.xlsx", Text: book(t, texts("a", "b")+texts("x", "y"), nil)}
	want, err := readertest.Parse(t, xlsx.Format(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/s.xml"} {
		for _, name := range []string{strings.ReplaceAll(part, "/", `\`), strings.ToUpper(part)} {
			other := in
			other.Text = bytes.ReplaceAll(in.Text, []byte(part), []byte(name))
			got, err := readertest.Parse(t, xlsx.Format(), other)
			if err != nil || readertest.Rows(got) != readertest.Rows(want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

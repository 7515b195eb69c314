package readertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
)

var update = flag.Bool("update", false, "write testdata/*.want again")

// Variant is another parser of the format, or the same one with other settings: it must give the
// tables and errors of Format.CPU, byte for byte.
type Variant struct {
	Name string
	// Parser reads the file readBytes at a time; 0: any number.
	Parser func(layout readers.Layout, readBytes int) readers.Parser
}

// smallBytes is the maximum size of a golden file that is cut at every byte.
const smallBytes = 2048

// Run reads every file of testdata that is of the format, and checks
//
//	golden      the table or error of <case>.want, and a line about it in testdata/README.md
//	canonical   slices as geoarrow.Columns promises them, that become Arrow records
//	batches     the same rows, types and counts, whatever Limits.BatchRows
//	again       the same batches, each read by itself
//	projected   the same of some columns as of all, on every variant
//	truncated   a table or an error for every beginning of a small file
//	first       the outcome of the CPU engine on every variant, where some rows of a small file come first
//	variants    the outcome of the CPU engine, with reads of every size of a small file
//
// The last three are not for bundles, which take longer to open. A file <case>.options next to it
// holds the options, as in a ticket.
func Run(t *testing.T, f readers.Format, variants ...Variant) {
	readme, err := os.ReadFile("testdata/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range goldens(t, f) {
		t.Run(g.name, func(t *testing.T) {
			if !strings.Contains(string(readme), "`"+g.name+"`") {
				t.Errorf("testdata/README.md does not say where %s comes from", g.name)
			}
			in := g.input(g.text)
			in.Options = options(t, g)
			table := checkGolden(t, f, in, g)
			if table != nil {
				t.Run("batches", func(t *testing.T) { checkBatches(t, f, in, table) })
				t.Run("again", func(t *testing.T) { checkAgain(t, f, in) })
			}
			t.Run("projected", func(t *testing.T) { checkProjections(t, f, in, variants) })
			if len(g.text) > smallBytes || g.members != nil {
				return
			}
			t.Run("truncated", func(t *testing.T) { checkTruncated(t, f, in) })
			t.Run("first", func(t *testing.T) { checkFirst(t, f, in, variants) })
			for _, v := range variants {
				t.Run(v.Name, func(t *testing.T) { checkVariant(t, f, in, v) })
			}
		})
	}
}

func options(t *testing.T, g golden) (given map[string]any) {
	t.Helper()
	text, err := os.ReadFile(stem(g.path) + ".options")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, &given)
	}
	if err != nil {
		t.Fatal(err)
	}
	return given
}

func stem(path string) string { return path[:strings.LastIndexByte(path, '.')] }

// checkGolden compares with <case>.want, or writes it. It returns the table, if there is one.
func checkGolden(t *testing.T, f readers.Format, in Input, g golden) *readers.Table {
	t.Helper()
	table, err := Parse(t, f, in)
	got := ""
	if err != nil {
		got = "error: " + err.Error() + "\n"
		if wrong := checkError(f, in, err); wrong != nil {
			t.Error(wrong)
		}
	} else {
		got = Rows(table)
		if wrong := Canonical(table); wrong != nil {
			t.Error(wrong)
		}
	}
	path := stem(g.path) + ".want"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return table
	}
	want, readErr := os.ReadFile(path)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if got != string(want) {
		t.Errorf("%s\ngot:\n%s\nwant:\n%s", clip(g.text), got, want)
	}
	return table
}

// checkError returns the defects of a file's error.
func checkError(f readers.Format, in Input, err error) error {
	e, wrong := Place(err)
	if wrong != nil || e == nil || e.Err == nil { // nil inside of a LimitError
		return wrong
	}
	if name, ok := strings.CutPrefix(e.Name, in.Name+"/"); ok && in.Members[name] != nil {
		in.Name, in.Text = e.Name, in.Members[name]
	}
	text, says := e.Err.Error(), err.Error()
	switch {
	case e.Name != in.Name || e.Format != f.Name || e.Unit != f.Unit:
		return fmt.Errorf("name %q, format %q, unit %q in %q", e.Name, e.Format, e.Unit, says)
	case e.Text != "": // the offset is not one of the file
	case e.Offset < 0 || e.Offset > int64(len(in.Text)):
		return fmt.Errorf("offset %d in a file of %d bytes: %q", e.Offset, len(in.Text), says)
	case e.Line != 0 && e.Line != 1+int64(bytes.Count(in.Text[:e.Offset], []byte{'\n'})):
		return fmt.Errorf("line %d for byte %d: %q", e.Line, e.Offset, says)
	case e.Row < -1:
		return fmt.Errorf("row %d: %q", e.Row, says)
	case text == "" || strings.HasSuffix(text, "."):
		return fmt.Errorf("no text, or a full stop: %q", text)
	}
	return nil
}

// checkBatches reads with other batch sizes: only the bounds of batches may differ.
func checkBatches(t *testing.T, f readers.Format, in Input, table *readers.Table) {
	t.Helper()
	want := Rows(table)
	for _, rows := range []int{1, 2, 3, 7, 64} {
		in.Limits.BatchRows = rows
		again, err := Parse(t, f, in)
		if err != nil {
			t.Errorf("%s\nbatches of %d rows: %v", clip(in.Text), rows, err)
			continue
		}
		if got := Rows(again); got != want {
			t.Errorf("%s\nbatches of %d rows\ngot:\n%s\nwant:\n%s", clip(in.Text), rows, got, want)
		}
		if wrong := Canonical(again); wrong != nil {
			t.Errorf("%s\nbatches of %d rows: %v", clip(in.Text), rows, wrong)
		}
		for i, b := range again.Batches {
			if b.Rows != rows && i < len(again.Batches)-1 {
				t.Errorf("%s\nbatches of %d rows: batch %d has %d", clip(in.Text), rows, i, b.Rows)
			}
		}
	}
}

// checkTruncated reads every beginning of the file.
func checkTruncated(t *testing.T, f readers.Format, in Input) {
	t.Helper()
	whole := in.Text
	for n := range whole {
		in.Text = whole[:n]
		if _, _ = Check(t, f, in); t.Failed() {
			return
		}
	}
}

// Check reads any text, checks for a canonical table or an error with a position, and returns the
// outcome.
func Check(t testing.TB, f readers.Format, in Input) (*readers.Table, error) {
	t.Helper()
	table, err := Parse(t, f, in)
	wrong := error(nil)
	if err != nil {
		wrong = checkError(f, in, err)
	} else {
		wrong = Canonical(table)
	}
	if wrong != nil {
		t.Errorf("%q: %v", clip(in.Text), wrong)
	}
	return table, err
}

// checkVariant reads with reads of every size, with the default batches and with small ones.
func checkVariant(t *testing.T, f readers.Format, in Input, v Variant) {
	t.Helper()
	every, some := []int{}, []int{}
	for size := range len(in.Text) + 1 {
		every = append(every, size)
		if size <= 64 || size%16 == 0 {
			some = append(some, size)
		}
	}
	Same(t, f, in, every, v)
	for _, rows := range []int{1, 2} {
		in.Limits.BatchRows = rows
		Same(t, f, in, some, v)
	}
}

// Same reads an input with the variants, readBytes at a time, and compares with the outcome of the
// CPU engine. It stops at the first difference.
func Same(t testing.TB, f readers.Format, in Input, readBytes []int, variants ...Variant) {
	t.Helper()
	r := openInput(t, f, in)
	defer r.close(t)
	want := outcome(r.read(nil, in.Limits))
	for _, v := range variants {
		for _, size := range readBytes {
			got := outcome(r.read(func(l readers.Layout) readers.Parser { return v.Parser(l, size) }, in.Limits))
			if !bytes.Equal(got, want) {
				t.Errorf("%s\n%s, reads of %d bytes, batches of %d rows (0: default)\ngot:\n%s\nwant:\n%s",
					clip(in.Text), v.Name, size, in.Limits.BatchRows, clip(got), clip(want))
				return
			}
		}
	}
}

// clip bounds what a failure prints.
func clip(text []byte) []byte {
	const most = 4000
	if len(text) <= most {
		return text
	}
	return fmt.Appendf(nil, "%s … %d bytes … %s", text[:most/2], len(text)-most, text[len(text)-most/2:])
}

// errorModes are the values of on_error.
var errorModes = [4]string{"fail", "skip", "null", "repair"}

// Fuzz reads texts that the fuzzer derives from the files of testdata. Any text gives a canonical
// table or an error with a position, the same for every variant, size of reads and size of batches.
func Fuzz(f *testing.F, format readers.Format, variants ...Variant) {
	var files []golden
	for _, g := range goldens(f, format) {
		for _, one := range g.each() {
			if text := one.bytes(); len(text) <= smallBytes || one.replaced != "" {
				f.Add(text, uint8(4*len(files)), uint8(16))
				files = append(files, one)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, name, size uint8) {
		like := files[int(name/4)%len(files)]
		in := like.input(text)
		if mode := errorModes[name%4]; mode != "fail" {
			in.Options = map[string]any{"on_error": mode}
		}
		table, err := Check(t, format, in)
		if err == nil {
			in.Limits.BatchRows = 1 + int(size)%5
			again, err := Parse(t, format, in)
			if err != nil {
				t.Fatalf("%q, batches of %d rows: %v", text, in.Limits.BatchRows, err)
			}
			if got, want := Rows(again), Rows(table); got != want {
				t.Fatalf("%q, batches of %d rows\ngot:\n%s\nwant:\n%s", text, in.Limits.BatchRows, got, want)
			}
			in.Limits = readers.Limits{}
		}
		// a megabyte, byte by byte, would take a minute
		Same(t, format, in, []int{(1 + int(size)) * (1 + len(text)/4096)}, variants...)
	})
}

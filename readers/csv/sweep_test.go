package csv_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/source"
)

// TestSweep reads random files, half of them broken, in windows, parts and batches of random sizes,
// and its chunks again: tables, counts and errors must be the same.
func TestSweep(t *testing.T) {
	readertest.Sweep(t, 1000, func(seed uint64) bool {
		d := newSweepDocument(seed)
		table := sweepOne(t, d)
		if t.Failed() {
			d.shrink(t)
		}
		return table
	})
}

// sweepOne reads a file in every way, and reports whether it is a table.
func sweepOne(t testing.TB, d sweepDocument) bool {
	t.Helper()
	f := csv.Format()
	in := readertest.Input{Name: "dir/a.csv", Text: d.text, Options: d.options, Limits: d.limits}
	in.Limits.Workers = 1
	if !hasOptions(t, f, in) { // a column of that name is not there
		return false
	}
	table, err := parseSweep(t, f, in)
	if err == nil {
		bare := in
		bare.Limits.BatchRows, bare.Limits.BatchBytes = 0, 0
		whole, err := readertest.Parse(t, f, bare)
		if err != nil || readertest.Rows(whole) != readertest.Rows(table) {
			t.Errorf("%v\nin batches, got:\n%s\nwant:\n%s\n%v", d, readertest.Rows(table), readertest.Rows(whole), err)
			return true
		}
		if table.Summary.Skipped.Count == 0 && onlyGuesses(table) {
			other := in
			other.Options = maps.Clone(in.Options)
			other.Options["on_error"] = map[any]any{
				nil: "skip", "skip": "fail", "null": "fail",
				"repair": "skip",
			}[in.Options["on_error"]]
			again, err := readertest.Parse(t, f, other)
			if err != nil || readertest.Rows(again) != readertest.Rows(table) {
				t.Errorf("%v\non_error: %v, got: %v\nwant:\n%s", d, other.Options["on_error"], err,
					readertest.Rows(table))
				return true
			}
		}
		checkSpans(t, f, in)
	}
	readertest.Same(t, f, in, d.windows, variants[0])
	readertest.Same(t, f, in, d.parts, variants[1])
	readertest.Same(t, f, in, d.windows, variants[2])
	return err == nil
}

// onlyGuesses reports whether every mode counts the deviations of a table.
func onlyGuesses(t *readers.Table) bool {
	return t.Summary.Deviations.Count == t.Summary.Deviations.Rules["guessed-geometry"]
}

// parseSweep is readertest.Parse with a look at what comes: a canonical table or an error of
// the contract.
func parseSweep(t testing.TB, f readers.Format, in readertest.Input) (*readers.Table, error) {
	t.Helper()
	table, err := readertest.Parse(t, f, in)
	wrong := error(nil)
	if err != nil {
		_, wrong = readertest.Place(err)
	} else {
		wrong = readertest.Canonical(table)
	}
	if wrong != nil {
		t.Errorf("%q: %v", in.Text, wrong)
	}
	return table, err
}

// hasOptions reports whether the file has what its options name.
func hasOptions(t testing.TB, f readers.Format, in readertest.Input) bool {
	t.Helper()
	src, opts := openSweep(t, f, in)
	defer func() { _ = src.Close() }()
	_, err := f.Open(context.Background(), src, opts)
	e := (*readers.OptionError)(nil)
	return !errors.As(err, &e)
}

func openSweep(t testing.TB, f readers.Format, in readertest.Input) (*source.File, readers.Options) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, in.Text, 0o666); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open(in.Name, path)
	if err != nil {
		t.Fatal(err)
	}
	opts, err := f.ParseOptions(in.Options)
	if err != nil {
		t.Fatal(err)
	}
	return src, opts
}

// checkSpans reads each chunk again by its span, and all columns as text too: the rows must be
// those of the first time.
func checkSpans(t testing.TB, f readers.Format, in readertest.Input) {
	t.Helper()
	src, opts := openSweep(t, f, in)
	defer func() { _ = src.Close() }()
	layout, err := f.Open(context.Background(), src, opts)
	if err != nil {
		t.Errorf("%q: %v", in.Text, err)
		return
	}
	p := f.CPU(layout)
	read := func(span readers.Span, limits readers.Limits) (chunks []readers.Chunk) {
		_, err := p.Parse(context.Background(), src, readers.Request{Span: span, Limits: limits},
			func(c readers.Chunk) error {
				chunks = append(chunks, c)
				return nil
			})
		if err != nil {
			t.Errorf("%q\n%+v: %v", in.Text, span, err)
		}
		return chunks
	}
	text := func(c readers.Chunk) string {
		rows := int64(c.Columns.Rows)
		return readertest.Rows(&readers.Table{
			Format: f.Name, Rows: rows, Starts: []int64{0, rows},
			Batches: []*geoarrow.Columns{c.Columns},
		})
	}
	for _, c := range read(readers.Span{To: -1}, in.Limits) {
		if c.Columns.Rows == 0 {
			continue
		}
		again := read(c.Span, in.Limits)
		if len(again) != 1 || text(again[0]) != text(c) {
			t.Errorf("%q\n%+v again, got %d chunks, want:\n%s", in.Text, c.Span, len(again), text(c))
			return
		}
		span := c.Span
		span.Text = nil
		for i := range c.Columns.Attributes {
			span.Text = append(span.Text, c.Columns.Attributes[i].ID())
		}
		again = read(span, readers.Limits{})
		if len(again) != 1 || again[0].Columns.Rows != c.Columns.Rows {
			t.Errorf("%q\n%+v as text, got %d chunks", in.Text, span, len(again))
			return
		}
	}
}

// shrink takes pieces out of a file that failed as long as it still does, and prints it.
func (d sweepDocument) shrink(t *testing.T) {
	fails := func(text []byte) bool {
		probe := &silent{TB: t}
		e := d
		e.text = text
		sweepOne(probe, e)
		return probe.failed
	}
	for size := len(d.text) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(d.text); {
			if shorter := slices.Concat(d.text[:at], d.text[at+size:]); fails(shorter) {
				d.text = shorter
			} else {
				at += size
			}
		}
	}
	t.Logf("shrunk, %v", d)
	sweepOne(t, d)
}

// silent is a test whose failures are only noted.
type silent struct {
	testing.TB
	failed bool
}

func (s *silent) Helper()               {}
func (s *silent) Errorf(string, ...any) { s.failed = true }
func (s *silent) Error(...any)          { s.failed = true }

package kml_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/source"
)

// TestSweep reads random documents, most of them with mistakes, in windows, parts and batches of
// random sizes, and its chunks again: tables, counts and errors must be the same.
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

// sweepOne reads a document in every way, and reports whether it is a table.
func sweepOne(t testing.TB, d sweepDocument) bool {
	t.Helper()
	f := d.how.format()
	in := readertest.Input{Name: "dir/a.kml", Text: d.text, Options: d.how.options, Limits: d.how.limits}
	in.Limits.Workers = 1
	table, err := parseSweep(t, f, in)
	if err == nil {
		bare := in
		bare.Limits.BatchRows, bare.Limits.BatchBytes = 0, 0
		whole, err := parseSweep(t, f, bare)
		if err != nil || readertest.Rows(whole) != readertest.Rows(table) {
			t.Errorf("%s\nin batches, got:\n%s\nwant:\n%s\n%v", d.text, readertest.Rows(table),
				readertest.Rows(whole), err)
			return true
		}
		checkSpans(t, f, in)
	}
	readertest.Same(t, f, in, d.windows, d.how.variant(windows))
	readertest.Same(t, f, in, d.parts, d.how.variant(parallel))
	return err == nil
}

// parseSweep is readertest.Check, where a layer that is missing is no error to be checked.
func parseSweep(t testing.TB, f readers.Format, in readertest.Input) (*readers.Table, error) {
	t.Helper()
	table, err := readertest.Parse(t, f, in)
	if err != nil {
		if _, wrong := readertest.Place(err); wrong != nil && !errors.Is(err, readers.ErrNoLayer) {
			t.Errorf("%s\n%v", in.Text, wrong)
		}
		return nil, err
	}
	if wrong := readertest.Canonical(table); wrong != nil {
		t.Errorf("%s\n%v", in.Text, wrong)
	}
	return table, nil
}

// checkSpans reads each chunk again by its span, and all columns as text too: the rows must be
// those of the first time.
func checkSpans(t testing.TB, f readers.Format, in readertest.Input) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.kml")
	if err := os.WriteFile(path, in.Text, 0o666); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open(in.Name, path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	opts, err := f.ParseOptions(in.Options)
	if err != nil {
		t.Fatal(err)
	}
	p := f.CPU(readers.Layout{Options: opts})
	read := func(span readers.Span, limits readers.Limits) (chunks []readers.Chunk) {
		_, err := p.Parse(context.Background(), src, readers.Request{Span: span, Limits: limits},
			func(c readers.Chunk) error {
				chunks = append(chunks, c)
				return nil
			})
		if err != nil {
			t.Errorf("%s\n%+v: %v", in.Text, span, err)
		}
		return chunks
	}
	text := func(c readers.Chunk) string {
		return readertest.Rows(&readers.Table{
			Format: f.Name, Rows: int64(c.Columns.Rows),
			Starts: []int64{0, int64(c.Columns.Rows)}, Batches: []*geoarrow.Columns{c.Columns},
		})
	}
	for _, c := range read(readers.Span{To: -1}, in.Limits) {
		if c.Columns.Rows == 0 {
			continue
		}
		again := read(c.Span, in.Limits)
		if len(again) != 1 || text(again[0]) != text(c) {
			t.Errorf("%s\n%+v again, got %d chunks:\n%s\nwant:\n%s", in.Text, c.Span, len(again),
				text(again[0]), text(c))
			return
		}
		span := c.Span
		span.Text = nil
		for i := range c.Columns.Attributes {
			span.Text = append(span.Text, c.Columns.Attributes[i].ID())
		}
		again = read(span, readers.Limits{})
		if len(again) != 1 || again[0].Columns.Rows != c.Columns.Rows {
			t.Errorf("%s\n%+v as text, got %d chunks", in.Text, span, len(again))
			return
		}
	}
}

// shrink takes pieces out of a document that failed as long as it still does, and prints it.
func (d sweepDocument) shrink(t *testing.T) {
	fails := func(text []byte) bool {
		probe := &silent{TB: t}
		e := d
		e.text = text
		defer func() { _ = recover() }()
		sweepOne(probe, e)
		return probe.failed
	}
	text := d.text
	for size := len(text) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(text); {
			if shorter := slices.Concat(text[:at], text[at+size:]); fails(shorter) {
				text = shorter
			} else {
				at += size
			}
		}
	}
	d.text = bytes.Clone(text)
	t.Logf("shrunk, %+v, windows %d, parts %d:\n%s", d.how, d.windows, d.parts, d.text)
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

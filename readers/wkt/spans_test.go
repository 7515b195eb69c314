package wkt_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/source"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// open returns a text as a file, and the CPU engine that reads it.
func open(t *testing.T, text string, options map[string]any) (*source.File, readers.Parser) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.wkt")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open("a.wkt", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close() })
	f := wkt.Format()
	opts, err := f.ParseOptions(options)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := f.Open(t.Context(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	return src, f.CPU(layout)
}

// parse returns the chunks of a span.
func parse(t *testing.T, p readers.Parser, src *source.File, span readers.Span, limits readers.Limits) []readers.Chunk {
	t.Helper()
	var chunks []readers.Chunk
	_, err := p.Parse(t.Context(), src, readers.Request{Span: span, Limits: limits}, func(c readers.Chunk) error {
		chunks = append(chunks, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return chunks
}

// dump returns the columns of a chunk, in which a NaN is like another.
func dump(c readers.Chunk) string {
	return fmt.Sprintf("%d rows, %v, %+v", c.Columns.Rows, c.Columns.Attributes, *c.Columns.Geometry)
}

// A chunk is read again from its Span, and the rows from a chunk on.
func TestSpans(t *testing.T) {
	const text = "\xEF\xBB\xBFPOINT(1 2)\nLINESTRING Z(1 2 3,4 5 6);x\nSRID=4326;POLYGON((0 0,1 0,1 1,0 " +
		"0))\n\nNULL\nSRID=4326;POINT EMPTY\r\nMULTIPOINT(1 2,\n3 4);GEOMETRYCOLLECTION(POINT(1 2))"
	src, p := open(t, text, map[string]any{"on_error": "skip"})
	for _, limits := range []readers.Limits{
		{Workers: 1, BatchRows: 1},
		{Workers: 1, BatchRows: 3},
		{Workers: 3, BatchRows: 2, PartBytes: 11},
		{Workers: 2, BatchRows: 100, PartBytes: 20},
		{Workers: 2, BatchBytes: 25, PartBytes: 20},
	} {
		chunks := parse(t, p, src, readers.Span{To: -1}, limits)
		for i, c := range chunks {
			again := parse(t, p, src, c.Span, limits.Unbatched())
			if len(again) != 1 || dump(again[0]) != dump(c) {
				t.Errorf("%+v: chunk %d, %+v: got %d chunks again\n%s\nwant\n%s", limits, i, c.Span,
					len(again), dump(again[0]), dump(c))
			}
			rest := parse(t, p, src, readers.Span{From: c.Span.From, To: -1, Row: c.Span.Row, State: c.Span.State},
				limits)
			for k := range rest {
				if want := chunks[i+k]; dump(rest[k]) != dump(want) || rest[k].Span.From != want.Span.From ||
					rest[k].Span.Row != want.Span.Row {
					t.Errorf("%+v: from chunk %d on: chunk %d is %+v, want %+v", limits, i, i+k,
						rest[k].Span, want.Span)
				}
			}
			if i+len(rest) != len(chunks) {
				t.Errorf("%+v: from chunk %d on there are %d chunks", limits, i, len(rest))
			}
		}
	}
}

func TestErrorsOfOthers(t *testing.T) {
	src, p := open(t, strings.Repeat("POINT(1 2)\n", 100), nil)
	for _, limits := range []readers.Limits{{Workers: 1, BatchRows: 10}, {Workers: 3, BatchRows: 10, PartBytes: 50}} {
		stop := errors.New("stop")
		_, err := p.Parse(t.Context(), src, readers.Request{Span: readers.Span{To: -1}, Limits: limits},
			func(readers.Chunk) error {
				return stop
			})
		if !errors.Is(err, stop) {
			t.Errorf("%+v: got %v of emit", limits, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = p.Parse(ctx, src, readers.Request{Span: readers.Span{To: -1}, Limits: limits},
			func(readers.Chunk) error {
				return nil
			})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%+v: got %v of a cancelled context", limits, err)
		}
	}
}

// One row of several windows and parts, between short ones.
func TestLongRow(t *testing.T) {
	var b strings.Builder
	b.WriteString("POINT(1 2)\nPOLYGON((")
	for i := range 60_000 {
		b.WriteString([]string{"-81.415421 29.565149,", "1 2 ,", "\n5.5 7, "}[i%3])
	}
	b.WriteString("0 0))\nPOINT(3 4)\n")
	in := readertest.Input{Name: "a.wkt", Text: []byte(b.String()), Limits: readers.Limits{Workers: 1}}
	table, err := readertest.Check(t, wkt.Format(), in)
	if err != nil || table.Rows != 3 || table.Positions != 60_003 {
		t.Fatalf("got %v", err)
	}
	readertest.Same(t, wkt.Format(), in, []int{100_003, 300_000}, variants[0], variants[2])
}

package readertest

import (
	"bytes"
	"context"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// First returns a variant that reads the rows before an offset first. letOn: the others may begin
// at once; otherwise they wait for the whole lease.
func First(v Variant, end int64, letOn bool) Variant {
	rest := make(chan struct{})
	if letOn {
		close(rest)
	}
	of := v.Parser
	v.Name += ", some rows first"
	v.Parser = func(l readers.Layout, readBytes int) readers.Parser {
		return first{of(l, readBytes), &readers.First{End: end, Rest: rest}}
	}
	return v
}

type first struct {
	readers.Parser
	what *readers.First
}

func (p first) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	req.First = p.what
	return p.Parser.Parse(ctx, src, req, emit)
}

// Engine is that of the parser.
func (p first) Engine() string { return readers.EngineOf(p.Parser) }

// checkFirst reads some rows first, on every variant: the outcome is the same.
func checkFirst(t *testing.T, f readers.Format, in Input, variants []Variant) {
	t.Helper()
	r := openInput(t, f, in)
	defer r.close(t)
	in.Limits.BatchRows = 3
	want := outcome(r.read(nil, in.Limits))
	for _, v := range variants {
		for part := range 4 {
			v := First(v, int64(len(in.Text)*(part+1)/5), part > 0)
			if got := outcome(r.read(func(l readers.Layout) readers.Parser {
				return v.Parser(l, 16)
			}, in.Limits)); !bytes.Equal(got, want) {
				t.Errorf("%s\n%s, %d of 5 parts\ngot:\n%s\nwant:\n%s", clip(in.Text), v.Name, part+1,
					clip(got), clip(want))
				return
			}
		}
	}
}

package kernels_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
)

// StructureDepth gives what BracketDepth gives with the strings that QuoteParity finds.
func TestStructureDepth(t *testing.T) {
	r := open(t)
	texts := [][]byte{bytes.Repeat([]byte("[{"), 30000)}
	for _, n := range sizes {
		texts = append(texts, random(uint64(n), n, `"\[]{}:, x1`))
	}
	for i, text := range texts {
		carry := kernels.StructureCarry{Depth: int64(i) * 3, Quote: kernels.QuoteCarry{Inside: uint32(i) % 2, Escaped: uint32(i) % 3 & 1}}
		quotes := carry.Quote
		want := depthOf(r, text, quoteParity(text, '"', kernels.QuoteEscaped, &quotes), kernels.StructureBrackets(), upload(r, []kernels.DepthCarry{{Depth: carry.Depth}}))
		x, err := kernels.AllocStructure(r.s, len(text))
		r.ok(err)
		got, err := kernels.AllocDepth(r.s, len(text)+i*64, kernels.StructureBrackets())
		r.ok(err)
		r.ok(r.k.ParseStructure(r.s, upload(r, text), x, upload(r, []kernels.StructureCarry{carry})))
		r.ok(r.k.StructureDepth(r.s, x, got))
		sameMask(t, "open", text, read(r, got.Open), read(r, want.Open))
		sameMask(t, "close", text, read(r, got.Close), read(r, want.Close))
		if !slices.Equal(read(r, got.Base), read(r, want.Base)) {
			t.Fatalf("the depths of %d bytes differ", len(text))
		}
		stack := make([]byte, carry.Depth)
		gotReport, err := r.k.CheckBrackets(r.s, got, upload(r, stack))
		r.ok(err)
		wantReport, err := r.k.CheckBrackets(r.s, want, upload(r, stack))
		r.ok(err)
		if len(text) > 0 && gotReport != wantReport {
			t.Fatalf("the brackets of %d bytes: %+v, want %+v", len(text), gotReport, wantReport)
		}
		starts := upload(r, []int64{0, int64(len(text)) / 3, int64(len(text)) / 2})
		gotEnds, wantEnds := poisoned[int64](r, 3), poisoned[int64](r, 3)
		r.ok(r.k.SpanBoundaries(r.s, got, starts, 1, gotEnds))
		r.ok(r.k.SpanBoundaries(r.s, want, starts, 1, wantEnds))
		if got, want := read(r, gotEnds), read(r, wantEnds); !slices.Equal(got, want) {
			t.Fatalf("spans of %d bytes end at %d, want %d", len(text), got, want)
		}
		r.ok(x.Free(r.s))
		r.ok(got.Free(r.s))
	}
	x, err := kernels.AllocStructure(r.s, 64)
	r.ok(err)
	defer func() { r.ok(x.Free(r.s)) }()
	r.ok(r.k.ParseStructure(r.s, upload(r, make([]byte, 64)), x, upload(r, []kernels.StructureCarry{{}})))
	other, err := kernels.AllocDepth(r.s, 64, jsonBrackets)
	r.ok(err)
	defer func() { r.ok(other.Free(r.s)) }()
	if r.k.StructureDepth(r.s, x, other) == nil {
		t.Error("other brackets: no error")
	}
}

package slots

import (
	"fmt"
	"slices"
	"testing"
)

// TestPiecesInOrder has readers ask for pieces of three chunks of one file and one of another:
// files take turns by chunks, and of a file the first chunk is read, whole unless one
// turns up that is before it.
func TestPiecesInOrder(t *testing.T) {
	var p pieces
	for _, f := range []*fill{
		{place: place{"a", 30}, n: 8, each: 4},
		{place: place{"b", 5}, n: 4, each: 4},
		{place: place{"a", 10}, n: 9, each: 4},
	} {
		if rings := p.add(f, 1); rings != nil {
			t.Fatalf("%d rings of none", len(rings))
		}
	}
	var order []string
	next := func() {
		f, at := p.take(nil)
		if f == nil {
			order = append(order, "none")
			return
		}
		order = append(order, fmt.Sprint(f.file, f.at, "+", at))
	}
	next()
	p.add(&fill{place: place{"a", 0}, n: 1, each: 4}, 1) // is before the one that is read
	for range 7 {
		next()
	}
	want := []string{"a10+0", "a0+0", "b5+0", "a10+4", "a10+8", "a30+0", "a30+4", "none"}
	if !slices.Equal(order, want) || len(p.free) != 1 {
		t.Errorf("%q, want %q; %d rings are free, want 1", order, want, len(p.free))
	}
	if p.add(&fill{place: place{"a", 0}}, 0); len(p.fills) > 0 {
		t.Error("a chunk of no pieces waits for readers")
	}
}

// TestPieceLengths has a piece for each reader, but none longer than a buffer and few of a short
// text.
func TestPieceLengths(t *testing.T) {
	p := pieces{buffer: 4 << 20, readers: 10}
	for _, tt := range []struct{ n, each, pieces int }{
		{0, minPiece, 0},
		{1, minPiece, 1},
		{1 << 20, minPiece, 4},
		{20 << 20, 2<<20 + 4<<10, 10},
		{40 << 20, 4 << 20, 10},
		{41 << 20, 4 << 20, 11},
	} {
		if each := p.each(tt.n); each != tt.each || (tt.n+each-1)/each != tt.pieces {
			t.Errorf("%d bytes: %d pieces of %d, want %d of %d", tt.n, (tt.n+each-1)/each, each, tt.pieces, tt.each)
		}
	}
	if small := (&pieces{buffer: 4 << 10, readers: 10}).each(1 << 20); small != 4<<10 {
		t.Errorf("%d bytes in a slot of 4 KiB", small)
	}
}

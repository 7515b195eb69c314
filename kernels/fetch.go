package kernels

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
)

// Piece is a short result on its way to the host.
type Piece struct {
	fetchPiece
}

// fetchPiece is FetchPiece of fetch.cu.
type fetchPiece struct {
	from, to gpu.Pointer[byte]
	bytes    int64
}

// fetchArgs is FetchArgs of fetch.cu.
type fetchArgs struct {
	pieces [fetchPieces]fetchPiece
}

// PieceOf is all of b, on its way to page-locked memory of as many elements.
func PieceOf[T any](to []T, b gpu.Buffer[T]) Piece {
	return Piece{fetchPiece{
		from:  gpu.Cast[byte](b.Pointer()),
		to:    gpu.Cast[byte](gpu.HostPointer(to[:b.Len()])),
		bytes: int64(b.Len()) * int64(unsafe.Sizeof(*new(T))),
	}}
}

// Bytes is how long it is.
func (p Piece) Bytes() int64 { return p.bytes }

const (
	fetchPieces = 8       // of a launch
	fetchBytes  = 8 << 10 // that a block copies at least
	// of a piece at most: more of them would be in the way of other work, and the link is no faster
	fetchBlocks = 16
)

// Fetch copies short results to the host, as Download does each of them: they are there once s has
// come that far. One launch takes eight. A copy of the driver's waits for those that other streams
// have under way in its direction, which may be megabytes; this does not.
//
//	pieces  in any number, of page-locked memory, none upon another
//
// Reads and writes each byte once, over the link.
func (k *Set) Fetch(s *gpu.Stream, pieces []Piece) error {
	w := k.Begin(s, "fetch")
	for len(pieces) > 0 {
		some := pieces[:min(fetchPieces, len(pieces))]
		pieces = pieces[len(some):]
		var args fetchArgs
		longest := int64(0)
		for i, p := range some {
			args.pieces[i] = p.fetchPiece
			longest = max(longest, p.bytes)
		}
		w.Launch("fetch", fetchPieces*min(Blocks(longest, fetchBytes), fetchBlocks), Block, gpu.Struct(&args))
	}
	return w.Done()
}

package kernels

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
)

// Piece is a short result on its way to the host.
type Piece struct {
	from, to gpu.Arg
	bytes    int64
}

// PieceOf is all of b, on its way to page-locked memory of as many elements.
func PieceOf[T any](to []T, b gpu.Buffer[T]) Piece {
	return Piece{b.Arg(), gpu.HostArg(to[:b.Len()]), int64(b.Len()) * int64(unsafe.Sizeof(*new(T)))}
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
		args, longest := make([]gpu.Arg, 3*fetchPieces), int64(0)
		for i, p := range some {
			args[3*i], args[3*i+1], args[3*i+2] = p.from, p.to, gpu.Int(p.bytes)
			longest = max(longest, p.bytes)
		}
		w.Launch("fetch", fetchPieces*min(Blocks(longest, fetchBytes), fetchBlocks), Block, args...)
	}
	return w.Done()
}

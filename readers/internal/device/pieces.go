package device

import (
	"io"

	"github.com/vibeflight/vibeflight/gpu"
)

// Piece is a range of another file that a chunk of rows needs: attributes, or an index.
type Piece struct {
	Src   io.ReaderAt
	At    int64
	Bytes int64
}

// Pieces are Chunks whose rows are in several files.
type Pieces interface {
	Chunks

	// Pieces returns the pieces of the chunk that Bounds returned last. On the device they are
	// Work.Pieces.
	Pieces() []Piece
}

// pieceAlign is the alignment of pieces on a device.
const pieceAlign = 256

// chunkPieces is a chunk and its pieces as one file, which begins where the chunk does.
//
//	chunk  zeros  piece  zeros  piece
//	at            multiples of pieceAlign from there on
type chunkPieces struct {
	at     int64
	pieces []Piece // the chunk first
	starts []int64 // of each, from at on
	bytes  int64
}

// gather puts the pieces after bytes [start, end) of a file.
func gather(src io.ReaderAt, start, end int64, pieces []Piece) *chunkPieces {
	g := &chunkPieces{at: start}
	for _, p := range append([]Piece{{src, start, end - start}}, pieces...) {
		g.bytes += -g.bytes & (pieceAlign - 1)
		g.pieces, g.starts = append(g.pieces, p), append(g.starts, g.bytes)
		g.bytes += p.Bytes
	}
	return g
}

// ReadAt reads bytes from an offset on, not before that of the chunk.
func (g *chunkPieces) ReadAt(p []byte, at int64) (n int, err error) {
	at -= g.at
	for i := 0; i < len(g.pieces) && n < len(p); i++ {
		piece, from := &g.pieces[i], at+int64(n)-g.starts[i]
		for ; from < 0 && n < len(p); from++ { // between two pieces
			p[n] = 0
			n++
		}
		if n == len(p) || from >= piece.Bytes {
			continue
		}
		some := p[n:min(int64(len(p)), int64(n)+piece.Bytes-from)]
		got, err := piece.Src.ReadAt(some, piece.At+from)
		n += got
		if got < len(some) {
			return n, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// of returns the text of the chunk and those of its pieces, in memory that has all of them.
func (g *chunkPieces) of(text gpu.Buffer[byte]) (chunk gpu.Buffer[byte], pieces []gpu.Buffer[byte]) {
	for i, p := range g.pieces {
		pieces = append(pieces, text.Slice(int(g.starts[i]), int(g.starts[i]+p.Bytes)))
	}
	return pieces[0], pieces[1:]
}

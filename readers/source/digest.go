package source

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Digest is a collision-resistant digest of a file's whole content: SHA-256 over the digests of its
// blocks.
//
//	content   │ 4 MiB  │ 4 MiB  │ … │ rest │
//	              │        │           │        SHA-256 of each
//	blocks    │ 32 B   │ 32 B   │ … │ 32 B │
//	              └────────┴───┬───────┘        SHA-256 with the size in front
//	Digest                   32 B
//
// It is a tree of one level, because blocks can be hashed by several cores, and because a caller
// that keeps the blocks can prove that a file that grew begins with its old content: its whole old
// blocks are still there, and only the last one has to be hashed at its old length.
type Digest [sha256.Size]byte

const (
	// BlockBytes is the size of a block, all but the last one of a content.
	BlockBytes = 4 << 20

	// A file is read in pieces that stay in the second cache until they are hashed.
	pieceBytes = 256 << 10

	// No other use of SHA-256 has input that begins with this.
	digestDomain = "vibeflight content 1\n"
)

// DigestOf is the digest of a content of size bytes whose blocks have these digests, 32 bytes each:
//
//	SHA-256("vibeflight content 1\n" ‖ size, 8 bytes little-endian ‖ blocks)
func DigestOf(size int64, blocks []byte) Digest {
	h := sha256.New()
	h.Write([]byte(digestDomain))
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(size)))
	h.Write(blocks)
	return Digest(h.Sum(nil))
}

// With is the digest of a content together with that of a sibling of an extension:
//
//	SHA-256("vibeflight sibling 1\n" ‖ d ‖ sibling ‖ extension)
func (d Digest) With(extension string, sibling Digest) Digest {
	return sha256.Sum256(slices.Concat([]byte("vibeflight sibling 1\n"), d[:], sibling[:], []byte(extension)))
}

// Blocks are the SHA-256 digests of the blocks of bytes [from, to), 32 bytes each: of [from,
// from+BlockBytes) and so on, the last one ending at to. from is a multiple of BlockBytes. The work
// is shared by at most n goroutines (0: as many as there are processors), each with a buffer
// of 256 KiB, which have ended when Blocks returns. The answer does not depend on how many there
// are.
//
// A file that ends before to gives an error that wraps ErrChanged; what is wrong with ctx is seen
// between two reads. BytesRead does not count the bytes.
func (f *File) Blocks(ctx context.Context, from, to int64, workers int) ([]byte, error) {
	if from < 0 || from%BlockBytes != 0 || to < from {
		return nil, fmt.Errorf("%s: no blocks are bytes %d to %d", f.Name, from, to)
	}
	if to > f.Size {
		return nil, f.shorter(f.Size, to)
	}
	n := (to - from + BlockBytes - 1) / BlockBytes
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	blocks := make([]byte, n*sha256.Size)
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(int64(workers), n) {
		running.Go(func() {
			piece := make([]byte, min(pieceBytes, to-from))
			for k := next.Add(1) - 1; k < n; k = next.Add(1) - 1 {
				start := from + k*BlockBytes
				sum, err := f.block(work, start, min(start+BlockBytes, to), piece)
				if err != nil {
					stop(err) // the first one; the others stop because of it
					return
				}
				copy(blocks[k*sha256.Size:], sum[:])
			}
		})
	}
	running.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := context.Cause(work); err != nil {
		return nil, err
	}
	return blocks, nil
}

// block is the digest of bytes [from, to), read through piece.
func (f *File) block(ctx context.Context, from, to int64, piece []byte) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	for from < to {
		if err := ctx.Err(); err != nil {
			return sum, err
		}
		want := piece[:min(int64(len(piece)), to-from)]
		got, err := f.content.ReadAt(want, from)
		h.Write(want[:got])
		from += int64(got)
		if got == len(want) {
			continue
		}
		if err == nil || errors.Is(err, io.EOF) {
			err = f.shorter(from, to)
		}
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}

func (f *File) shorter(end, want int64) error {
	return fmt.Errorf("%s: %w: it ends at byte %d, not %d", f.Name, ErrChanged, end, want)
}

package source

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// digests is what Blocks shall give.
func digests(content []byte) []byte {
	var blocks []byte
	for len(content) > 0 {
		n := min(len(content), BlockBytes)
		sum := sha256.Sum256(content[:n])
		blocks, content = append(blocks, sum[:]...), content[n:]
	}
	return blocks
}

// opened is a file of some content.
func opened(t testing.TB, content []byte) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open("name", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func random(n int) []byte {
	b := make([]byte, n)
	var seed [32]byte
	_, _ = rand.NewChaCha8(seed).Read(b) // never an error
	return b
}

func TestBlocks(t *testing.T) {
	for _, size := range []int{
		0, 1, pieceBytes - 1, pieceBytes, pieceBytes + 1, BlockBytes - 1, BlockBytes, BlockBytes + 1,
		2*BlockBytes - 1, 2 * BlockBytes, 3*BlockBytes + 5,
	} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			content := random(size)
			f := opened(t, content)
			for _, workers := range []int{0, 1, 2, 9} {
				for from := 0; from <= size; from += BlockBytes {
					for _, to := range []int{from, (from + size) / 2, size} {
						got, err := f.Blocks(t.Context(), int64(from), int64(to), workers)
						if want := digests(content[from:to]); err != nil || !bytes.Equal(got, want) {
							t.Errorf("[%d, %d) with %d workers: %x, %v, want %x", from, to, workers, got, err, want)
						}
					}
				}
			}
			if n := f.BytesRead(); n != 0 {
				t.Errorf("%d bytes count as read", n)
			}
		})
	}
}

func TestBlocksOfAFileThatGrew(t *testing.T) {
	content := random(2*BlockBytes + 7)
	const old = BlockBytes + 3
	before, err := opened(t, content[:old]).Blocks(t.Context(), 0, old, 0)
	if err != nil {
		t.Fatal(err)
	}
	now := opened(t, content)
	same, err := now.Blocks(t.Context(), 0, old, 0)
	if err != nil || DigestOf(old, same) != DigestOf(old, before) {
		t.Errorf("it begins with %x, %v, want the old content %x", same, err, before)
	}
	more, err := now.Blocks(t.Context(), BlockBytes, now.Size, 0)
	if err != nil {
		t.Fatal(err)
	}
	whole := append(before[:sha256.Size:sha256.Size], more...)
	if got, want := DigestOf(now.Size, whole), DigestOf(now.Size, digests(content)); got != want {
		t.Errorf("old and new blocks together: %x, want %x", got, want)
	}
}

func TestDigestOf(t *testing.T) {
	// printf 'vibeflight content 1\n\0\0\0\0\0\0\0\0' | sha256sum
	const empty = "c7530aaa1dbbbb3968d2fbc227faedbfdcfc289fbf5a94767ccff8a5c8563d93"
	if d := DigestOf(0, nil); hex.EncodeToString(d[:]) != empty {
		t.Errorf("of nothing: %x, want %s", d, empty)
	}
	blocks := digests([]byte("text"))
	text := "vibeflight content 1\n" + string(binary.LittleEndian.AppendUint64(nil, 4)) + string(blocks)
	if got, want := DigestOf(4, blocks), Digest(sha256.Sum256([]byte(text))); got != want {
		t.Errorf("of a text: %x, want %x", got, want)
	}
	if DigestOf(4, blocks) == DigestOf(5, blocks) {
		t.Error("the size does not count")
	}
}

func TestBlocksRefuses(t *testing.T) {
	for _, tt := range []struct {
		name     string
		from, to int64
		changed  bool
	}{
		{"inside of a block", 1, 10, false},
		{"before the file", -BlockBytes, 10, false},
		{"ends before it begins", BlockBytes, 10, false},
		{"a byte too many", 0, BlockBytes + 11, true},
		{"huge", 0, 1 << 62, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := opened(t, make([]byte, BlockBytes+10))
			blocks, err := f.Blocks(t.Context(), tt.from, tt.to, 0)
			if err == nil || errors.Is(err, ErrChanged) != tt.changed {
				t.Errorf("%x, error %v, want one that wraps ErrChanged: %v", blocks, err, tt.changed)
			}
		})
	}
}

func TestBlocksOfAFileThatWasCut(t *testing.T) {
	for _, size := range []int64{0, 1, BlockBytes, 2*BlockBytes + 1} {
		for _, workers := range []int{1, 4} {
			f := opened(t, make([]byte, 3*BlockBytes))
			if err := os.Truncate(f.Path, size); err != nil {
				t.Fatal(err)
			}
			if blocks, err := f.Blocks(t.Context(), 0, f.Size, workers); !errors.Is(err, ErrChanged) || blocks != nil {
				t.Errorf("cut to %d bytes, %d workers: %x, error %v, want one that wraps ErrChanged",
					size, workers, blocks, err)
			}
		}
	}
}

func TestBlocksStops(t *testing.T) {
	f := opened(t, nil)
	if err := os.Truncate(f.Path, 64<<30); err != nil { // sparse, and too much to be hashed in the time
		t.Skipf("no sparse file of this size: %v", err)
	}
	f.Size = 64 << 30
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := f.Blocks(ctx, 0, f.Size, 3); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want the context's", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := f.Blocks(ctx, 0, f.Size, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	if _, err := f.Blocks(ctx, 0, 0, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("of nothing: error %v, want the context's", err)
	}
}

func TestBytesRead(t *testing.T) {
	f := opened(t, []byte("a text"))
	p := make([]byte, 4)
	for _, tt := range []struct{ off, want int64 }{{0, 4}, {0, 8}, {4, 10}, {6, 10}} {
		_, _ = f.ReadAt(p, tt.off) // an error at the end of the file
		if got := f.BytesRead(); got != tt.want {
			t.Errorf("after a read at %d: %d, want %d", tt.off, got, tt.want)
		}
	}
}

func BenchmarkBlocks(b *testing.B) {
	const size = 16 * BlockBytes
	f := opened(b, random(size))
	for _, workers := range []int{1, 2} {
		b.Run(strconv.Itoa(workers), func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if _, err := f.Blocks(b.Context(), 0, size, workers); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

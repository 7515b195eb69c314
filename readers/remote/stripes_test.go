package remote

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/readers/source"
)

// TestStripes writes and reads random ranges, and compares them with a slice.
func TestStripes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int64{0, 1, 7, 8, 9, 8 * maxStripes, 8*maxStripes + 1, 1000} {
		s, err := newStripes("file", source.UnpackOptions{Dir: t.TempDir()}, size, 8)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, size)
		if n, err := s.WriteAt(want, 0); n != len(want) || err != nil {
			t.Fatalf("size %d: wrote %d bytes, %v", size, n, err)
		}
		for range 200 {
			from := rng.Int64N(size + 1)
			to := from + rng.Int64N(size-from+1)
			for i := from; i < to; i++ {
				want[i] = byte(rng.Uint32())
			}
			if n, err := s.WriteAt(want[from:to], from); n != int(to-from) || err != nil {
				t.Fatalf("size %d: wrote %d of bytes %d to %d, %v", size, n, from, to, err)
			}
			from = rng.Int64N(size + 1)
			got := make([]byte, rng.Int64N(size-from+1))
			n, err := s.ReadAt(got, from)
			if n != len(got) || err != nil || !bytes.Equal(got, want[from:from+int64(n)]) {
				t.Fatalf("size %d: read %d of %d bytes from %d on, %v; or they differ", size, n, len(got), from, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

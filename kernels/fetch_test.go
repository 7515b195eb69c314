package kernels_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
)

func TestFetch(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(3, 4))
	const room = 70_000
	for _, n := range []int{0, 1, 2, 7, 8, 9, 17} {
		host, err := r.Set.Device().AllocPinned(max(1, n) * room)
		r.OK(err)
		got := host.Bytes()
		for i := range got {
			got[i] = 0xA5
		}
		want := bytes.Clone(got)
		var pieces []kernels.Piece
		for i := range n {
			text := make([]byte, []int{0, 1, 7, 8, 9, 63, 64, 65, 2047, 2048, 8192, 8193, 65_536}[rng.IntN(13)]+8)
			for j := range text {
				text[j] = byte(rng.IntN(256))
			}
			from, to := rng.IntN(8), i*room+rng.IntN(2)*rng.IntN(64) // often aligned
			text = text[from:]
			b := kerneltest.Upload(r, append(make([]byte, from), text...)).Slice(from, from+len(text))
			pieces = append(pieces, kernels.PieceOf(got[to:], b))
			copy(want[to:], text)
		}
		r.OK(r.Set.Fetch(r.Stream, pieces))
		r.OK(r.Stream.Synchronize())
		if !bytes.Equal(got, want) {
			t.Errorf("%d pieces: not what was there", n)
		}
		r.OK(host.Free())
	}
}

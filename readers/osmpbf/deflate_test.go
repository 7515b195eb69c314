package osmpbf

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"testing"
)

// pack packs content with a level of compress/zlib.
func pack(t testing.TB, content []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, level)
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// content returns bytes of some size that repeat more or less often.
func content(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	most, far := 1+r.IntN(256), 1+r.IntN(40000)
	for i := range b {
		b[i] = byte(r.IntN(most))
	}
	for i := 0; i < n && far > 1; i += 1 + r.IntN(far) {
		if i > 0 {
			copy(b[i:], b[r.IntN(i):min(n, i+r.IntN(600))])
		}
	}
	return b
}

// TestUnpack unpacks what the standard library packs, and compares damaged data with it.
func TestUnpack(t *testing.T) {
	var d deflater
	levels := []int{
		flate.NoCompression, flate.BestSpeed, 5, flate.BestCompression, flate.HuffmanOnly, flate.DefaultCompression,
	}
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 1950))
		want := content(r, r.IntN(1<<(1+r.IntN(17))))
		data := pack(t, want, levels[r.IntN(len(levels))])
		out := make([]byte, len(want))
		if err := d.unpack(out, data); err != nil || !bytes.Equal(out, want) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for range 3 {
			bad := bytes.Clone(data)
			bad[r.IntN(min(len(bad), 200))] ^= 1 << r.IntN(8)
			if r.IntN(4) == 0 {
				bad = bad[:r.IntN(len(bad))]
			}
			size := len(want) + r.IntN(3) - 1
			out := make([]byte, max(0, size))
			got := d.unpack(out, bad)
			if reference, err := reference(bad, len(out)); (err == nil) != (got == nil) ||
				err == nil && !bytes.Equal(out, reference) {
				t.Fatalf("seed %d, data %x of %d bytes: got %v, want %v", seed, bad[:min(len(bad), 400)],
					len(out), got, err)
			}
		}
	}
}

// reference unpacks data with the standard library; its content must have n bytes.
func reference(data []byte, n int) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, int64(n)+1))
	if err == nil && len(out) != n {
		err = io.ErrUnexpectedEOF
	}
	return out, err
}

// FuzzUnpack compares any data with the standard library.
func FuzzUnpack(f *testing.F) {
	for level := range 9 {
		f.Add(pack(f, content(rand.New(rand.NewPCG(uint64(level), 1)), 2000), level), 2000)
	}
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		n = max(0, min(n, 1<<20))
		out := make([]byte, n)
		var d deflater
		got := d.unpack(out, data)
		want, err := reference(data, n)
		if (err == nil) != (got == nil) || err == nil && !bytes.Equal(out, want) {
			t.Fatalf("%x of %d bytes: got %v, want %v", data, n, got, err)
		}
	})
}

func BenchmarkUnpack(b *testing.B) {
	want := content(rand.New(rand.NewPCG(1, 1)), 1<<20)
	data := pack(b, want, 6)
	out := make([]byte, len(want))
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(want)))
		var d deflater
		for b.Loop() {
			if err := d.unpack(out, data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

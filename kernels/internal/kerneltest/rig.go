// Package kerneltest has what the tests of kernels share.
package kerneltest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
	"github.com/vibeflight/vibeflight/kernels"
)

// Rig is what a test of a primitive works with: the kernels on a device and a stream. Whatever it
// is asked to free is freed at the end.
type Rig struct {
	testing.TB
	Set    *kernels.Set
	Stream *gpu.Stream
}

// Open returns the kernels on the device of this test run.
func Open(t testing.TB) *Rig {
	t.Helper()
	d := gputest.OpenWith(t, gpu.Options{CacheDir: gputest.CacheDir(), Images: kernels.CompiledIn()})
	s := gputest.Stream(t, d)
	k, err := kernels.Load(d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { countLaunches(k) })
	return &Rig{TB: t, Set: k, Stream: s}
}

// OK ends the test on an error.
func (r *Rig) OK(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// Upload returns a buffer with these elements, freed at the end of the test.
func Upload[T any](r *Rig, src []T) gpu.Buffer[T] {
	r.Helper()
	b, err := gpu.Of(r.Stream, src)
	r.OK(err)
	r.Cleanup(func() { Freed(r, b) })
	return b
}

// UploadShort is upload for offsets that members' values have: of a text of less than 4 GiB.
func UploadShort(r *Rig, offsets []int64) gpu.Buffer[uint32] {
	r.Helper()
	short := make([]uint32, len(offsets))
	for i, v := range offsets {
		short[i] = uint32(v)
	}
	return Upload(r, short)
}

// Poisoned returns n elements of garbage, freed at the end of the test.
func Poisoned[T any](r *Rig, n int) gpu.Buffer[T] {
	r.Helper()
	b, err := gpu.Alloc[T](r.Stream, n)
	r.OK(err)
	r.OK(gpu.Fill(r.Stream, b, 0xa5))
	r.Cleanup(func() { Freed(r, b) })
	return b
}

// Freed frees b.
func Freed[T any](r *Rig, b gpu.Buffer[T]) {
	if err := b.Free(r.Stream); err != nil && !r.Failed() {
		r.Errorf("freeing a buffer: %v", err)
	}
}

// Read waits for the elements of b.
func Read[T any](r *Rig, b gpu.Buffer[T]) []T {
	r.Helper()
	out, err := gpu.Read(r.Stream, b)
	r.OK(err)
	return out
}

// Bitmap is the mask of the bytes for which set holds.
func Bitmap(n int, set func(i int) bool) []uint64 {
	m := make([]uint64, kernels.Words(n))
	for i := range n {
		if set(i) {
			m[i/64] |= 1 << (i % 64)
		}
	}
	return m
}

// SameMask compares two masks and shows the first byte at which they differ.
func SameMask(t testing.TB, what string, text []byte, got, want []uint64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d words, want %d", what, len(got), len(want))
	}
	for w := range want {
		if d := got[w] ^ want[w]; d != 0 {
			i := w*64 + BitsTrailing(d)
			t.Fatalf("%s: byte %d of %d is %d, want %d; text around it %s", what, i, len(text),
				got[w]>>(i%64)&1, want[w]>>(i%64)&1, Around(text, i))
		}
	}
}

// BitsTrailing returns the number of trailing zero bits of v.
func BitsTrailing(v uint64) (n int) {
	for ; v&1 == 0; v >>= 1 {
		n++
	}
	return n
}

// Around shows some bytes before and after i.
func Around(text []byte, i int) string {
	return fmt.Sprintf("%q ¦ %q", text[max(0, min(i, len(text))-20):min(i, len(text))],
		text[min(i, len(text)):min(i+20, len(text))])
}

// Sizes are lengths around every bound a kernel may have: warps, words, tiles.
var Sizes = []int{
	0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 2047, 2048,
	2049, 16383, 16384, 16385, 32768, 32769, 50000,
}

// Random returns n bytes drawn from alphabet, the same for the same seed.
func Random(seed uint64, n int, alphabet string) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	text := make([]byte, n)
	for i := range text {
		text[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return text
}

// HostileTexts are texts that break parsers of quotes and escapes, by name.
func HostileTexts() map[string][]byte {
	texts := map[string][]byte{
		"backslashes":          bytes.Repeat([]byte{'\\'}, 40000),
		"an odd one more":      append(bytes.Repeat([]byte{'\\'}, 40001), '"', 'x', '"'),
		"an even one more":     append(bytes.Repeat([]byte{'\\'}, 40000), '"', 'x', '"'),
		"quotes":               bytes.Repeat([]byte{'"'}, 20001),
		"escaped quotes":       bytes.Repeat([]byte(`\"`), 10000),
		"one long string":      []byte(`"` + string(bytes.Repeat([]byte{'x'}, 40000)) + `"[]`),
		"brackets in a string": []byte(`{"a":"` + string(bytes.Repeat([]byte("[{"), 20000)) + `"}`),
		"not UTF-8":            bytes.Repeat([]byte{0xff, 0x80, '"', 0, '\\'}, 5000),
	}
	// Runs of backslashes over every bound of words, warps and tiles, and one shorter and longer.
	for _, run := range []int{1, 2, 3, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 16383, 16384, 16385} {
		for _, at := range []int{0, 1, 62, 63, 64, 2047, 16320, 16383, 16384, 16385} {
			text := bytes.Repeat([]byte{' '}, at)
			text = append(text, bytes.Repeat([]byte{'\\'}, run)...)
			texts[fmt.Sprintf("%d backslashes at %d", run, at)] = append(text, []byte(`"[1,"]":{}`)...)
		}
	}
	return texts
}

package bulk

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestCopy copies around the sizes and addresses where it begins to do so in another way, with
// memory before and after that stays as it is.
func TestCopy(t *testing.T) {
	const most = enough + 4*stride
	src, dst := make([]byte, most+2*align), make([]byte, most+2*align)
	for i := range src {
		src[i] = byte(rand.Uint32())
	}
	sizes := []int{0, 1, align, enough - 1}
	for n := enough; n <= enough+2*stride+1; n += 31 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		for _, at := range []struct{ dst, src int }{{0, 0}, {1, 0}, {0, 1}, {63, 31}, {32, 64}, {64, 7}} {
			for i := range dst {
				dst[i] = 0xa5
			}
			Copy(dst[at.dst:at.dst+n], src[at.src:at.src+n])
			untouched := bytes.Count(dst[:at.dst], []byte{0xa5}) + bytes.Count(dst[at.dst+n:], []byte{0xa5})
			if !bytes.Equal(dst[at.dst:at.dst+n], src[at.src:at.src+n]) || untouched != len(dst)-n {
				t.Fatalf("%d bytes from %d to %d: not the same, or bytes around them changed", n, at.src, at.dst)
			}
		}
	}
}

// TestCopyBytes has less than a stride, which Copy leaves to others.
func TestCopyBytes(t *testing.T) {
	src := []byte("0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz")
	for n := 1; n < len(src); n++ {
		dst := make([]byte, n)
		if copyBytes(dst, src[:n]); !bytes.Equal(dst, src[:n]) {
			t.Errorf("%d bytes: %q", n, dst)
		}
	}
}

// TestCopyElements copies elements of more than a byte, and as many as the shorter of two slices
// has.
func TestCopyElements(t *testing.T) {
	src := make([]float64, enough/8+3)
	for i := range src {
		src[i] = float64(i)
	}
	dst := make([]float64, len(src))
	Copy(dst, src)
	short := make([]float64, len(src)-1)
	Copy(short, src)
	for i, v := range src {
		if dst[i] != v || i < len(short) && short[i] != v {
			t.Fatalf("element %d is %v", i, dst[i])
		}
	}
}

func BenchmarkCopy(b *testing.B) {
	src, dst := bytes.Repeat([]byte{1}, 256<<20), bytes.Repeat([]byte{2}, 256<<20)
	for _, how := range []struct {
		name string
		copy func(dst, src []byte)
	}{{"past", Copy[byte]}, {"through", func(dst, src []byte) { copy(dst, src) }}} {
		for _, n := range []int{128 << 10, 3 << 20} {
			for _, shift := range []int{0, 8} {
				b.Run(fmt.Sprintf("%s/%d+%d", how.name, n, shift), func(b *testing.B) {
					b.SetBytes(int64(n))
					for i := range b.N {
						at := i % (len(src)/n - 1) * n
						how.copy(dst[at+shift:at+shift+n], src[at:at+n])
					}
				})
			}
		}
	}
}

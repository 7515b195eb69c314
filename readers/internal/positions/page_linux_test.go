//go:build amd64 || arm64

package positions

import (
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// TestPage reads texts that are followed by 64 zeros and then by memory that can't be read, each
// cut at every byte.
func TestPage(t *testing.T) {
	if !Have {
		t.Skip("this processor reads no plain positions")
	}
	const page = 4096
	memory, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip("no memory to protect: ", err)
	}
	defer func() { _ = syscall.Munmap(memory) }()
	if err := syscall.Mprotect(memory[page:], syscall.PROT_NONE); err != nil {
		t.Skip("no memory to protect: ", err)
	}
	for _, l := range layouts {
		one := l.opening + "-84.9147001" + l.comma + "26.12345678901" + l.closing
		for _, s := range []string{
			strings.Repeat(one+l.end, 4), strings.Repeat("7", 140), strings.Repeat("-", 140),
			l.opening + strings.Repeat("7", 61) + "." + strings.Repeat("7", 80),
			l.opening + "1." + strings.Repeat("7", 60) + l.comma + strings.Repeat("-", 80),
		} {
			for n := range len(s) + 1 {
				text := memory[page-64-n : page-64]
				copy(text, s)
				var xs, ys [9]float64
				end, count, _ := readPairs(l.wkt, unsafe.Pointer(unsafe.SliceData(text)), xs[:8], ys[:8])
				if end > n || count > 4 || xs[8] != 0 || ys[8] != 0 {
					t.Fatalf("%s: %d positions to byte %d", text, count, end)
				}
			}
		}
	}
}

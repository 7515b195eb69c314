package geoarrow

import (
	"os"
	"runtime"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/internal/system"
)

// TestReserve foresees four times the elements: a ninth more fit in the same memory, but its pages
// are not there before they are written.
func TestReserve(t *testing.T) {
	const n = 1 << 17
	var a Arena
	s := Alloc[int64](&a, n)[:n]
	for i := range s {
		s[i] = int64(i)
	}
	Reserve(&a, &s, 4)
	if len(s) != n || s[n-1] != n-1 {
		t.Fatalf("%d elements, the last one %d", len(s), s[len(s)-1])
	}
	if cap(s) < 4*n*9/8 {
		t.Fatalf("room for %d, want an eighth more than %d", cap(s), 4*n)
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says which pages are there")
	}
	page := os.Getpagesize()
	first, behind := pagesOf(s[:4*n], page), pagesOf(s[4*n:cap(s)], page)
	if system.Resident(first) < len(first) {
		t.Skip("the kernel does not populate")
	}
	if system.Resident(behind) > 0 && !poisoned {
		t.Error("pages after what was foreseen are there")
	}
	there := &s[:1][0]
	s = append(s, make([]int64, 4*n*9/8-n)...)
	if got := HandOver(&a, &s); &got[0] != there {
		t.Error("rows were copied that had room")
	}
}

// pagesOf returns the whole pages of a slice.
func pagesOf(s []int64, page int) []byte {
	b := AsBytes(s)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(page-1))
	return b[skip:][:(len(b)-skip)&^(page-1)]
}

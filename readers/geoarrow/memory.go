package geoarrow

import (
	"slices"
	"syscall"
	"unsafe"
)

// Arena gives a table its memory, from few large blocks of the Go heap that are to be backed by huge pages: first touching a table page by page took a
// seventh of the time to parse it. A block lives as long as any slice of it. The zero value is ready; an Arena serves one goroutine.
type Arena struct {
	Last bool // no chunk follows the one that is finished: HandOver need not prepare for it

	rest  []byte // of the newest block
	block int    // its size
}

// Blocks double from firstBlock to lastBlock. Small tables take no block.
const (
	firstBlock = 1 << 20
	lastBlock  = 32 << 20
	ownSlice   = 32 << 10
)

// madvHugepage is MADV_HUGEPAGE of Linux's madvise(2).
const madvHugepage = 14

// Alloc gives a slice of length 0 and capacity n, at an address that is a multiple of 64.
func Alloc[T Fixed | byte](a *Arena, n int) []T {
	size := n * int(unsafe.Sizeof(*new(T)))
	if size == 0 || a.block == 0 && size < ownSlice {
		return make([]T, 0, n)
	}
	if size > len(a.rest) {
		a.block = max(min(max(2*a.block, firstBlock), lastBlock), size+64)
		a.rest = hugeBlock(a.block)
	}
	b := a.rest[:size]
	a.rest = a.rest[min((size+63)&^63, len(a.rest)):]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)[:0]
}

// hugeBlock gives size bytes from an address on that is a multiple of 64, and asks for huge pages under them. The kernel may decline.
func hugeBlock(size int) []byte {
	b := make([]byte, size)
	page := uintptr(syscall.Getpagesize())
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	if skip := int(-start & (page - 1)); skip < size {
		_ = syscall.Madvise(b[skip:skip+(size-skip)&^int(page-1)], madvHugepage)
	}
	return b[-start&63:]
}

// HandOver gives a finished chunk the slice that collected it, and the collector a new one of the size that the next chunk will need if it is like
// this one. A slice that is much too large is copied instead.
func HandOver[T Fixed | byte](a *Arena, collected *[]T) []T {
	s := *collected
	if len(s) == 0 {
		return nil
	}
	if cap(s)-len(s) > len(s)/8+64 {
		*collected = s[:0]
		return append(Alloc[T](a, len(s)), s...)
	}
	*collected = nil
	if !a.Last {
		*collected = Alloc[T](a, len(s)+len(s)/16+64)
	}
	return slices.Clip(s)
}

// Reserve makes room for times as many elements as the slice has, and a little more: what a whole chunk will need if it goes on like its first part.
func Reserve[T Fixed | byte](a *Arena, collected *[]T, times float64) {
	s := *collected
	if n := int(float64(len(s))*times*17/16) + 64; len(s) > 0 && n > cap(s) {
		*collected = append(Alloc[T](a, n), s...)
	}
}

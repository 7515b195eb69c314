package geoarrow

import (
	"slices"
	"syscall"
	"unsafe"
)

// hugeBytes is from which size on memory is worth a hint to the kernel: two of its huge pages.
const hugeBytes = 4 << 20

// madvHugepage is MADV_HUGEPAGE of Linux's madvise(2).
const madvHugepage = 14

// Make gives a slice of length 0 and capacity n of Go memory. A large one is to be backed by huge pages: first touching a table page by page took 15 %
// of the time to parse it. The kernel may decline.
func Make[T Fixed | byte](n int) []T {
	s := make([]T, n)
	size := n * int(unsafe.Sizeof(*new(T)))
	if size >= hugeBytes {
		page := uintptr(syscall.Getpagesize())
		start := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
		skip := int(-start & (page - 1))
		whole := (size - skip) &^ int(page-1)
		_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(s)), skip)), whole), madvHugepage)
	}
	return s[:0]
}

// HandOver gives a finished chunk the slice that collected it, and the collector a new one of the size that the next chunk will need if it is like
// this one. A slice that is much too large is copied instead.
func HandOver[T Fixed | byte](collected *[]T) []T {
	s := *collected
	if len(s) == 0 {
		return nil
	}
	if cap(s)-len(s) > len(s)/8+64 {
		*collected = s[:0]
		return append(Make[T](len(s)), s...)
	}
	*collected = Make[T](len(s) + len(s)/16 + 64)
	return slices.Clip(s)
}

// Reserve makes room for times as many elements as the slice has, and a little more: what a whole chunk will need if it goes on like its first part.
func Reserve[T Fixed | byte](collected *[]T, times float64) {
	s := *collected
	if n := int(float64(len(s))*times*17/16) + 64; len(s) > 0 && n > cap(s) {
		*collected = append(Make[T](n), s...)
	}
}

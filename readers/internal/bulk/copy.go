// Package bulk copies large blocks of memory that are not read soon, bypassing the caches.
package bulk

import "unsafe"

const (
	enough = 256 << 10 // bytes; fewer are better in a cache
	align  = 64        // of a cache line
	stride = 4 * align
)

// Copy copies src to dst, which has as many elements. They do not overlap, and elements have no
// pointers.
//
// A store that goes through the cache first has the line read that it is about to overwrite, and
// puts out another one. Where many copy at a time, and others read files, the memory is what they
// wait for: on a host of 16 cores that feeds a device, columns took half the time to copy, and
// whole tables 4 to 10 % less.
func Copy[T any](dst, src []T) {
	size := len(src) * int(unsafe.Sizeof(*new(T)))
	if !haveStores || size < enough || len(dst) != len(src) {
		copy(dst, src)
		return
	}
	copyBytes(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), size),
		unsafe.Slice((*byte)(unsafe.Pointer(&src[0])), size))
}

// copyBytes copies up to the first cache line and after the last stride in the common way.
func copyBytes(dst, src []byte) {
	head := min(len(src), int(-uintptr(unsafe.Pointer(&dst[0]))&(align-1)))
	copy(dst, src[:head])
	dst, src = dst[head:], src[head:]
	whole := len(src) &^ (stride - 1)
	copyLines(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)), whole)
	copy(dst[whole:], src[whole:])
}

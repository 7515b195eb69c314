package device

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
)

// Final is Result for elements that are a buffer of a column, or several of them, as they are: nothing
// changes them until the end of the work, on the device or on the host. A table that stays on the
// device gets a copy of what its columns have of them.
func Final[T any](w *Work, b gpu.Buffer[T]) []T {
	out := Result(w, b)
	if len(out) > 0 && !w.Stopped() {
		host := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(out))), len(out)*int(unsafe.Sizeof(out[0])))
		w.keep.Found(host, gpu.AsBytes(b))
	}
	return out
}

// Deliver is Final if final is set, else Result.
func Deliver[T any](w *Work, b gpu.Buffer[T], final bool) []T {
	if final {
		return Final(w, b)
	}
	return Result(w, b)
}

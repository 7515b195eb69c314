package geojson

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
)

// result is page-locked memory for the columns of one chunk, from which slices are cut one behind the other. What does not fit lies on the heap.
type result struct {
	memory *gpu.Pinned // nil: none was free
	rest   []byte
}

// result lends memory, until give. It waits for none: those who have some may be waiting for whoever asks.
func (d *Device) result() *result {
	select {
	case m := <-d.results:
		return &result{memory: m, rest: m.Bytes()}
	default:
		return &result{}
	}
}

// give takes the memory back.
func (d *Device) give(r *result) {
	if r.memory != nil {
		d.results <- r.memory
		r.memory, r.rest = nil, nil
	}
}

// deviceResult has the elements of b copied into the chunk's result; they are there once read has waited for the stream.
func deviceResult[T any](d *deviceRows, b gpu.Buffer[T]) []T {
	if d.stopped() || b.Len() == 0 {
		return nil
	}
	out := cut[T](d.out, b.Len())
	d.try(gpu.Download(d.s, out, b))
	return out
}

// cut takes n elements, at a multiple of 64 bytes.
func cut[T any](r *result, n int) []T {
	bytes := n * int(unsafe.Sizeof(*new(T)))
	if bytes > len(r.rest) {
		return make([]T, n)
	}
	out := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(r.rest))), n)
	r.rest = r.rest[min(len(r.rest), (bytes+63)&^63):]
	return out
}

package geojson

import (
	"sync"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
)

// pinnedStack is free page-locked memory. What was given back last is lent first: it is still in the processor's cache.
type pinnedStack struct {
	mu   sync.Mutex
	free []*gpu.Pinned
}

func (p *pinnedStack) push(m ...*gpu.Pinned) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, m...)
}

// pop gives nil where there is none. Nobody may wait for some: those who have it may be waiting for whoever asks.
func (p *pinnedStack) pop() *gpu.Pinned {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free)
	if n == 0 {
		return nil
	}
	m := p.free[n-1]
	p.free = p.free[:n-1]
	return m
}

// result is page-locked memory for the columns of one chunk, from which slices are cut one behind the other. What does not fit lies on the heap.
type result struct {
	from *pinnedStack
	held []*gpu.Pinned
	rest []byte // of the last one
}

// give takes the memory back.
func (r *result) give() {
	r.from.push(r.held...)
	r.held, r.rest = nil, nil
}

// cut takes n elements, at a multiple of 64 bytes.
func cut[T any](r *result, n int) []T {
	bytes := n * int(unsafe.Sizeof(*new(T)))
	if bytes > len(r.rest) {
		m := r.from.pop()
		if m == nil {
			return make([]T, n)
		}
		r.held = append(r.held, m)
		if bytes > len(m.Bytes()) {
			return make([]T, n)
		}
		r.rest = m.Bytes()
	}
	out := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(r.rest))), n)
	r.rest = r.rest[min(len(r.rest), (bytes+63)&^63):]
	return out
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

package slots

import (
	"sync"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
)

// pinnedStack is free page-locked memory. It lends first what was returned last, which is still in
// the processor's cache.
type pinnedStack struct {
	mu   sync.Mutex
	free []*gpu.PinnedBuffer
}

func (p *pinnedStack) push(m ...*gpu.PinnedBuffer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, m...)
}

// pop returns nil if there is none. Waiting could deadlock: the holders may be waiting for the
// caller.
func (p *pinnedStack) pop() *gpu.PinnedBuffer {
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

// Result is page-locked memory for the columns of one chunk, from which slices are cut one after
// the other. What does not fit is on the heap.
type Result struct {
	from *pinnedStack
	held []*gpu.PinnedBuffer
	rest []byte // of the last one
}

// Give returns the memory. Slices that were cut from it must not be used any more.
func (r *Result) Give() {
	r.from.push(r.held...)
	r.held, r.rest = nil, nil
}

// Cut returns n uninitialized elements, aligned to 64 bytes. Without locked, they are on the heap.
func Cut[T any](r *Result, n int) (out []T, locked bool) {
	bytes := n * int(unsafe.Sizeof(*new(T)))
	if bytes > len(r.rest) {
		m := r.from.pop()
		if m == nil {
			return make([]T, n), false
		}
		r.held = append(r.held, m)
		if bytes > len(m.Bytes()) {
			return make([]T, n), false
		}
		r.rest = m.Bytes()
	}
	out = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(r.rest))), n)
	r.rest = r.rest[min(len(r.rest), (bytes+63)&^63):]
	return out, true
}

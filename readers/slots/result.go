package slots

import (
	"sync"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
)

// pinnedStack is free page-locked memory. What was given back last is lent first: it is still in
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

// pop returns nil if there is none. Nobody may wait for some: those who have it may be waiting
// for a caller that asks.
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

// Give gives the memory back. Nothing that was cut of it may be read any more.
func (r *Result) Give() {
	r.from.push(r.held...)
	r.held, r.rest = nil, nil
}

// Cut takes n elements, at a multiple of 64 bytes. They hold anything. Not locked: they are on the
// heap.
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

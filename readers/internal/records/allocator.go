package records

import (
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Allocator allocates on the Go heap for Arrow's own code, which trusts the lengths in a file. A
// request beyond its limit panics, with an error for Guard, before anything is allocated.
type Allocator struct {
	Most int64 // bytes of all allocations since it was made or reset, including freed ones
	used atomic.Int64
}

// RoomError reports a file that needs more memory than the limit.
type RoomError struct{ Asked, Most int64 }

func (e *RoomError) Error() string {
	return fmt.Sprintf("%d bytes of memory where %d are allowed", e.Asked, e.Most)
}

// Allocate implements memory.Allocator: it returns n bytes.
func (r *Allocator) Allocate(n int) []byte {
	if n < 0 {
		panic(fmt.Errorf("a length of %d bytes", n))
	}
	if used := r.used.Add(int64(n)); used > r.Most || int64(n) > r.Most {
		panic(&RoomError{used, r.Most})
	}
	return memory.DefaultAllocator.Allocate(n)
}

// Reallocate returns n bytes that begin as b does.
func (r *Allocator) Reallocate(n int, b []byte) []byte {
	if n <= cap(b) && n >= 0 {
		return b[:n]
	}
	into := r.Allocate(n)
	copy(into, b)
	return into
}

// Used returns how many bytes were allocated.
func (r *Allocator) Used() int64 { return r.used.Load() }

// Reset sets the use to zero.
func (r *Allocator) Reset() { r.used.Store(0) }

// Free does nothing: the garbage collector frees memory.
func (r *Allocator) Free([]byte) {}

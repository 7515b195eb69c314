package parallel

import "sync"

// FreeList keeps values whose memory serves one part after the other. Several goroutines may use
// it.
type FreeList[T any] struct {
	mu   sync.Mutex
	free []T
}

// Take returns the value that was returned last, or false if there is none.
func (l *FreeList[T]) Take() (v T, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.free)
	if n == 0 {
		return v, false
	}
	v, l.free = l.free[n-1], l.free[:n-1]
	return v, true
}

// Give adds a value that is no longer used.
func (l *FreeList[T]) Give(v T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, v)
}

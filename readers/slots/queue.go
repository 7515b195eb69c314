package slots

import "sync"

// place is the position of a chunk.
type place struct {
	file any
	at   int64
}

func (p place) stands() place { return p }

// foremost returns the next of the waiters for chunks of files, in the order in which they
// asked. Files take turns in that order. Within a file the first chunk is next, since later ones
// are of no use before it.
func foremost[W interface{ stands() place }](waiting []W) int {
	next, first := 0, waiting[0].stands()
	for i, w := range waiting {
		if p := w.stands(); p.file == first.file && p.at < first.at {
			next, first = i, p
		}
	}
	return next
}

// without returns the list without the next waiter, whose place goes to the first waiter of that
// file.
func without[W any](waiting []W, next int) []W {
	waiting[next] = waiting[0]
	return waiting[1:]
}

// queue lends scarce resources to the foremost caller.
type queue[T any] struct {
	mu      sync.Mutex
	free    []T
	waiting []*turn[T] // in the order in which they asked
	shut    bool
}

// turn is a waiter.
type turn[T any] struct {
	place
	got chan T // closed without one when the queue is shut
}

// take waits for a resource, for a chunk at an offset of a file. It returns false if there will be
// none any more.
func (q *queue[T]) take(file any, at int64) (v T, ok bool) {
	q.mu.Lock()
	n := len(q.free)
	switch {
	case q.shut:
		q.mu.Unlock()
		return v, false
	case n > 0:
		v, q.free = q.free[n-1], q.free[:n-1]
		q.mu.Unlock()
		return v, true
	}
	t := &turn[T]{place: place{file, at}, got: make(chan T, 1)}
	q.waiting = append(q.waiting, t)
	q.mu.Unlock()
	v, ok = <-t.got
	return v, ok
}

// give returns a resource, or adds a new one.
func (q *queue[T]) give(v T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.free = append(q.free, v)
		return
	}
	next := foremost(q.waiting)
	t := q.waiting[next]
	q.waiting = without(q.waiting, next)
	t.got <- v
}

// shutDown ends all present and future waits.
func (q *queue[T]) shutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shut = true
	for _, t := range q.waiting {
		close(t.got)
	}
	q.waiting = nil
}

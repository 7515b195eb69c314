package lanes

import (
	"math"
	"sync"
)

// queue lends things that there are few of. Files take turns in the order in which they ask; of one file it is the chunk that stands first which gets what is free,
// since all others are of no use before it.
type queue[T any] struct {
	mu      sync.Mutex
	free    []T
	waiting []*turn[T] // in the order in which they asked
	shut    bool
}

// turn is somebody who waits.
type turn[T any] struct {
	file any
	at   int64
	got  chan T // closed without one when the queue is shut
}

// take waits for one of the things, for a chunk at an offset of a file. Not ok: there will be none any more.
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
	t := &turn[T]{file: file, at: at, got: make(chan T, 1)}
	q.waiting = append(q.waiting, t)
	q.mu.Unlock()
	v, ok = <-t.got
	return v, ok
}

// give takes a thing back, or a new one.
func (q *queue[T]) give(v T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.free = append(q.free, v)
		return
	}
	next, first := 0, int64(math.MaxInt64)
	for i, t := range q.waiting {
		if t.file == q.waiting[0].file && t.at < first {
			next, first = i, t.at
		}
	}
	t := q.waiting[next]
	q.waiting[next] = q.waiting[0] // who asked first for this file waits on in the other's place
	q.waiting = q.waiting[1:]
	t.got <- v
}

// shutDown has everybody who waits, and who asks from now on, go away.
func (q *queue[T]) shutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shut = true
	for _, t := range q.waiting {
		close(t.got)
	}
	q.waiting = nil
}

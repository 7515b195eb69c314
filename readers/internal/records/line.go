package records

import (
	"fmt"
	"runtime/debug"
)

// line runs jobs in parallel and returns their results in order.
type line[T any] struct {
	most    int   // jobs at a time
	room    int64 // for their total size; a single job may be larger
	take    func(T) error
	waiting []chan result[T]
	sizes   []int64
	taken   int64
}

type result[T any] struct {
	value  T
	err    error
	caught any // the job's panic
}

// put begins a job of n bytes, when there is memory.
func (l *line[T]) put(bytes int64, job func() (T, error)) error {
	for len(l.waiting) > 0 && (len(l.waiting) >= l.most || l.taken+bytes > l.room) {
		if err := l.next(); err != nil {
			return err
		}
	}
	done := make(chan result[T], 1)
	l.waiting, l.sizes, l.taken = append(l.waiting, done), append(l.sizes, bytes), l.taken+bytes
	go func() {
		var r result[T]
		defer func() {
			if caught := recover(); caught != nil {
				r.caught = fmt.Sprintf("%v\n%s", caught, debug.Stack())
			}
			done <- r
		}()
		r.value, r.err = job()
	}()
	return nil
}

// next returns the result of the next job.
func (l *line[T]) next() error {
	r := <-l.waiting[0]
	l.taken -= l.sizes[0]
	l.waiting, l.sizes = l.waiting[1:], l.sizes[1:]
	if r.caught != nil {
		panic(r.caught) // in a goroutine that may recover
	}
	if r.err != nil {
		return r.err
	}
	return l.take(r.value)
}

// finish returns all results.
func (l *line[T]) finish() error {
	for len(l.waiting) > 0 {
		if err := l.next(); err != nil {
			return err
		}
	}
	return nil
}

// close waits for all jobs.
func (l *line[T]) close() {
	for _, done := range l.waiting {
		<-done
	}
	l.waiting = nil
}

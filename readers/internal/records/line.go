package records

import (
	"fmt"
	"runtime/debug"
)

// line does jobs side by side and gives their results in the order of the jobs.
type line[T any] struct {
	most    int   // jobs at a time
	room    int64 // for what they take together; one job may take more
	take    func(T) error
	waiting []chan result[T]
	sizes   []int64
	taken   int64
}

type result[T any] struct {
	value  T
	err    error
	caught any // what the job panicked with
}

// put begins a job that takes n bytes, when there is room.
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

// next returns the result of the first job that nobody has taken.
func (l *line[T]) next() error {
	r := <-l.waiting[0]
	l.taken -= l.sizes[0]
	l.waiting, l.sizes = l.waiting[1:], l.sizes[1:]
	if r.caught != nil {
		panic(r.caught) // where somebody may recover
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

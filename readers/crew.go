package readers

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// inParallel runs f in n goroutines, or in this one where n is 1, and waits for them. A panic of one is a panic here, where somebody may recover.
func inParallel(n int, f func()) {
	if n <= 1 {
		f()
		return
	}
	var wg sync.WaitGroup
	var caught caught
	for range n {
		wg.Go(func() {
			defer caught.recover()
			f()
		})
	}
	wg.Wait()
	caught.repeat()
}

// caught is the first panic of some goroutines.
type caught struct {
	once sync.Once
	what any
}

// recover is deferred in each of them.
func (c *caught) recover() {
	if r := recover(); r != nil {
		c.once.Do(func() { c.what = fmt.Sprintf("%v\n%s", r, debug.Stack()) })
	}
}

// repeat panics with it where they were waited for.
func (c *caught) repeat() {
	if c.what != nil {
		panic(c.what)
	}
}

// crew is some goroutines that do what they are given, urgent things first. Each has a T of its own.
type crew[T any] struct {
	urgent, tasks chan func(T)
	wg            sync.WaitGroup
	caught        caught
}

// newCrew starts n goroutines. No more than most tasks of a kind may wait at any time.
func newCrew[T any](n, most int, tool func() T) *crew[T] {
	c := &crew[T]{urgent: make(chan func(T), most), tasks: make(chan func(T), most)}
	for range n {
		c.wg.Go(func() { c.work(tool()) })
	}
	return c
}

func (c *crew[T]) work(tool T) {
	for {
		var task func(T)
		var ok bool
		select {
		case task, ok = <-c.urgent:
		default:
			select {
			case task, ok = <-c.urgent:
			case task, ok = <-c.tasks:
			}
		}
		if !ok {
			return
		}
		task(tool)
	}
}

// close waits for the goroutines; tasks that nobody began are left.
func (c *crew[T]) close() {
	close(c.urgent)
	c.wg.Wait()
}

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

// crew is some goroutines that do what they are given, each with a tool of its own.
type crew[T any] struct {
	tasks chan func(T)
	wg    sync.WaitGroup
}

// newCrew starts a goroutine for each tool. So many tasks may wait.
func newCrew[T any](tools []T, waiting int) *crew[T] {
	c := &crew[T]{tasks: make(chan func(T), waiting)}
	for _, tool := range tools {
		c.wg.Go(func() {
			for task := range c.tasks {
				task(tool)
			}
		})
	}
	return c
}

// close waits for the tasks.
func (c *crew[T]) close() {
	close(c.tasks)
	c.wg.Wait()
}

package readers

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// inParallel runs f in n goroutines, or in this one if n is 1, and waits for them. It repeats a
// panic of one of them, so that the caller can recover.
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

// caught holds the first panic of a group of goroutines.
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

// repeat panics with it in the goroutine that waited.
func (c *caught) repeat() {
	if c.what != nil {
		panic(c.what)
	}
}

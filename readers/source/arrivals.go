package source

import "sync"

// arrivals counts the bytes of a content that come in order while others read it.
type arrivals struct {
	mu    sync.Mutex
	more  sync.Cond // more bytes, the end, or an error
	have  int64     // bytes that came
	ended bool
	err   error
}

func newArrivals() *arrivals {
	a := &arrivals{}
	a.more.L = &a.mu
	return a
}

// add says that n more bytes came. It returns what finish was told.
func (a *arrivals) add(n int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.have += n
	a.more.Broadcast()
	return a.err
}

// finish says that no more bytes come, and why not, if not all came. The first call counts.
func (a *arrivals) finish(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		a.ended, a.err = true, err
	}
	a.more.Broadcast()
}

// over reports whether no more bytes come, and why.
func (a *arrivals) over() (ended bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ended, a.err
}

// count says how many bytes came.
func (a *arrivals) count() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.have
}

// reach waits until n bytes came, or all, and says how many there are; < 0 is all.
func (a *arrivals) reach(n int64) (have int64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for !a.ended && (n < 0 || a.have < n) {
		a.more.Wait()
	}
	return a.have, a.err
}

package inbox

import (
	"context"
	"sync"
)

// nameLocks is a mutex for each name.
type nameLocks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the lock is free
}

// lock waits for the lock of a name. The caller calls unlock.
func (t *nameLocks) lock(ctx context.Context, name string) (unlock func(), err error) {
	for {
		t.mu.Lock()
		other, held := t.held[name]
		if !held {
			mine := make(chan struct{})
			if t.held == nil {
				t.held = map[string]chan struct{}{}
			}
			t.held[name] = mine
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				delete(t.held, name)
				close(mine)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

package fleet

import (
	"context"
	"sync"
	"time"

	fleetstore "github.com/vibeflight/vibeflight/catalog/fleet"
)

const (
	keepersValid   = time.Minute            // an old answer is better than none
	keepersWait    = 100 * time.Millisecond // for an answer of the store
	maxKeepers     = 4096                   // tables whose answers are kept
	maxKeepersAsks = 8                      // calls to the store at a time
)

// keepers remembers which replicas have a table. The store is asked in the background.
type keepers struct {
	ask   func(context.Context, fleetstore.TableKey) ([]string, error)
	fresh time.Duration // for which an answer is not asked for again, and the limit of a call
	slots chan struct{}
	wg    sync.WaitGroup

	mu     sync.Mutex
	closed bool
	tables map[fleetstore.TableKey]*keepersAnswer
}

// keepersAnswer is the last answer of the store for a table. keepers.mu guards it.
type keepersAnswer struct {
	ids    []string
	at     time.Time     // zero: there is none
	asking chan struct{} // closed when the call under way has ended; nil: there is none
}

func newKeepers(ask func(context.Context, fleetstore.TableKey) ([]string, error), fresh time.Duration) *keepers {
	return &keepers{
		ask: ask, fresh: fresh, slots: make(chan struct{}, maxKeepersAsks),
		tables: map[fleetstore.TableKey]*keepersAnswer{},
	}
}

// of returns the replicas that have a table, as far as it is known. With wait, it waits a moment for
// the first answer of the store.
func (k *keepers) of(ctx context.Context, key fleetstore.TableKey, wait bool) []string {
	ids, asking := k.known(key, wait)
	if asking == nil || !wait {
		return ids
	}
	late := time.NewTimer(keepersWait)
	defer late.Stop()
	select {
	case <-asking:
	case <-ctx.Done():
	case <-late.C:
	}
	ids, _ = k.known(key, false)
	return ids
}

// known returns the last answer for a table. With ask, it begins a call to the store unless the
// answer is fresh. It returns a channel if there is no answer that is valid, which is closed with
// the end of the call.
func (k *keepers) known(key fleetstore.TableKey, ask bool) (ids []string, asking <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := k.tables[key]
	if a == nil {
		if !ask {
			return nil, nil
		}
		a = &keepersAnswer{}
		k.makeRoom()
		k.tables[key] = a
	}
	age := time.Since(a.at)
	if ask && age > k.fresh && a.asking == nil && !k.closed {
		select {
		case k.slots <- struct{}{}:
			a.asking = make(chan struct{})
			k.wg.Go(func() { k.update(key, a) })
		default: // an old answer has to do
		}
	}
	if age > keepersValid {
		return nil, a.asking
	}
	return a.ids, nil
}

// makeRoom forgets answers if there are too many. keepers.mu is held.
func (k *keepers) makeRoom() {
	if len(k.tables) < maxKeepers {
		return
	}
	for key, a := range k.tables {
		if a.asking == nil {
			delete(k.tables, key)
		}
	}
}

// update asks the store.
func (k *keepers) update(key fleetstore.TableKey, a *keepersAnswer) {
	defer func() { <-k.slots }()
	ids, err := call(context.Background(), k.fresh, func(ctx context.Context) ([]string, error) {
		return k.ask(ctx, key)
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		a.ids, a.at = ids, time.Now()
	}
	close(a.asking)
	a.asking = nil
}

// wait begins no more calls, and waits for those under way.
func (k *keepers) wait() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.wg.Wait()
}

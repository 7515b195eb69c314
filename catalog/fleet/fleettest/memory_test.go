package fleettest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/catalog/fleet"
)

func TestMemory(t *testing.T) {
	TestStore(t, func(*testing.T) (fleet.Store, Clock) {
		var mu sync.Mutex
		now := time.Unix(1, 0)
		clock := func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(time.Nanosecond)
			return now
		}
		return NewMemory(clock), func(d time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(d)
		}
	})
}

func TestAway(t *testing.T) {
	m := NewMemory(time.Now)
	m.SetAway(true)
	if _, err := m.Replicas(t.Context()); !errors.Is(err, fleet.ErrAway) {
		t.Errorf("replicas of a store that is away: %v", err)
	}
	m.SetAway(false)
	if _, err := m.Replicas(t.Context()); err != nil {
		t.Error(err)
	}
}

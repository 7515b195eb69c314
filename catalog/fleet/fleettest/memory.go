// Package fleettest has a store of a fleet in memory, and the tests that every such store passes.
package fleettest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/catalog/fleet"
)

// Memory is a store in memory, for tests in one process. It is safe for concurrent use.
type Memory struct {
	now func() time.Time

	mu       sync.Mutex
	away     bool
	leases   map[fleet.WorkKey]fleet.Lease // with those that have expired or were released
	replicas map[string]fleet.Replica
	tables   map[fleet.TableKey]map[string]bool // by ID of replica
}

var _ fleet.Store = (*Memory)(nil)

// NewMemory returns an empty store with the given clock.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{
		now: now, leases: map[fleet.WorkKey]fleet.Lease{}, replicas: map[string]fleet.Replica{},
		tables: map[fleet.TableKey]map[string]bool{},
	}
}

// SetAway makes all later calls return fleet.ErrAway, or ends that.
func (m *Memory) SetAway(away bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.away = away
}

// enter locks the store. The caller unlocks it, also after an error.
func (m *Memory) enter(ctx context.Context) error {
	m.mu.Lock()
	if m.away {
		return fmt.Errorf("store in memory: %w", fleet.ErrAway)
	}
	return ctx.Err()
}

// Acquire implements fleet.Leases.
func (m *Memory) Acquire(ctx context.Context, key fleet.WorkKey, owner, name string) (fleet.Lease, bool, error) {
	defer m.mu.Unlock()
	if err := m.enter(ctx); err != nil {
		return fleet.Lease{}, false, err
	}
	now := m.now()
	old := m.leases[key]
	if old.Expires.After(now) {
		return old, false, nil
	}
	l := fleet.Lease{
		Key: key, Name: name, Owner: owner, Epoch: old.Epoch + 1, Expires: now.Add(fleet.LeaseTime),
	}
	m.leases[key] = l
	return l, true, nil
}

// Renew implements fleet.Leases.
func (m *Memory) Renew(ctx context.Context, l fleet.Lease) error {
	defer m.mu.Unlock()
	if err := m.enter(ctx); err != nil {
		return err
	}
	held, ok := m.held(l)
	if !ok {
		return fleet.ErrLost
	}
	held.Progress, held.Expires = l.Progress, m.now().Add(fleet.LeaseTime)
	m.leases[l.Key] = held
	return nil
}

// Release implements fleet.Leases.
func (m *Memory) Release(ctx context.Context, l fleet.Lease) error {
	defer m.mu.Unlock()
	if err := m.enter(ctx); err != nil {
		return err
	}
	if _, ok := m.held(l); ok {
		m.leases[l.Key] = fleet.Lease{Epoch: l.Epoch}
	}
	return nil
}

// held returns the stored lease if it has the owner and the epoch of l.
func (m *Memory) held(l fleet.Lease) (fleet.Lease, bool) {
	held, ok := m.leases[l.Key]
	return held, ok && held.Owner == l.Owner && held.Epoch == l.Epoch
}

// Holds reports whether a lease has its owner and epoch: a record may be written for it.
func (m *Memory) Holds(l fleet.Lease) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.held(l)
	return ok
}

// Holder implements fleet.Leases.
func (m *Memory) Holder(ctx context.Context, key fleet.WorkKey) (fleet.Lease, bool, error) {
	defer m.mu.Unlock()
	if err := m.enter(ctx); err != nil {
		return fleet.Lease{}, false, err
	}
	l := m.leases[key]
	if !l.Expires.After(m.now()) {
		return fleet.Lease{}, false, nil
	}
	return l, true, nil
}

// Announce implements fleet.Members.
func (m *Memory) Announce(ctx context.Context, r fleet.Replica) error {
	defer m.mu.Unlock()
	if err := m.enter(ctx); err != nil {
		return err
	}
	r.Locations, r.Seen = slices.Clone(r.Locations), m.now()
	m.replicas[r.ID] = r
	return nil
}

// Leave implements fleet.Members.
func (m *Memory) Leave(ctx context.Context, id string) error {
	defer m.mu.Unlock()
	if err := m.enter(ctx); err != nil {
		return err
	}
	delete(m.replicas, id)
	for _, keepers := range m.tables {
		delete(keepers, id)
	}
	return nil
}

// Replicas implements fleet.Members.
func (m *Memory) Replicas(ctx context.Context) ([]fleet.Replica, error) {
	defer m.mu.Unlock()
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	var live []fleet.Replica
	for id, r := range m.replicas {
		if m.alive(id) {
			r.Locations = slices.Clone(r.Locations)
			live = append(live, r)
		}
	}
	slices.SortFunc(live, func(a, b fleet.Replica) int { return cmp.Compare(a.ID, b.ID) })
	return live, nil
}

func (m *Memory) alive(id string) bool {
	r, ok := m.replicas[id]
	return ok && m.now().Sub(r.Seen) < fleet.PresenceTime
}

// Keep implements fleet.Members.
func (m *Memory) Keep(ctx context.Context, id string, added, dropped []fleet.TableKey) error {
	defer m.mu.Unlock()
	if err := m.enter(ctx); err != nil {
		return err
	}
	for _, table := range added {
		if m.tables[table] == nil {
			m.tables[table] = map[string]bool{}
		}
		m.tables[table][id] = true
	}
	for _, table := range dropped {
		delete(m.tables[table], id)
	}
	return nil
}

// Keepers implements fleet.Members.
func (m *Memory) Keepers(ctx context.Context, table fleet.TableKey) ([]string, error) {
	defer m.mu.Unlock()
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	ids := slices.Sorted(maps.Keys(m.tables[table]))
	return slices.DeleteFunc(ids, func(id string) bool { return !m.alive(id) }), nil
}

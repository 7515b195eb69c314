package shared

import (
	"context"

	"github.com/vibeflight/vibeflight/catalog/fleet"
)

// Acquire implements fleet.Leases.
func (r *Remote) Acquire(ctx context.Context, key fleet.WorkKey, owner, name string) (
	l fleet.Lease, ok bool, err error,
) {
	err = r.do(ctx, func() error {
		l, ok, err = r.db.Acquire(ctx, key, owner, name)
		return err
	})
	return l, ok, err
}

// Renew implements fleet.Leases.
func (r *Remote) Renew(ctx context.Context, l fleet.Lease) error {
	return r.do(ctx, func() error { return r.db.Renew(ctx, l) })
}

// Release implements fleet.Leases.
func (r *Remote) Release(ctx context.Context, l fleet.Lease) error {
	return r.do(ctx, func() error { return r.db.Release(ctx, l) })
}

// Holder implements fleet.Leases.
func (r *Remote) Holder(ctx context.Context, key fleet.WorkKey) (l fleet.Lease, ok bool, err error) {
	err = r.do(ctx, func() error {
		l, ok, err = r.db.Holder(ctx, key)
		return err
	})
	return l, ok, err
}

// Announce implements fleet.Members.
func (r *Remote) Announce(ctx context.Context, replica fleet.Replica) error {
	return r.do(ctx, func() error { return r.db.Announce(ctx, replica) })
}

// Leave implements fleet.Members.
func (r *Remote) Leave(ctx context.Context, id string) error {
	return r.do(ctx, func() error { return r.db.Leave(ctx, id) })
}

// Replicas implements fleet.Members.
func (r *Remote) Replicas(ctx context.Context) (replicas []fleet.Replica, err error) {
	err = r.do(ctx, func() error {
		replicas, err = r.db.Replicas(ctx)
		return err
	})
	return replicas, err
}

// Keep implements fleet.Members.
func (r *Remote) Keep(ctx context.Context, id string, added, dropped []fleet.TableKey) error {
	return r.do(ctx, func() error { return r.db.Keep(ctx, id, added, dropped) })
}

// Keepers implements fleet.Members.
func (r *Remote) Keepers(ctx context.Context, table fleet.TableKey) (ids []string, err error) {
	err = r.do(ctx, func() error {
		ids, err = r.db.Keepers(ctx, table)
		return err
	})
	return ids, err
}

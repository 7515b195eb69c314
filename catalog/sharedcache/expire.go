package sharedcache

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/vibeflight/vibeflight/catalog/fleet"
)

const (
	// inUse is the age of the last use up to which a table is not removed. It is much longer than
	// touchInterval, so that the records of uses and the clocks of servers may be late.
	inUse = time.Hour

	expireInterval = 5 * time.Minute // between two calls of Expire
)

// expireKey is the lease of the server that removes tables.
var expireKey = fleet.WorkKey(sha256.Sum256([]byte("vibeflight shared cache: expire")))

// expireRegularly removes tables until the cache is closed.
func (c *Cache) expireRegularly() {
	for {
		select {
		case <-time.After(expireInterval):
		case <-c.ctx.Done():
			return
		}
		if err := c.Expire(c.ctx); err != nil && c.ctx.Err() == nil && !errors.Is(err, ErrAway) {
			c.cfg.Log.Warn().Err(err).Msg("tables of the shared cache cannot be removed")
		}
	}
}

// Expire removes tables that were not used for Config.Expiry, and then the least recently used ones
// until the rest fits in Config.Bytes. A table that was used within the last hour stays. Expire does
// nothing while another server does the same.
func (c *Cache) Expire(ctx context.Context) error {
	held, err := c.holdLease(ctx)
	if err != nil || held == nil {
		return err
	}
	defer held.release(ctx)
	var all []Info
	var total int64
	if err := c.List(ctx, func(i Info) error {
		all, total = append(all, i), total+i.Bytes
		return nil
	}); err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b Info) int {
		return cmp.Or(a.Used.Compare(b.Used), slices.Compare(a.Key[:], b.Key[:]))
	})
	var errs []error
	for _, i := range all {
		age := c.now().Sub(i.Used)
		old := c.cfg.Expiry > 0 && age > c.cfg.Expiry || c.cfg.Bytes > 0 && total > c.cfg.Bytes
		if age <= inUse || !old {
			break // the following ones were used later
		}
		if err := held.renew(ctx); err != nil {
			return errors.Join(append(errs, err)...)
		}
		if err := c.Remove(ctx, i.Key); err != nil {
			if ctx.Err() != nil || c.Away() {
				return err
			}
			errs = append(errs, err)
			continue
		}
		total -= i.Bytes
		c.count.expired.Add(1)
		c.cfg.Log.Debug().Str("table", tableName(i.Key)).Int64("bytes", i.Bytes).Dur("unused_ms", age).
			Msg("removed a table of the shared cache")
	}
	errs = append(errs, c.do(ctx, c.store.Sweep))
	return errors.Join(errs...)
}

// heldLease is the right to remove tables.
type heldLease struct {
	leases  fleet.Leases // nil: no lease is needed
	lease   fleet.Lease
	renewed time.Time
}

// holdLease returns nil if another server removes tables.
func (c *Cache) holdLease(ctx context.Context) (*heldLease, error) {
	if c.cfg.Leases == nil {
		return &heldLease{}, nil
	}
	l, ok, err := c.cfg.Leases.Acquire(ctx, expireKey, c.cfg.Owner, "expiry of the shared cache")
	if err != nil || !ok {
		return nil, err
	}
	return &heldLease{c.cfg.Leases, l, time.Now()}, nil
}

// renew extends the lease if it is time for that.
func (h *heldLease) renew(ctx context.Context) error {
	if h.leases == nil || time.Since(h.renewed) < fleet.RenewTime {
		return nil
	}
	h.renewed = time.Now()
	return h.leases.Renew(ctx, h.lease)
}

func (h *heldLease) release(ctx context.Context) {
	if h.leases != nil {
		_ = h.leases.Release(context.WithoutCancel(ctx), h.lease) // it expires by itself
	}
}

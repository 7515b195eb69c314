package fleet

import (
	"context"
	"slices"
	"strings"
	"time"

	fleetstore "github.com/vibeflight/vibeflight/catalog/fleet"
)

// follow announces this replica and reads the list of the others, again and again until ctx ends.
func (f *Fleet) follow(ctx context.Context) {
	tick := time.NewTicker(f.cfg.Renew)
	defer tick.Stop()
	for {
		f.look(ctx)
		if f.changed != nil {
			f.changed()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look is one turn of the loop. The store itself tells of its outages.
func (f *Fleet) look(ctx context.Context) {
	list, err := f.exchange(ctx)
	if err == nil {
		f.update(list)
		err = f.report(ctx)
	}
	if ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	before := f.err
	f.err = err
	f.mu.Unlock()
	switch {
	case err != nil && before == nil:
		f.cfg.Log.Debug().Err(err).
			Msg("the store of the fleet does not answer: the other replicas are soon unknown to this one")
	case err == nil && before != nil:
		f.cfg.Log.Debug().Int("replicas", len(list)).Msg("the store of the fleet answers again")
	}
}

// exchange tells the store of this replica, and returns the list of all.
func (f *Fleet) exchange(ctx context.Context) ([]fleetstore.Replica, error) {
	if err := f.announce(ctx); err != nil {
		return nil, err
	}
	return call(ctx, f.cfg.Renew, f.cfg.Store.Replicas)
}

// announce tells the store that this replica is alive, unless it is leaving.
func (f *Fleet) announce(ctx context.Context) error {
	f.mu.Lock()
	leaving := f.leaving
	f.mu.Unlock()
	if leaving {
		return nil
	}
	if !f.entered {
		// An earlier process with this ID may have had other tables.
		err := do(ctx, f.cfg.Renew, func(ctx context.Context) error { return f.cfg.Store.Leave(ctx, f.cfg.ID) })
		if err != nil {
			return err
		}
		f.entered = true
	}
	own := f.self
	own.Load = f.cfg.Load()
	begin := time.Now()
	err := do(ctx, f.cfg.Renew, func(ctx context.Context) error { return f.cfg.Store.Announce(ctx, own) })
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.self.Load = own.Load
	if begin.Sub(f.renewed) > f.cfg.Presence || begin.Sub(f.resynced) > resyncEvery {
		// The store may have forgotten what a silent replica has.
		clear(f.reported)
		f.resynced = begin
	}
	f.renewed = begin
	if f.leaving { // Leave has come first
		go f.leaveAgain()
	}
	return nil
}

// leaveAgain removes an announcement that came later than Leave.
func (f *Fleet) leaveAgain() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	_ = f.cfg.Store.Leave(ctx, f.cfg.ID) // the others notice at the latest when its presence ends
}

// report tells the store which tables came to the disk of this replica, and which have gone.
func (f *Fleet) report(ctx context.Context) error {
	if f.cfg.Tables == nil {
		return nil
	}
	f.mu.Lock()
	leaving := f.leaving
	f.mu.Unlock()
	if leaving {
		return nil
	}
	now := f.cfg.Tables()
	have := make(map[fleetstore.TableKey]struct{}, len(now))
	var added, dropped []fleetstore.TableKey
	f.mu.Lock()
	for _, k := range now {
		have[k] = struct{}{}
		if _, ok := f.reported[k]; !ok {
			added = append(added, k)
		}
	}
	for k := range f.reported {
		if _, ok := have[k]; !ok {
			dropped = append(dropped, k)
		}
	}
	f.mu.Unlock()
	for part := range slices.Chunk(added, keepAtOnce) {
		if err := f.keep(ctx, part, nil); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(dropped, keepAtOnce) {
		if err := f.keep(ctx, nil, part); err != nil {
			return err
		}
	}
	return nil
}

func (f *Fleet) keep(ctx context.Context, added, dropped []fleetstore.TableKey) error {
	err := do(ctx, f.cfg.Renew, func(ctx context.Context) error {
		return f.cfg.Store.Keep(ctx, f.cfg.ID, added, dropped)
	})
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range added {
		f.reported[k] = struct{}{}
	}
	for _, k := range dropped {
		delete(f.reported, k)
	}
	return nil
}

// update replaces the list of the others.
func (f *Fleet) update(list []fleetstore.Replica) {
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = slices.DeleteFunc(slices.Clone(list), f.isSelf)
	slices.SortFunc(f.list, func(a, b fleetstore.Replica) int { return strings.Compare(a.ID, b.ID) })
	f.seen = now
	clear(f.sent)
	alive := map[string]bool{}
	for _, r := range f.list {
		tag := Tag(r.ID)
		alive[tag] = true
		f.others[tag] = &otherReplica{Replica: r}
	}
	var oldest string
	for tag, o := range f.others {
		if alive[tag] {
			continue
		}
		if o.gone.IsZero() {
			o.gone = now
			f.cfg.Log.Info().Str("replica", o.ID).Msg("a replica has left the fleet")
		}
		if now.Sub(o.gone) > rememberedTime {
			delete(f.others, tag)
		} else if first := f.others[oldest]; first == nil || o.gone.Before(first.gone) {
			oldest = tag
		}
	}
	if len(f.others) > len(f.list)+maxRemembered {
		delete(f.others, oldest)
	}
}

// isSelf reports whether a replica of the list is this one. Another server with the same ID is logged
// once. Fleet.mu is held.
func (f *Fleet) isSelf(r fleetstore.Replica) bool {
	if r.ID != f.cfg.ID {
		return false
	}
	if !f.doubled && !slices.Equal(r.Locations, f.self.Locations) {
		f.doubled = true
		f.cfg.Log.Error().Str("replica", r.ID).Strs("locations", r.Locations).
			Msg("another server has the same ID: give each a --replica of its own")
	}
	return true
}

// do runs a call to the store, for the time limit at most.
func do(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	_, err := call(ctx, limit, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	return err
}

// call is do for a call with an answer.
func call[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return f(ctx)
}

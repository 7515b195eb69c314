package dataset

import (
	"context"
	"errors"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/tree"
)

// Evict removes the tables of a dataset's packs from memory and from the cache, with what is known
// of all units, and returns the number of packs. Tables of large members are those of their own
// entries, and stay.
func (s *Sets) Evict(ctx context.Context, e tree.Entry) (int, error) {
	d := s.sets[e.Name]
	select {
	case d.turn <- struct{}{}: // no plan may store records meanwhile
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if err := d.loadRecords(ctx); err != nil {
		return 0, err
	}
	d.wg.Wait() // for records that are being stored
	d.mu.Lock()
	known := d.known
	d.known, d.at, d.stored = map[digest]*record{}, map[memberKey]place{}, map[digest]bool{}
	d.views, d.recent = map[viewKey]*View{}, nil
	d.mu.Unlock()
	n := 0
	var errs []error
	for u, r := range known {
		if r.pack {
			n++
			errs = append(errs, d.forgetTables(u, r, func(j job.Job) error {
				return d.Archive.ForgetMadeEverywhere(ctx, j)
			}))
		}
		if store := d.Archive.Store(); store != nil {
			errs = append(errs, store.Delete(ctx, d.recordKey(u)))
		}
	}
	return n, errors.Join(errs...)
}

package catalog

import (
	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/lease"
	"github.com/vibeflight/vibeflight/catalog/load"
)

// Fleet is what a catalog knows of the fleet whose replica it serves. A file is parsed by one replica,
// and the others wait for its table. They need a place where they find it: a shared cache, or Fetcher.
type Fleet struct {
	ID      string       // of this replica
	Leases  fleet.Leases // that all replicas reach
	Fetcher load.Fetcher // gets tables from other replicas; nil: such a file is parsed again
	Times   lease.Times  // the zero value: the defaults
}

// keeper returns the keeper of the replica's leases. Alone, it is nil.
func (f *Fleet) keeper(log zerolog.Logger) (*lease.Keeper, load.Fetcher) {
	if f == nil || f.Leases == nil {
		return nil, nil
	}
	return lease.New(lease.Config{ID: f.ID, Leases: f.Leases, Times: f.Times, Log: log}), f.Fetcher
}

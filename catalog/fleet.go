package catalog

import (
	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/lease"
)

// Fleet is what a catalog knows of the fleet whose replica it serves. A file is parsed by one replica,
// and the others wait for its table. They find it in the shared cache.
type Fleet struct {
	ID     string       // of this replica
	Leases fleet.Leases // that all replicas reach
	Times  lease.Times  // the zero value: the defaults
}

// keeper returns the keeper of the replica's leases. Alone, it is nil.
func (f *Fleet) keeper(log zerolog.Logger) *lease.Keeper {
	if f == nil || f.Leases == nil {
		return nil
	}
	return lease.New(lease.Config{ID: f.ID, Leases: f.Leases, Times: f.Times, Log: log})
}

// TableKeys returns functions for a fleet, whose replicas have the same keys for equal tables.
//
// keyOf returns the key of the table of an entry, with the options of a client. It is false if the
// key is not known without reading the file or the store, and for a dataset, which is many tables.
// onDisk returns the keys of the tables in the cache folder of the catalog, in no order. has reports
// whether a table is there.
func TableKeys(c *Catalog) (keyOf func(Entry, map[string]any) (fleet.TableKey, bool),
	onDisk func() []fleet.TableKey, has func(fleet.TableKey) bool,
) {
	return c.tableKey, c.tablesOnDisk, func(k fleet.TableKey) bool {
		return c.archive.OnDisk() && c.archive.Dir().Lists(cachedir.Key(k))
	}
}

func (c *Catalog) tableKey(e Entry, options map[string]any) (key fleet.TableKey, ok bool) {
	if e.IsDataset() {
		return key, false
	}
	j, err := c.jobOf(e, options)
	if err != nil {
		return key, false
	}
	k, ok := c.archive.TableKey(j)
	return fleet.TableKey(k), ok
}

func (c *Catalog) tablesOnDisk() []fleet.TableKey {
	if !c.archive.OnDisk() {
		return nil
	}
	keys := c.archive.Dir().Keys()
	out := make([]fleet.TableKey, len(keys))
	for i, k := range keys {
		out[i] = fleet.TableKey(k)
	}
	return out
}

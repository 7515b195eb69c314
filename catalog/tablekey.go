package catalog

import "github.com/vibeflight/vibeflight/catalog/fleet"

// TableKey returns the key of the table of an entry with the options of a client. It is the same for
// all replicas of a fleet. ok is false if it is not known without reading the file or the store, and
// for a dataset, which is many tables.
func (c *Catalog) TableKey(e Entry, options map[string]any) (key fleet.TableKey, ok bool) {
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

// TablesOnDisk returns the keys of the tables in the cache folder, in no order.
func (c *Catalog) TablesOnDisk() []fleet.TableKey {
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

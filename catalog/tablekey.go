package catalog

import "github.com/vibeflight/vibeflight/catalog/fleet"

// TableKeys returns two functions for a fleet, whose replicas have the same keys for equal tables.
//
// keyOf returns the key of the table of an entry, with the options of a client. It is false if the
// key is not known without reading the file or the store, and for a dataset, which is many tables.
// onDisk returns the keys of the tables in the cache folder of the catalog, in no order.
func TableKeys(c *Catalog) (keyOf func(Entry, map[string]any) (fleet.TableKey, bool), onDisk func() []fleet.TableKey) {
	return c.tableKey, c.tablesOnDisk
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

//go:build race

package geoarrow

// poisoned fills the memory of arenas with garbage under the race detector, so that a read before
// the first write shows in a table.
const poisoned = true

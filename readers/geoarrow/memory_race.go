//go:build race

package geoarrow

// poisoned fills the memory of arenas with garbage, where tests look for races: what is read before
// it is written then shows in a table.
const poisoned = true

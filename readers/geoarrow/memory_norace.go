//go:build !race

package geoarrow

const poisoned = false

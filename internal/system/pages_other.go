//go:build !linux

package system

// PopulateRead does nothing: pages are loaded by faults.
func PopulateRead([]byte) {}

// PopulateWrite does nothing: pages are mapped in by faults.
func PopulateWrite([]byte) {}

// Resident returns the length of pages: there is nothing to populate.
func Resident(pages []byte) int { return len(pages) }

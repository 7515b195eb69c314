package system

import "os"

// Map maps bytes [from, to) of a file, read-only. from is a multiple of MapUnit. The mapping stays
// valid after the file is closed, until Unmap. No bytes give nil.
func Map(f *os.File, from, to int64) ([]byte, error) {
	if from == to {
		return nil, nil
	}
	return mapFile(f, from, to)
}

// Unmap ends a mapping of Map.
func Unmap(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	return unmap(b)
}

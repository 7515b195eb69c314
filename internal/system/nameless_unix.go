//go:build unix

package system

import "os"

// unnamed makes a file and removes its name.
func unnamed(folder string) (*os.File, error) {
	f, err := os.CreateTemp(folder, namelessPattern)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

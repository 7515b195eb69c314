//go:build unix && !linux

package system

import "os"

func nameless(folder string) (*os.File, error) { return unnamed(folder) }

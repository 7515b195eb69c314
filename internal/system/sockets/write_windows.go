package sockets

import "errors"

// DirectWrites reports whether WriteParts works here: sockets of Windows are written through Go.
const DirectWrites = false

// WriteParts returns an error.
func WriteParts(uintptr, [][]byte) (int, error) { return 0, errors.ErrUnsupported }

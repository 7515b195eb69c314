//go:build !linux && !darwin && !freebsd

package prompt

import "os"

// sized does nothing: the console of Windows always knows its size.
func sized(*os.File) (restore func()) { return func() {} }

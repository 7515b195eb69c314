package system

import "os"

// Nameless makes a file in a folder that is gone when it is closed, also by the end of a process
// that is killed. Where the file system has no such files, it has a name for a moment; on Windows it
// has one until it is closed.
func Nameless(folder string) (*os.File, error) { return nameless(folder) }

const namelessPattern = ".unpacked-*"

package system

// Free returns how many bytes an ordinary user can still write below a folder.
func Free(folder string) (int64, error) { return free(folder) }

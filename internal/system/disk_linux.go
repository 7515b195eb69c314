package system

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// Free returns how many bytes an ordinary user can still write below a folder.
func Free(folder string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: folder, Err: err}
	}
	// Bsize is the preferred transfer size, which is larger on network file systems
	unit := int64(st.Frsize)
	if unit == 0 {
		unit = int64(st.Bsize)
	}
	return int64(min(st.Bavail, 1<<40)) * unit, nil
}

//go:build unix && !linux

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
	// Beyond the share of ordinary users, FreeBSD counts below zero.
	return max(0, int64(min(st.Bavail, 1<<40))) * int64(st.Bsize), nil
}

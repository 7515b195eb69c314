package system

import (
	"io/fs"
	"math"

	"golang.org/x/sys/windows"
)

// Free returns how many bytes an ordinary user can still write below a folder.
func Free(folder string) (int64, error) {
	name, err := windows.UTF16PtrFromString(folder)
	var available uint64
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(name, &available, nil, nil)
	}
	if err != nil {
		return 0, &fs.PathError{Op: "GetDiskFreeSpaceEx", Path: folder, Err: err}
	}
	return int64(min(available, math.MaxInt64)), nil
}

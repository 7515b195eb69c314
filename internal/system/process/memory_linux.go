package process

import (
	"os"
	"syscall"
)

// Memory returns the bytes of memory that the machine has.
func Memory() (int64, error) {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 0, os.NewSyscallError("sysinfo", err)
	}
	return int64(info.Totalram) * int64(info.Unit), nil
}

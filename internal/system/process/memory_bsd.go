//go:build unix && !linux

package process

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Memory returns the bytes of memory that the machine has.
func Memory() (int64, error) {
	name := "hw.physmem"
	if runtime.GOOS == "darwin" {
		name = "hw.memsize" // hw.physmem has 32 bits there
	}
	n, err := unix.SysctlUint64(name)
	return int64(n), os.NewSyscallError("sysctl "+name, err)
}

package process

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// memoryStatus is MEMORYSTATUSEX of the Windows API.
type memoryStatus struct {
	length, load uint32
	total        uint64 // bytes of physical memory
	_            [6]uint64
}

// Memory returns the bytes of memory that the machine has.
func Memory() (int64, error) {
	s := memoryStatus{}
	s.length = uint32(unsafe.Sizeof(s))
	if ok, _, err := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&s))); ok == 0 {
		return 0, os.NewSyscallError("GlobalMemoryStatusEx", err)
	}
	return int64(s.total), nil
}

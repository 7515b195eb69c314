package system

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// MapUnit is the number of bytes that a mapping begins at a multiple of: the allocation granularity.
func MapUnit() int { return 64 << 10 }

func mapFile(f *os.File, from, to int64) ([]byte, error) {
	object, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY,
		uint32(to>>32), uint32(to), nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateFileMapping", err)
	}
	defer func() { _ = windows.CloseHandle(object) }() // the view keeps the mapping
	at, err := windows.MapViewOfFile(object, windows.FILE_MAP_READ, uint32(from>>32), uint32(from), uintptr(to-from))
	if err != nil {
		return nil, os.NewSyscallError("MapViewOfFile", err)
	}
	// Not Go's memory: the address is no pointer that its collector moves.
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), int(to-from)), nil
}

func unmap(b []byte) error {
	return os.NewSyscallError("UnmapViewOfFile", windows.UnmapViewOfFile(uintptr(unsafe.Pointer(unsafe.SliceData(b)))))
}

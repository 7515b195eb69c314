//go:build unix

package system

import (
	"os"
	"syscall"
)

// MapUnit is the number of bytes that a mapping begins at a multiple of.
func MapUnit() int { return os.Getpagesize() }

func mapFile(f *os.File, from, to int64) ([]byte, error) {
	b, err := syscall.Mmap(int(f.Fd()), from, int(to-from), syscall.PROT_READ, syscall.MAP_PRIVATE)
	return b, os.NewSyscallError("mmap", err)
}

func unmap(b []byte) error { return os.NewSyscallError("munmap", syscall.Munmap(b)) }

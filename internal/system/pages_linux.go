package system

import (
	"bytes"
	"syscall"
	"unsafe"
)

// MADV_POPULATE_READ and MADV_POPULATE_WRITE of madvise(2), from Linux 5.14 on.
const (
	madvPopulateRead  = 22
	madvPopulateWrite = 23
)

// PopulateRead loads the pages of a part of a mapping that will be read completely. One call is
// faster than a page fault for every few pages. The pages must belong to the mapping as a whole. If
// the system does not have the call, pages are loaded by faults.
func PopulateRead(b []byte) {
	if len(b) == 0 {
		return
	}
	start := unsafe.SliceData(b)
	before := int(uintptr(unsafe.Pointer(start)) & uintptr(syscall.Getpagesize()-1)) // madvise needs complete pages
	_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(start), -before)), before+len(b)),
		madvPopulateRead)
}

// PopulateWrite maps in whole pages that will be written completely, as PopulateRead does.
func PopulateWrite(pages []byte) { _ = syscall.Madvise(pages, madvPopulateWrite) }

// Resident returns how many bytes of whole pages are in memory, up to the first page that is not.
// The check costs a hundredth of populating resident pages, which takes as long as copying them.
func Resident(pages []byte) int {
	page := syscall.Getpagesize()
	var there [1024]byte // for each page
	for from := 0; from < len(pages); from += len(there) * page {
		piece := pages[from:min(len(pages), from+len(there)*page)]
		_, _, failed := syscall.Syscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(piece))),
			uintptr(len(piece)), uintptr(unsafe.Pointer(&there)))
		if failed != 0 {
			return from
		}
		if i := bytes.IndexByte(there[:len(piece)/page], 0); i >= 0 {
			return from + i*page
		}
	}
	return len(pages)
}

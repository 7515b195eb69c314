package geoarrow

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// Arena gives a table its memory, from few large blocks of the Go heap. A block lives as long as
// any slice of it. Blocks are not cleared: a table is written once, from end to end, and to clear
// its memory before takes as long again. The zero value is ready; an Arena serves one goroutine.
type Arena struct {
	Next float64 // size of the chunk that follows the one that is finished, as a part of it; 0 if none does
	Lend bool    // HandOver gives what the collector goes on with: the chunk is read before the next one begins
	Late bool    // pages are mapped in as they are written, and not by Alloc

	// Helpers are goroutines that share large work on its memory with a caller that does it:
	// mapping pages in, and copying. For a chunk that somebody waits for.
	Helpers int

	rest  []byte // of the newest block
	block int    // its size
}

// Blocks double from firstBlock to lastBlock. Small tables take no block.
const (
	firstBlock = 1 << 20
	lastBlock  = 32 << 20
	ownSlice   = 32 << 10
)

// Alloc returns a slice of length 0 and capacity n, at an address that is a multiple of 64 if it is
// large. Behind its length there may be anything.
func Alloc[T FixedWidth | ~uint8](a *Arena, n int) []T { return alloc[T](a, n, 0) }

// alloc is Alloc with room for spare elements more, whose pages are mapped in if they are written
// to: an estimate that was too low costs a fault a page, and one that was too high costs nothing.
func alloc[T FixedWidth | ~uint8](a *Arena, expected, spare int) []T {
	n := expected + spare
	size := n * int(unsafe.Sizeof(*new(T)))
	if size == 0 || a.block == 0 && size < ownSlice {
		return make([]T, 0, n)
	}
	if size > len(a.rest) {
		a.take(max(min(max(2*a.block, firstBlock), lastBlock), size))
	}
	b := a.rest[:size]
	a.rest = a.rest[min((size+63)&^63, len(a.rest)):]
	if !a.Late {
		a.populate(b[:expected*int(unsafe.Sizeof(*new(T)))])
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)[:0]
}

// sharedBytes is how much one goroutine does at a time of work that is shared. The kernel, which
// maps pages in, lets nobody else change the process's mappings meanwhile: no thread begins, and no
// heap grows.
const sharedBytes = 512 << 10

// share has something done with n bytes: all at once, or in pieces, by the helpers too.
func (a *Arena) share(size int, do func(from, to int)) {
	pieces := (size + sharedBytes - 1) / sharedBytes
	if a.Helpers == 0 || pieces < 2 {
		do(0, size)
		return
	}
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < pieces; i = int(next.Add(1)) - 1 {
			do(i*sharedBytes, min(size, (i+1)*sharedBytes))
		}
	}
	var helpers sync.WaitGroup
	for range min(a.Helpers, pieces-1) {
		helpers.Go(work)
	}
	work()
	helpers.Wait()
}

// take begins a block.
func (a *Arena) take(size int) {
	a.block = size + 64
	block := uncleared(a.block)
	a.rest = block[-uintptr(unsafe.Pointer(unsafe.SliceData(block)))&63:]
}

// Expect takes one block for all that is going to be requested, if that is some bytes.
func (a *Arena) Expect(bytes int) {
	if bytes >= ownSlice && bytes > len(a.rest) {
		a.take(bytes)
	}
}

// uncleared returns n bytes of the heap that hold anything. strings.Builder is the way to such
// memory that Go has.
func uncleared(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0) // so that the text has an address
	block := unsafe.Slice(unsafe.StringData(b.String()), n)
	if poisoned {
		for i := range block {
			block[i] = 0xa5
		}
	}
	return block
}

// madvPopulateWrite is MADV_POPULATE_WRITE of Linux's madvise(2), from Linux 5.14 on.
const madvPopulateWrite = 23

// populate has the kernel map in the pages of b that will be written, all at once: one fault a page
// takes longer than to zero it. (Huge pages take fewer faults, but on a virtual machine that gives
// free memory back to its host, they are the pages that the host has taken: half of all runs took
// twice the time.) Where the kernel does not know the call, pages come one by one as ever.
func (a *Arena) populate(b []byte) {
	const worthACall = 128 << 10
	if len(b) < worthACall {
		return
	}
	page := uintptr(syscall.Getpagesize())
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (page - 1))
	whole := b[skip : skip+(len(b)-skip)&^int(page-1)]
	missing := whole[resident(whole, int(page)):]
	a.share(len(missing), func(from, to int) { _ = syscall.Madvise(missing[from:to], madvPopulateWrite) })
}

// resident returns how many bytes of b are in pages that are there, up to the first that is not. To
// ask costs a hundredth of populating what is there, which takes as long as to copy it.
func resident(b []byte, page int) int {
	var there [1024]byte // for each page
	for from := 0; from < len(b); from += len(there) * page {
		piece := b[from:min(len(b), from+len(there)*page)]
		_, _, failed := syscall.Syscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(piece))),
			uintptr(len(piece)), uintptr(unsafe.Pointer(&there)))
		if failed != 0 {
			return from
		}
		if i := bytes.IndexByte(there[:len(piece)/page], 0); i >= 0 {
			return from + i*page
		}
	}
	return len(b)
}

// HandOver returns a finished chunk the slice that collected it, and the collector a new one of the
// size that the next chunk will need if it is like this one. A slice that is much too large is
// copied instead.
func HandOver[T FixedWidth | ~uint8](a *Arena, collected *[]T) []T {
	s := *collected
	if len(s) == 0 {
		return nil
	}
	if a.Lend {
		return slices.Clip(s)
	}
	if spare := cap(s) - len(s); spare > len(s)/4+64 && !(a.Next == 0 && spare <= len(s)) {
		*collected = s[:0]
		return append(Alloc[T](a, len(s)), s...)
	}
	*collected = nil
	if a.Next > 0 {
		n := int(float64(len(s)) * a.Next)
		*collected = alloc[T](a, n, n/16+64)
	}
	return slices.Clip(s)
}

// Reserve makes room for times as many elements as the slice has, and a little more: what a whole
// chunk will need if it goes on like its first part.
func Reserve[T FixedWidth | ~uint8](a *Arena, collected *[]T, times float64) {
	s := *collected
	n := int(float64(len(s)) * times)
	spare := n/8 + 64
	if a.Lend {
		spare = n/4 + 64 // it serves for other parts of the file too
	}
	if len(s) > 0 && n+n/16 > cap(s) {
		*collected = append(alloc[T](a, n, spare), s...)
	}
}

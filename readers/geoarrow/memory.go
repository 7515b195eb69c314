package geoarrow

import (
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/vibeflight/vibeflight/internal/system"
)

// Arena allocates a table's memory in few large blocks of the Go heap. A block lives as long as any
// slice of it. Blocks are not cleared: a table is written once, from end to end, and clearing its
// memory would double the time. The zero value is ready to use; an Arena is for one goroutine.
type Arena struct {
	Next float64 // size of the next chunk as a fraction of the finished one; 0 if there is none
	Lend bool    // HandOver returns the collector's own memory: the chunk is read before the next one begins
	Late bool    // pages are mapped in when they are written, not by Alloc

	// Helpers is the number of goroutines that help a caller with large work: mapping pages in, and
	// copying. It is for a chunk that a client waits for.
	Helpers int

	rest  []byte // of the newest block
	block int    // its size
}

// Blocks double from firstBlock to lastBlock. Small tables use no block.
const (
	firstBlock = 1 << 20
	lastBlock  = 32 << 20
	ownSlice   = 32 << 10
)

// Alloc returns a slice of length 0 and capacity n, aligned to 64 bytes if it is large. The memory
// beyond its length is undefined.
func Alloc[T FixedWidth | ~uint8](a *Arena, n int) []T { return alloc[T](a, n, 0) }

// alloc is Alloc with capacity for spare more elements, whose pages are mapped in only if they are
// written to. So a low estimate costs a page fault per page, and a high one costs nothing.
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

// sharedBytes is how much shared work one goroutine does at a time. While the kernel maps pages in,
// no thread of the process can change its mappings: no thread starts, and no heap grows.
const sharedBytes = 512 << 10

// share applies a function to n bytes: in one call, or in pieces that the helpers share.
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

// take starts a new block.
func (a *Arena) take(size int) {
	a.block = size + 64
	block := uncleared(a.block)
	a.rest = block[-uintptr(unsafe.Pointer(unsafe.SliceData(block)))&63:]
}

// Expect allocates one block for all coming requests, unless these are small.
func (a *Arena) Expect(bytes int) {
	if bytes >= ownSlice && bytes > len(a.rest) {
		a.take(bytes)
	}
}

// uncleared returns n uninitialized bytes of the heap. strings.Builder is the way to such memory in
// Go.
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

// populate makes the kernel map in the pages of b that will be written, in one call: a page fault
// takes longer than zeroing the page. (Huge pages cause fewer faults. But on a virtual machine that
// returns free memory to its host, they are the pages that the host reclaimed, and half of all runs
// took twice the time.) On a kernel without this call, pages are mapped in one by one.
func (a *Arena) populate(b []byte) {
	const worthACall = 128 << 10
	if len(b) < worthACall {
		return
	}
	page := uintptr(os.Getpagesize())
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (page - 1))
	whole := b[skip : skip+(len(b)-skip)&^int(page-1)]
	missing := whole[system.Resident(whole):]
	a.share(len(missing), func(from, to int) { system.PopulateWrite(missing[from:to]) })
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

// Reserve grows a slice to a multiple of its length, and a little more: what a whole chunk will
// need if its rows are like those of its first part.
func Reserve[T FixedWidth | ~uint8](a *Arena, collected *[]T, times float64) {
	s := *collected
	n := int(float64(len(s)) * times)
	spare := n/8 + 64
	if a.Lend {
		spare = n/4 + 64 // it is reused for other parts of the file
	}
	if len(s) > 0 && n+n/16 > cap(s) {
		*collected = append(alloc[T](a, n, spare), s...)
	}
}

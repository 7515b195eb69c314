//go:build linux && cgo

package emu

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// poison fills memory that nobody has written: as a byte it is no ASCII, as an integer it is large
// or negative, as a double tiny.
const poison = 0xa5

// Freed memory keeps its addresses, untouchable, until this much was freed after it.
const (
	keptRanges = 8192
	keptBytes  = 1 << 40
)

// memory gives out ranges of memory that can't be left without a fault.
//
//	| page, no access | 0xa5 ... | the range, from a multiple of 16 | up to 15 times 0xa5 | page, no access |
//	                             ^ start                                                  ^ end of a page
type memory struct {
	what  string // for messages
	limit int64

	mu     sync.Mutex
	used   int64
	ranges []*span // by start
	freed  []*span // oldest first
	kept   int64   // bytes of freed
}

type span struct {
	start uintptr
	bytes int64
	pages []byte         // between the two pages without access
	base  unsafe.Pointer // of the mapping
	size  uintptr        // of the mapping
	file  *os.File       // of shared memory, else nil
}

// data is the range itself.
func (s *span) data() []byte {
	offset := s.start - uintptr(unsafe.Pointer(unsafe.SliceData(s.pages)))
	return s.pages[offset : offset+uintptr(s.bytes)]
}

func (m *memory) alloc(bytes int64) (*span, error) { return m.allocWith(bytes, mapSpan) }

// allocWith allocates what mapped maps.
func (m *memory) allocWith(bytes int64, mapped func(int64) (*span, error)) (*span, error) {
	if bytes <= 0 {
		return nil, &driver.Error{Call: "allocate " + m.what, Detail: sizeText(bytes), Name: "not a size"}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if bytes > m.limit-m.used {
		name := fmt.Sprintf("%s of %s are in use", sizeText(m.used), sizeText(m.limit))
		return nil, &driver.Error{
			Call: "allocate " + m.what, Detail: sizeText(bytes), Name: name,
			Kind: driver.ErrMemory,
		}
	}
	s, err := mapped(bytes)
	if err != nil {
		return nil, &driver.Error{
			Call: "allocate " + m.what, Detail: sizeText(bytes), Name: err.Error(),
			Kind: driver.ErrMemory,
		}
	}
	m.used += bytes
	i, _ := m.find(s.start)
	m.ranges = slices.Insert(m.ranges, i, s)
	return s, nil
}

// free takes the range back that begins at start. It says so if something was written next to it.
func (m *memory) free(start uintptr) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, ok := m.find(start)
	if !ok {
		return &driver.Error{Call: "free " + m.what, Detail: fmt.Sprintf("%#x", start), Name: "not allocated"}
	}
	s := m.ranges[i]
	m.ranges = slices.Delete(m.ranges, i, i+1)
	m.used -= s.bytes
	err := s.intact()
	if cerr := m.close(s); err == nil {
		err = cerr
	}
	if err != nil {
		return &driver.Error{Call: "free " + m.what, Detail: sizeText(s.bytes), Name: err.Error()}
	}
	return nil
}

// at returns the bytes [start, start+n), which must lie in one range.
func (m *memory) at(start uintptr, n int64) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, found := m.find(start)
	if !found {
		i-- // the last range that begins before start
	}
	if n >= 0 && i >= 0 {
		s := m.ranges[i]
		if offset := start - s.start; offset <= uintptr(s.bytes) && uintptr(n) <= uintptr(s.bytes)-offset {
			return s.data()[offset : offset+uintptr(n)], nil
		}
	}
	return nil, fmt.Errorf("%d bytes at %#x are not %s that is allocated", n, start, m.what)
}

// trim forgets the addresses of freed memory.
func (m *memory) trim() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.forget(0, 0)
}

// closeAll takes back what is left, and describes it.
func (m *memory) closeAll() (left string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.ranges) > 0 {
		left = fmt.Sprintf("%d allocations of %s, %s, the first of %s", len(m.ranges), m.what, sizeText(m.used),
			sizeText(m.ranges[0].bytes))
	}
	for _, s := range m.ranges {
		if cerr := m.close(s); err == nil {
			err = cerr
		}
	}
	m.ranges, m.used = nil, 0
	if cerr := m.forget(0, 0); err == nil {
		err = cerr
	}
	return left, err
}

func (m *memory) find(start uintptr) (int, bool) {
	return slices.BinarySearchFunc(m.ranges, start, func(s *span, start uintptr) int {
		return cmp.Compare(s.start, start)
	})
}

// close makes the range untouchable and gives its pages back.
func (m *memory) close(s *span) error {
	const flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE | unix.MAP_FIXED
	if s.file != nil {
		if err := s.file.Close(); err != nil {
			return err
		}
	}
	if _, err := unix.MmapPtr(-1, 0, s.base, s.size, unix.PROT_NONE, flags); err != nil {
		return err
	}
	m.freed = append(m.freed, s)
	m.kept += int64(s.size)
	return m.forget(keptRanges, keptBytes)
}

func (m *memory) forget(ranges int, bytes int64) error {
	var first error
	for len(m.freed) > ranges || m.kept > bytes {
		s := m.freed[0]
		m.freed = slices.Delete(m.freed, 0, 1)
		m.kept -= int64(s.size)
		if err := unix.MunmapPtr(s.base, s.size); first == nil {
			first = err
		}
	}
	return first
}

func mapSpan(bytes int64) (*span, error) {
	page := uintptr(os.Getpagesize())
	padded := (uintptr(bytes) + 15) &^ 15
	inner := (padded + page - 1) &^ (page - 1)
	size := inner + 2*page
	base, err := unix.MmapPtr(-1, 0, nil, size, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	pages := unsafe.Slice((*byte)(unsafe.Add(base, page)), inner)
	if err := unix.Mprotect(pages, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		_ = unix.MunmapPtr(base, size) // the first error says more
		return nil, err
	}
	fill(pages, poison)
	start := uintptr(base) + page + inner - padded
	return &span{start: start, bytes: bytes, pages: pages, base: base, size: size}, nil
}

// intact looks for writes next to the range on its own pages.
func (s *span) intact() error {
	offset := int(s.start - uintptr(unsafe.Pointer(unsafe.SliceData(s.pages))))
	clean := func(b []byte) bool { return len(bytes.Trim(b, string([]byte{poison}))) == 0 }
	if !clean(s.pages[:offset]) {
		return fmt.Errorf("something was written before its start")
	}
	if !clean(s.pages[offset+int(s.bytes):]) {
		return fmt.Errorf("something was written past its end")
	}
	return nil
}

func fill(b []byte, value byte) {
	if len(b) == 0 {
		return
	}
	b[0] = value
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

func sizeText(bytes int64) string {
	if bytes >= 1<<20 && bytes%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

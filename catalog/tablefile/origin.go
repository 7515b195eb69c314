package tablefile

import (
	"cmp"
	"slices"
	"sync"
	"unsafe"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/internal/system"
)

// Origin identifies a table file, so that another process can map it too.
type Origin struct {
	Name       string
	Dev, Inode uint64
}

// mapped has the finished files that this process maps, ordered by address.
var mapped struct {
	mu sync.RWMutex
	of []span
}

type span struct {
	from, to uintptr
	origin   Origin
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// Locate returns the table file that contains a buffer, and the buffer's offset in it.
func Locate(buffer []byte) (o Origin, at int64, ok bool) {
	if len(buffer) == 0 {
		return o, 0, false
	}
	from := address(buffer)
	mapped.mu.RLock()
	defer mapped.mu.RUnlock()
	i, found := slices.BinarySearchFunc(mapped.of, from, func(p span, a uintptr) int { return cmp.Compare(p.from, a) })
	if !found {
		i--
	}
	if i < 0 || from+uintptr(len(buffer)) > mapped.of[i].to {
		return o, 0, false
	}
	return mapped.of[i].origin, int64(from - mapped.of[i].from), true
}

// place registers the mapping of a whole file for Locate.
func place(f files.File, m mapping) {
	info, err := f.Stat()
	if err != nil || len(m.bytes) == 0 {
		return
	}
	st, ok := system.StatOf(info)
	if !ok {
		return // a file of a test
	}
	from := address(m.bytes)
	p := span{from, from + uintptr(len(m.bytes)), Origin{f.Name(), st.Device, st.Inode}}
	mapped.mu.Lock()
	defer mapped.mu.Unlock()
	i, _ := slices.BinarySearchFunc(mapped.of, from, func(p span, a uintptr) int { return cmp.Compare(p.from, a) })
	mapped.of = slices.Insert(mapped.of, i, p)
}

// displace removes a mapping that is about to end from the register of Locate.
func displace(m mapping) {
	if len(m.bytes) == 0 {
		return
	}
	from := address(m.bytes)
	mapped.mu.Lock()
	defer mapped.mu.Unlock()
	if i, found := slices.BinarySearchFunc(mapped.of, from, func(p span, a uintptr) int {
		return cmp.Compare(p.from, a)
	}); found {
		mapped.of = slices.Delete(mapped.of, i, i+1)
	}
}

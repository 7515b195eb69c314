package resident

import (
	"container/list"
	"errors"
	"sync"

	"github.com/vibeflight/vibeflight/gpu"
)

// Table is the columns of one file in the memory of one GPU.
type Table struct {
	store *Store

	// Guarded by store.mu.
	at   *list.Element // in store.recent; nil: the table was dropped
	uses int
	key  string
	dev  *deviceMemory // of the first part that has columns; nil: none has

	mu        sync.Mutex // guards what follows
	slabBytes int64
	slabs     []*gpu.SharedMemory // of parts
	next      int64               // offset in the last slab
	parts     []Part
	full      bool // there was no room during the parse: columns are no longer kept
	complete  *Contents
}

// align is the alignment of each buffer. The bytes up to the next multiple belong to it, so that a
// reader may read whole words of 64 bytes, as Arrow recommends.
const align = 256

// Sizes of slabs. A client opens each of them, which takes the driver some 100 µs.
const (
	minSlab  = 2 << 20
	maxSlab  = 256 << 20
	slabsFor = 4 // of a file's size
)

// slabFor returns the size of the slabs of a table, given the size of its file.
func slabFor(bytes int64) int64 {
	n := min(max(bytes/slabsFor, minSlab), maxSlab)
	return (n + minSlab - 1) / minSlab * minSlab
}

// Place is a range of a table's memory.
type Place struct {
	Slab   int
	Offset int64
	Bytes  int64
}

// take returns room for bytes on a device, or an error: the table is on another device, or there is no
// room.
func (t *Table) take(c *deviceMemory, bytes int64) (Place, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if bytes == 0 {
		return Place{}, nil
	}
	room := (bytes + align - 1) / align * align
	if len(t.slabs) == 0 || room > t.slabs[len(t.slabs)-1].Bytes()-t.next {
		if err := t.grow(c, max(room, t.slabBytes)); err != nil {
			return Place{}, err
		}
	}
	p := Place{len(t.slabs) - 1, t.next, bytes}
	t.next += room
	return p, nil
}

// errElsewhere says that the table is on another GPU.
var errElsewhere = errors.New("the table is on another GPU")

// grow adds a slab; t.mu is held.
func (t *Table) grow(c *deviceMemory, bytes int64) error {
	s := t.store
	s.mu.Lock()
	if t.dev == nil {
		t.dev = c
	}
	elsewhere := t.dev != c
	s.mu.Unlock()
	if elsewhere {
		return errElsewhere
	}
	m, err := s.alloc(c, bytes)
	if err != nil {
		return err
	}
	t.slabs, t.next = append(t.slabs, m), 0
	return nil
}

// free frees the memory; store.mu is held.
func (t *Table) free() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var err error
	slabs := t.slabs
	if t.complete != nil {
		err = t.complete.event.Close()
		slabs = append(slabs, t.complete.memory...)
	}
	for _, m := range slabs {
		err = errors.Join(err, m.Free())
		t.dev.used -= m.Bytes()
	}
	t.slabs, t.parts, t.complete, t.full = nil, nil, nil, true
	return err
}

// empty reports whether no column is on a GPU.
func (t *Table) empty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.slabs) == 0 && t.complete == nil
}

// memory returns a range of the table's memory.
func (t *Table) memory(p Place) gpu.Buffer[byte] {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.slabs[p.Slab].Slice(p.Offset, p.Bytes)
}

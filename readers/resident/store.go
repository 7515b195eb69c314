// Package resident keeps the columns of parsed tables in the memory of a GPU, where other processes of
// this host can read them.
//
// A Table is made in two steps. While a file is parsed, the GPU copies the columns of each accepted
// part to the table's memory (Writer). When a caller requests the table, Complete adds what the GPU
// does not have from the table on the host: rows that the CPU engine parsed, columns that became wider
// since, and validity bitmaps. A table that no GPU parsed is copied as a whole.
//
//	part of the file --kernels--> columns --copy on the GPU--> slabs of the table
//	rows of the table on the host --------copy over the link-------^
package resident

import (
	"container/list"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// ErrFull says that the tables in use leave no room for another one.
var ErrFull = errors.New("the memory for tables on the GPU is in use")

// Store has the tables of all GPUs. It is safe for concurrent use.
type Store struct {
	mu      sync.Mutex
	devices []*deviceMemory
	recent  *list.List // of *Table, that were used last first
	byKey   map[string]*Table
	closed  bool

	freeing sync.WaitGroup // freeLater
}

// deviceMemory is the memory for tables on one GPU.
type deviceMemory struct {
	k      *kernels.Set
	budget int64
	used   int64 // guarded by Store.mu

	mu     sync.Mutex // held while the stream is used
	stream *gpu.Stream
}

func (c *deviceMemory) device() *gpu.Device { return c.k.Device() }

// Open returns a store that takes up to bytes of memory on each GPU, as tables need it. The caller
// closes it before the devices.
func Open(devices []*kernels.Set, bytes int64) (*Store, error) {
	s := &Store{recent: list.New(), byKey: map[string]*Table{}}
	for _, k := range devices {
		stream, err := k.Device().NewStream()
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.devices = append(s.devices, &deviceMemory{k: k, budget: bytes, stream: stream})
	}
	return s, nil
}

// Close frees all tables. No table is in use.
func (s *Store) Close() error {
	s.freeing.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var err error
	for e := s.recent.Front(); e != nil; e = s.recent.Front() {
		err = errors.Join(err, s.drop(e.Value.(*Table)))
	}
	for _, c := range s.devices {
		err = errors.Join(err, c.stream.Close())
	}
	s.devices = nil
	return err
}

// Bytes returns the memory that tables take on a GPU, and the most that they may take. s may be nil.
func (s *Store) Bytes(d *gpu.Device) (used, budget int64) {
	if s == nil {
		return 0, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.deviceOf(d); m != nil {
		return m.used, m.budget
	}
	return 0, 0
}

// New returns an empty table for a file of a size in bytes. It is in use until its caller calls
// Release. s may be nil: then the table is nil.
func (s *Store) New(bytes int64) *Table {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	t := &Table{store: s, uses: 1, slabBytes: slabFor(bytes)}
	t.at = s.recent.PushFront(t)
	return t
}

// Find returns the complete table that Keep was given for a key, in use, or nil.
func (s *Store) Find(key string) *Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.byKey[key]
	if t == nil {
		return nil
	}
	t.uses++
	s.recent.MoveToFront(t.at)
	return t
}

// Handle is a reference to a table that is not in use. When the garbage collector frees it, the
// table is dropped, unless it was kept under a key.
type Handle struct{ table *Table }

// Handle ends the use of a table by its caller, the only one, and returns a handle. A table without
// columns on a GPU is dropped, and has none. t may be nil.
func (t *Table) Handle() (*Handle, error) {
	if t == nil {
		return nil, nil
	}
	if t.empty() {
		return nil, t.Drop()
	}
	t.Release()
	h := &Handle{t}
	runtime.AddCleanup(h, (*Table).abandon, t)
	return h, nil
}

// Use returns the table, in use, or nil if it was dropped. h may be nil.
func (h *Handle) Use() *Table {
	if h == nil || !h.table.use() {
		return nil
	}
	return h.table
}

// abandon drops a table that no caller finds.
func (t *Table) abandon() {
	s := t.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.at != nil && t.uses == 0 && t.key == "" {
		_ = s.drop(t) // an error of the device is that of its next call too
	}
}

// Keep lets Find return a complete table for a key, instead of the table that it returned before.
func (s *Store) Keep(key string, t *Table) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.at == nil {
		return
	}
	delete(s.byKey, t.key)
	t.key, s.byKey[key] = key, t
}

// use marks a table as in use until Release. It returns false if the table was dropped.
func (t *Table) use() bool {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	if t.at == nil {
		return false
	}
	t.uses++
	t.store.recent.MoveToFront(t.at)
	return true
}

// Release ends one use. A table that is not in use may be dropped for another one. t may be nil.
func (t *Table) Release() {
	if t == nil {
		return
	}
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	t.uses--
}

// Drop frees a table of which one use is left, the caller's. t may be nil.
func (t *Table) Drop() error {
	if t == nil {
		return nil
	}
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	t.uses--
	if t.uses > 0 || t.at == nil {
		return nil
	}
	return t.store.drop(t)
}

// drop frees a table; s.mu is held.
func (s *Store) drop(t *Table) error {
	s.recent.Remove(t.at)
	t.at = nil
	if s.byKey[t.key] == t {
		delete(s.byKey, t.key)
	}
	return t.free()
}

// reserve takes bytes of a device's budget, and drops tables that are not in use until they fit; s.mu is
// held.
func (s *Store) reserve(c *deviceMemory, bytes int64) error {
	for e := s.recent.Back(); c.used+bytes > c.budget && e != nil; {
		t := e.Value.(*Table)
		e = e.Prev()
		if t.uses > 0 || t.dev != c {
			continue
		}
		if err := s.drop(t); err != nil {
			return err
		}
	}
	if c.used+bytes > c.budget {
		return fmt.Errorf("%w: %d of %d bytes, and %d more are wanted", ErrFull, c.used, c.budget, bytes)
	}
	c.used += bytes
	return nil
}

// alloc allocates memory of a device within its budget.
func (s *Store) alloc(c *deviceMemory, bytes int64) (*gpu.SharedMemory, error) {
	s.mu.Lock()
	err := s.reserve(c, bytes)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	m, err := c.device().AllocShared(bytes)
	if err != nil {
		s.mu.Lock()
		c.used -= bytes
		s.mu.Unlock()
	}
	return m, err
}

// freeLater frees memory of the parts of a complete table when its event has happened. Until then the
// table is in use.
func (s *Store) freeLater(t *Table, memory []*gpu.SharedMemory) {
	if len(memory) == 0 || !t.use() {
		return
	}
	s.freeing.Go(func() {
		defer t.Release()
		_ = t.complete.event.Await() // an error of the device is that of its next call too
		for _, m := range memory {
			_ = m.Free() // likewise
			s.mu.Lock()
			t.dev.used -= m.Bytes()
			s.mu.Unlock()
		}
	})
}

// deviceOf returns the memory of a device.
func (s *Store) deviceOf(d *gpu.Device) *deviceMemory {
	for _, c := range s.devices {
		if c.device() == d {
			return c
		}
	}
	return nil
}

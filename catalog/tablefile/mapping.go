package tablefile

import (
	"sync/atomic"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/internal/system"
)

// openMappings counts the current mappings.
var openMappings atomic.Int64

// Mappings returns how many mappings of table files this process has, for writers that are not
// closed and files that are not released. A test that has released everything can expect 0.
func Mappings() int64 { return openMappings.Load() }

// mapping is a mapped part of a file.
type mapping struct {
	from  int64 // a multiple of the page size
	bytes []byte
}

func newMapping(f files.File, from, to int64) (mapping, error) {
	b, err := f.Map(from, to)
	if err != nil {
		return mapping{}, err
	}
	openMappings.Add(1)
	return mapping{from, b}, nil
}

func (m mapping) holds(from, to int64) bool {
	return m.from <= from && to <= m.from+int64(len(m.bytes))
}

func (m mapping) part(from, to int64) []byte {
	return m.bytes[from-m.from : to-m.from : to-m.from]
}

func (m mapping) end() error {
	openMappings.Add(-1)
	displace(m)
	return system.Unmap(m.bytes)
}

// windowBytes is the size of one mapping of a growing file. A mapping has several batches, because
// a process may have only 65,530 of them (vm.max_map_count). It uses address space and no memory.
// Pages after the end of the file become accessible when the file has grown.
const windowBytes = 64 << 20

// windows are the mappings of a growing file.
type windows struct {
	file files.File
	all  []mapping
}

// view returns bytes [from, to) of the file, which were already written. They are valid until
// close.
func (w *windows) view(from, to int64) ([]byte, error) {
	if n := len(w.all); n > 0 && w.all[n-1].holds(from, to) {
		return w.all[n-1].part(from, to), nil
	}
	start := from &^ int64(system.MapUnit()-1)
	m, err := newMapping(w.file, start, max(to, start+windowBytes))
	if err != nil {
		return nil, err
	}
	w.all = append(w.all, m)
	return m.part(from, to), nil
}

func (w *windows) close() (err error) {
	for _, m := range w.all {
		if e := m.end(); err == nil {
			err = e
		}
	}
	w.all = nil
	return err
}

package tablefile

import (
	"os"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
)

// live counts the mappings that are not ended.
var live atomic.Int64

// Mappings is how many mappings of table files this process has: of writers that were not closed
// and of files that were not released. A test that held none is right to find 0.
func Mappings() int64 { return live.Load() }

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
	live.Add(1)
	return mapping{from, b}, nil
}

func (m mapping) holds(from, to int64) bool {
	return m.from <= from && to <= m.from+int64(len(m.bytes))
}

func (m mapping) part(from, to int64) []byte {
	return m.bytes[from-m.from : to-m.from : to-m.from]
}

func (m mapping) end() error {
	live.Add(-1)
	displace(m)
	return files.Unmap(m.bytes)
}

// windowBytes is how much is mapped at once of a file that grows: batches of some rows share a
// mapping, of which a process may have 65,530 (vm.max_map_count). It costs addresses, no memory;
// what lies behind the end of the file is there once the file has grown.
const windowBytes = 64 << 20

// windows are the mappings of a file that grows.
type windows struct {
	file files.File
	all  []mapping
}

// view gives bytes [from, to) of the file, which have been written, until close.
func (w *windows) view(from, to int64) ([]byte, error) {
	if n := len(w.all); n > 0 && w.all[n-1].holds(from, to) {
		return w.all[n-1].part(from, to), nil
	}
	start := from &^ int64(os.Getpagesize()-1)
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

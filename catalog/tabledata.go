package catalog

import (
	"sync"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
	"github.com/vibeflight/vibeflight/catalog/tablefile"
	"github.com/vibeflight/vibeflight/readers"
)

// tableData is a table and what keeps it: the file that it lies in, or nothing where it is in
// memory.
type tableData struct {
	table *readers.Table
	file  *tablefile.File
	temp  *cachedir.Temp // the file's place in the cache, while it has no name yet
	base  *tableData     // a table with which it shares slices

	mu       sync.Mutex     // a save sets what follows while others read the table
	held     *cachedir.Held // the file's place in the cache
	cacheKey cachedir.Key   // of held
}

// place gives the key of the table's file, if it has one.
func (l *tableData) place() (k cachedir.Key, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cacheKey, l.held != nil
}

// memory is how many bytes of the process's own memory it takes.
func (l *tableData) memory() int64 {
	if l.file != nil {
		return 0
	}
	return l.table.Bytes
}

// retain keeps the slices of the table readable until release is called; nil: they are the garbage
// collector's.
func (l *tableData) retain() (release func()) {
	switch {
	case l.file != nil:
		l.file.Retain()
		return l.file.Release
	case l.base != nil:
		return l.base.retain()
	}
	return nil
}

// release gives back what keeps the table. Frames of it that are on their way keep the file by
// references of their own.
func (l *tableData) release() {
	if l.file != nil {
		l.file.Release()
	}
	if l.held != nil {
		l.held.Release()
	}
	if l.temp != nil {
		_ = l.temp.Abort() // nothing if it was committed
	}
	if l.base != nil {
		l.base.release()
	}
}

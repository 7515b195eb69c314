package persist

import (
	"sync"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
	"github.com/vibeflight/vibeflight/catalog/tablefile"
	"github.com/vibeflight/vibeflight/readers"
)

// Data is a table together with the file that it is mapped from, if it is not in memory.
type Data struct {
	Table *readers.Table

	file *tablefile.File // nil: the table is in memory
	temp *cachedir.Temp  // the file's place in the cache, until it is committed
	base *Data           // a table with which it shares slices; may be nil

	remote *remoteTable // from which the file's bytes are fetched; nil: they are all there

	mu       sync.Mutex          // guards what follows: a save sets it while others read the table
	held     *cachedir.TableFile // the file's place in the cache
	cacheKey cachedir.Key        // of held
}

// NewData returns a table in memory.
func NewData(t *readers.Table) *Data { return &Data{Table: t} }

// Mapped reports whether the table is mapped from a file.
func (l *Data) Mapped() bool { return l.file != nil }

// UsesFile reports whether the table, or one with which it shares slices, is mapped from a file.
func (l *Data) UsesFile() bool { return l.file != nil || l.base != nil }

// ShareWith keeps base as long as l, which shares slices with it.
func (l *Data) ShareWith(base *Data) { l.base = base }

// BytesChecked returns the bytes of the table's file that were read to compare sums and to search.
func (l *Data) BytesChecked() int64 { return l.file.BytesChecked() }

// place returns the key of the table's file, if it has one.
func (l *Data) place() (k cachedir.Key, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cacheKey, l.held != nil
}

// Memory returns the bytes of the process's own memory that the table takes.
func (l *Data) Memory() int64 {
	if l.file != nil {
		return 0
	}
	return l.Table.Bytes
}

// Retain keeps the slices of the table readable until release is called. It returns nil for slices
// that the garbage collector owns.
func (l *Data) Retain() (release func()) {
	switch {
	case l.file != nil:
		l.file.Retain()
		return l.file.Release
	case l.base != nil:
		return l.base.Retain()
	}
	return nil
}

// Release frees the table. Frames of it that are being sent hold references to the file of their
// own.
func (l *Data) Release() {
	if l.file != nil {
		l.file.Release()
	}
	l.mu.Lock()
	held := l.held
	if l.remote != nil {
		l.remote.released = true
		_ = l.remote.table.Close()
	}
	l.mu.Unlock()
	if held != nil {
		held.Release()
	}
	if l.temp != nil {
		_ = l.temp.Abort() // does nothing if it was committed
	}
	if l.base != nil {
		l.base.Release()
	}
}

package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrNoFile says that a table has no file that another process could map. It wraps fs.ErrNotExist.
var ErrNoFile = fmt.Errorf("the table has no file in the cache: %w", fs.ErrNotExist)

// Open opens the file that the table is mapped from, for reading. It returns ErrNoFile for a table in
// memory, and until the file has its place in the cache.
func (l *Data) Open() (*os.File, error) {
	l.mu.Lock()
	held := l.held
	l.mu.Unlock()
	if l.file == nil || held == nil {
		return nil, ErrNoFile
	}
	want, err := held.Stat()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(held.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoFile // it was evicted, and is mapped nevertheless
	}
	if err != nil {
		return nil, err
	}
	have, err := f.Stat()
	if err == nil && !os.SameFile(want, have) {
		err = ErrNoFile
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", held.Name(), err), f.Close())
	}
	return f, nil
}

package sqlengine

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/vibeflight/vibeflight/internal/system"
)

// spillDir is a folder that only this process spills to: two DuckDBs in one folder would overwrite
// each other's files. It is locked while the process runs, so that the next one can remove it after
// a crash.
type spillDir struct {
	path string
	lock *os.File
}

// spillPrefix begins the names of folders that may be removed: --sql-spill-dir may hold other
// files.
const spillPrefix = "vibeflight-sql-"

// newSpillDir creates a folder below parent, and removes those of processes that have ended. The
// caller closes it.
func newSpillDir(parent string) (*spillDir, error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}
	// One process at a time: a new folder without a lock yet would look abandoned.
	door, err := lockFolder(parent, true)
	if err != nil {
		return nil, err
	}
	defer door.Close()
	if err := removeSpilled(parent); err != nil {
		return nil, err
	}
	d := &spillDir{path: filepath.Join(parent, spillPrefix+rand.Text()[:8])}
	if err := os.Mkdir(d.path, 0o700); err != nil {
		return nil, err
	}
	if d.lock, err = lockFolder(d.path, true); err != nil {
		return nil, errors.Join(err, os.Remove(d.path))
	}
	return d, nil
}

// removeSpilled removes the folders without a lock.
func removeSpilled(parent string) error {
	folders, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, f := range folders {
		path := filepath.Join(parent, f.Name())
		if !f.IsDir() || !strings.HasPrefix(f.Name(), spillPrefix) {
			continue
		}
		lock, err := lockFolder(path, false)
		if err != nil || lock == nil {
			continue // in use
		}
		if err := errors.Join(os.RemoveAll(path), lock.Close()); err != nil {
			return err
		}
	}
	return nil
}

// lockFolder opens and locks a folder, which closing it unlocks. It returns nil if it does not wait
// and another process has the lock.
func lockFolder(path string, wait bool) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	mine := true
	if wait {
		err = system.Lock(f)
	} else {
		mine, err = system.TryLock(f)
	}
	if err != nil || !mine {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// close removes the folder and its content. d may be nil.
func (d *spillDir) close() error {
	if d == nil {
		return nil
	}
	return errors.Join(os.RemoveAll(d.path), d.lock.Close())
}

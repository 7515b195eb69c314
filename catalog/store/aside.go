package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Beside a database at <path> lie, while it is open or after a crash, files of SQLite, and always
// one of ours:
//
//	<path>-wal      what was written lately
//	<path>-shm      where that is, shared by the processes
//	<path>-journal  before there is a -wal: how to undo what is written
//	<path>.lock     locked by the process that opens the database or sets it aside
//	<path>.broken-<n>, and its -wal, -shm, -journal: what was set aside last, the n-th time

// sidecars gives what SQLite adds to the name of a database.
func sidecars() []string { return []string{"-wal", "-shm", "-journal"} }

func removeSidecars(path string) error {
	for _, suffix := range sidecars() {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// lock waits until no other process, and no other store of this one, opens or sets aside the
// database at path. A crash ends it.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(&fs.PathError{Op: "flock", Path: f.Name(), Err: err}, f.Close())
	}
	return f, nil
}

// setAside renames the database at path and what belongs to it, gives its new name, and removes
// what was set aside before. The caller holds the lock. The database goes first: if this is where
// it ends, the next one to open the path makes a new file and removes what is left.
func setAside(path string) (string, error) {
	older, last, err := broken(path)
	if err != nil {
		return "", err
	}
	to := brokenName(path, last+1)
	if err := os.Rename(path, to); err != nil {
		return "", err
	}
	for _, suffix := range sidecars() {
		if err := os.Rename(path+suffix, to+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return to, err
		}
	}
	for _, name := range older {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return to, err
		}
	}
	return to, nil
}

func brokenName(path string, n int) string { return fmt.Sprintf("%s.broken-%d", path, n) }

// broken finds all files that were set aside from path, and the largest number among them, 0 if
// there is none.
func broken(path string) (names []string, last int, err error) {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+".broken-")
		if !ok {
			continue
		}
		for _, suffix := range sidecars() {
			rest = strings.TrimSuffix(rest, suffix)
		}
		n, err := strconv.Atoi(rest)
		if err != nil || n < 1 {
			continue // named by somebody else
		}
		names = append(names, filepath.Join(dir, e.Name()))
		last = max(last, n)
	}
	return names, last, nil
}

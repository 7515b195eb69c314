package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/internal/system"
)

// Next to a database at <path> there are files of SQLite while it is open or after a crash, and
// always a lock file of this package:
//
//	<path>-wal      recent writes
//	<path>-shm      the index of -wal, shared by the processes
//	<path>-journal  how to undo a write, as long as there is no -wal
//	<path>.lock     locked by the process that opens the database or sets it aside
//	<path>.broken-<n> and its -wal, -shm, -journal: the database that was set aside last, the n-th time

// sidecars returns the suffixes that SQLite adds to the name of a database.
func sidecars() []string { return []string{"-wal", "-shm", "-journal"} }

func removeSidecars(path string) error {
	for _, suffix := range sidecars() {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// lock waits until no other process or store is opening the database at path or setting it aside. A
// crash releases the lock.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err := system.Lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// setAside renames the database at path and its sidecars, and returns the new name. It removes what
// was set aside earlier. The caller holds the lock. The database is renamed first: after a crash,
// the next process that opens the path creates a new file and removes the remaining sidecars.
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

// broken returns all files that were set aside from path, and the largest number among them, or 0.
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
			continue // not named by setAside
		}
		names = append(names, filepath.Join(dir, e.Name()))
		last = max(last, n)
	}
	return names, last, nil
}

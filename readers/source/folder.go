package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/vibeflight/vibeflight/internal/system"
)

// Folder contains a file and its siblings.
type Folder interface {
	// Look describes the regular file of each name, links followed. The description of a name
	// without one is nil.
	Look(names []string) ([]fs.FileInfo, error)
	// Open opens the file of a name. location names it in messages.
	Open(name string) (c Content, location string, err error)
}

// Content is the bytes of an open file. Several goroutines may read it.
type Content interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// Opening a named pipe would wait for somebody to write to it.
const openFlags = os.O_RDONLY | system.NoWait

// anywhere is a folder whose links may lead anywhere.
type anywhere string

func (dir anywhere) Look(names []string) ([]fs.FileInfo, error) {
	return looks(names, func(name string) (fs.FileInfo, error) { return os.Stat(filepath.Join(string(dir), name)) })
}

func (dir anywhere) Open(name string) (Content, string, error) {
	at := filepath.Join(string(dir), name)
	f, err := os.OpenFile(at, openFlags, 0)
	return f, at, err
}

// inside is a folder below a root, which no link leaves.
type inside struct {
	root *os.Root
	rel  string
}

func (dir inside) Look(names []string) ([]fs.FileInfo, error) {
	if len(names) < 2 {
		return looks(names, dir.stat)
	}
	at, _, err := Locate(dir.root, dir.rel)
	if err != nil {
		return nil, err
	}
	here, err := dir.root.OpenRoot(at) // most of the names are not there: that shall cost one system call each
	if err != nil {
		return nil, err
	}
	defer here.Close()
	return looks(names, func(name string) (fs.FileInfo, error) {
		info, err := here.Lstat(name)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return dir.stat(name)
		}
		return info, err
	})
}

func (dir inside) stat(name string) (fs.FileInfo, error) {
	_, info, err := Locate(dir.root, path.Join(dir.rel, name))
	return info, err
}

func (dir inside) Open(name string) (Content, string, error) {
	rel := path.Join(dir.rel, name)
	at, _, err := Locate(dir.root, rel)
	if err != nil {
		return nil, "", err
	}
	f, err := dir.root.OpenFile(at, openFlags, 0)
	return f, filepath.Join(dir.root.Name(), rel), err
}

// looks asks stat for each of the names.
func looks(names []string, stat func(name string) (fs.FileInfo, error)) ([]fs.FileInfo, error) {
	infos := make([]fs.FileInfo, len(names))
	for i, name := range names {
		info, err := stat(name)
		switch {
		case err == nil && info.Mode().IsRegular():
			infos[i] = info
		case err != nil && exhausted(err):
			return nil, err
		}
	}
	return infos, nil
}

// exhausted reports an error that says nothing of the file: the host is short of something, or a
// disk is ill.
func exhausted(err error) bool {
	return errors.Is(err, fs.ErrClosed) || system.Exhausted(err)
}

// IsGone reports that a file which was there a moment ago can't be opened since it, or a folder on
// the way, is gone or is something else now: a link that leads out of the root or round in circles,
// a folder in place of a file. Other errors are of the host, or say that the file may not be read.
func IsGone(err error) bool {
	var room *RoomError // of the temporary file for an object
	return err != nil && (errors.Is(err, fs.ErrClosed) ||
		!exhausted(err) && !errors.Is(err, fs.ErrPermission) && !errors.As(err, &room))
}

// gone gives err, which wraps ErrChanged if the file that was seen is gone.
func gone(name string, err error) error {
	if IsGone(err) && !errors.Is(err, ErrChanged) {
		return fmt.Errorf("%s: %w (%w)", name, ErrChanged, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Locate looks at rel below root, links followed, and says where it can be opened: at rel itself
// or, since os.Root refuses absolute links even if they stay inside, where such a link leads. at is
// then opened through root like any other path, so a link swapped meanwhile leads nowhere.
func Locate(root *os.Root, rel string) (at string, info fs.FileInfo, err error) {
	info, err = root.Stat(rel)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return rel, info, err
	}
	real, failed := filepath.EvalSymlinks(filepath.Join(root.Name(), rel))
	if failed != nil {
		return "", nil, err
	}
	base, failed := filepath.EvalSymlinks(root.Name())
	if failed != nil {
		return "", nil, err
	}
	at, failed = filepath.Rel(base, real)
	if failed != nil || !filepath.IsLocal(at) {
		return "", nil, err
	}
	info, err = root.Stat(at)
	return at, info, err
}

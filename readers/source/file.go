// Package source gives the bytes of a data file and its siblings, and says whether they are still
// the same bytes.
//
// Users' files are read with pread and never mapped: a mapping of a file that somebody truncates
// kills the process.
package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ErrChanged is the cause of the error when a file changed between two looks at it.
var ErrChanged = errors.New("the file changed while it was read")

// File is an open data file. It is safe for use by several goroutines.
type File struct {
	Name     string // the catalog's name: what users see in errors
	Path     string // where it lies
	Size     int64  // bytes when it was opened
	Modified time.Time
	Identity Identity // when it was opened
	Encoding string   // that the text was recoded from: offsets are those of the text as UTF-8. Empty: it was not
	Layers   []string // of the archive, if it is one of several tables there; set by who extracts it, else nil

	content Content
	folder  Folder       // nil: what is next to the packed file is next to its content
	base    string       // its name in folder
	read    atomic.Int64 // bytes that ReadAt gave
	main    *File        // whose sibling it is; nil: nobody's
	packed  *File        // whose content it is; nil: it is a file of its own
	upload  *Upload      // that it is; nil: it lies in a folder
	bundle  *bundleFiles // whose main file it is; nil: of none

	mu     sync.Mutex
	seen   map[string][]Sibling // by extension, in lower case: what lay next to it at the first look
	opened map[string]*File     // of those, by extension
	whole  bool                 // PrefetchAll was called
}

// Open opens the file that lies at a path under a catalog name. The caller closes it. Its identity
// covers the siblings that have one of the extensions.
func Open(name, at string, siblings ...string) (*File, error) {
	return openWith(anywhere(filepath.Dir(at)), name, filepath.Base(at), siblings)
}

// OpenIn is Open of the file at rel below root. Links are followed as long as they stay below root,
// at any time: a file that a link out of it replaced is an error, and so is every look at it after
// root was closed. The caller keeps root open until the file is closed.
func OpenIn(root *os.Root, name, rel string, siblings ...string) (*File, error) {
	if !filepath.IsLocal(rel) {
		return nil, &fs.PathError{Op: "open", Path: rel, Err: errors.New("not below the root")}
	}
	return openWith(inside{root, path.Dir(rel)}, name, path.Base(rel), siblings)
}

// OpenFrom opens the file of a name in a folder, as Open does. base is its name in the folder.
func OpenFrom(dir Folder, name, base string, siblings ...string) (*File, error) {
	return openWith(dir, name, base, siblings)
}

func openWith(dir Folder, name, base string, siblings []string) (*File, error) {
	f, err := open(dir, name, base)
	if err != nil || len(siblings) == 0 {
		return f, err
	}
	if err := f.sight(siblings...); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f.Identity = f.Identity.With(f.Siblings())
	return f, nil
}

func open(dir Folder, name, base string) (*File, error) {
	c, at, err := dir.Open(base)
	if err != nil {
		return nil, err
	}
	info, err := c.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: at, Err: errors.New("not a regular file")}
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return &File{
		Name: name, Path: at, Size: info.Size(), Modified: info.ModTime(), Identity: IdentityOf(info),
		content: c, folder: dir, base: base,
	}, nil
}

// ReadAt reads len(p) bytes from offset off, as io.ReaderAt says.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.content.ReadAt(p, off)
	f.read.Add(int64(n))
	if f.main != nil {
		f.main.read.Add(int64(n))
	}
	return n, err
}

// BytesRead is how many bytes ReadAt gave so far, of the file and its siblings, those that it gave
// twice counted twice: how far a parse is, while it runs.
func (f *File) BytesRead() int64 { return f.read.Load() }

// local reports whether all bytes of f are on this machine.
func (f *File) local() bool { return f.upload == nil && !f.Identity.Remote() }

// Head reads the first n bytes, or all of a shorter file.
func (f *File) Head(n int) ([]byte, error) {
	head := make([]byte, min(f.Size, int64(n)))
	got, err := f.ReadAt(head, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head[:got], err
}

// Unchanged returns an error that wraps ErrChanged if the file or one of its siblings was changed or
// replaced after it was opened. A reader calls it after its last byte, so that a table is never
// made of two versions of a file. An object of a store has been checked with each read.
func (f *File) Unchanged() error {
	switch {
	case f.main != nil:
		return f.main.Unchanged()
	case f.packed != nil:
		return f.packed.Unchanged()
	case f.upload != nil: // nobody else writes to it
		return nil
	case f.Identity.Remote():
		return nil
	case f.bundle != nil:
		return f.bundleUnchanged()
	}
	if err := f.same(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.opened {
		if err := s.same(); err != nil {
			return err
		}
	}
	extensions := slices.Sorted(maps.Keys(f.seen))
	now, err := f.present(extensions)
	if err != nil {
		return fmt.Errorf("%s: %w (%w)", f.Name, ErrChanged, err)
	}
	for i, ext := range extensions {
		if !slices.Equal(now[i], f.seen[ext]) {
			return fmt.Errorf("%s: %w: its %s file is another one, or came, or went", f.Name, ErrChanged, ext)
		}
	}
	return nil
}

// same is Unchanged of the file alone.
func (f *File) same() error {
	was := f.Identity.With(nil)
	info, err := f.content.Stat()
	if err != nil {
		return fmt.Errorf("%s: %w (%w)", f.Name, ErrChanged, err)
	}
	if now := IdentityOf(info); now != was {
		return fmt.Errorf("%s: %w: was %v, is %v", f.Name, ErrChanged, was, now)
	}
	infos, err := f.folder.Look([]string{f.base})
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w (%w)", f.Name, ErrChanged, err)
	case infos[0] == nil:
		return fmt.Errorf("%s: %w: it is gone", f.Name, ErrChanged)
	}
	if now := IdentityOf(infos[0]); now != was {
		return fmt.Errorf("%s: %w: was %v, is %v", f.Name, ErrChanged, was, now)
	}
	return nil
}

// Close closes the file and its siblings. A sibling is closed with its file: Close of it does
// nothing.
func (f *File) Close() error {
	if f.main != nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.content.Close()
	for _, s := range f.opened {
		err = errors.Join(err, s.content.Close())
	}
	return err
}

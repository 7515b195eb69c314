package sharedcache

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vibeflight/vibeflight/internal/system"
)

// folder is a store in a folder, which may be one of a network file system. The modification time of
// a file is its last use.
type folder struct {
	path    string // of the tables
	timeout time.Duration
	now     func() time.Time
}

const (
	dirMode  = 0o700 // tables are as private as their files
	fileMode = 0o600

	tempPrefix = ".tmp-"
	// tempAge is the age of a temporary file whose writer is considered dead.
	tempAge = time.Hour
	// pieceBytes is the size of one read or write.
	pieceBytes = 1 << 20
)

// Folder returns a store in a folder, which it makes if needed. Each operation on the folder may take
// timeout, 0 being DefaultTimeout: a file system of another machine may not answer.
func Folder(path string, timeout time.Duration) (Store, error) {
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	f := &folder{path: filepath.Join(path, tablesFolder), timeout: timeout, now: time.Now}
	err := f.within(context.Background(), func() error { return os.MkdirAll(f.path, dirMode) })
	if err != nil {
		return nil, fmt.Errorf("make the folder of the shared cache: %w", err)
	}
	return f, nil
}

// within runs an operation on the folder. It returns when the operation has not ended for too long;
// the operation then goes on by itself.
func (f *folder) within(ctx context.Context, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- do() }()
	late := time.NewTimer(f.timeout)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return fmt.Errorf("%s does not answer for %v", f.path, f.timeout)
	}
}

func (f *folder) file(k Key) string { return filepath.Join(f.path, tableName(k)) }

// Put implements Store. The file is copied under a temporary name, and linked to its name.
func (f *folder) Put(ctx context.Context, k Key, content io.ReaderAt, size int64) error {
	if err := f.within(ctx, func() error {
		if _, err := os.Lstat(f.file(k)); err == nil {
			return &fs.PathError{Op: "put", Path: f.file(k), Err: fs.ErrExist}
		}
		return os.MkdirAll(f.path, dirMode)
	}); err != nil {
		return err
	}
	temp := filepath.Join(f.path, fmt.Sprintf("%s%016x", tempPrefix, rand.Uint64()))
	err := f.copy(ctx, temp, content, size)
	if err == nil {
		err = f.within(ctx, func() error { return f.publish(temp, f.file(k)) })
	}
	removed := f.within(context.WithoutCancel(ctx), func() error { return os.Remove(temp) })
	if errors.Is(removed, fs.ErrNotExist) {
		removed = nil
	}
	return errors.Join(err, removed)
}

// copy writes and syncs a new file.
func (f *folder) copy(ctx context.Context, path string, content io.ReaderAt, size int64) error {
	var file *os.File
	if err := f.within(ctx, func() (err error) {
		file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
		return err
	}); err != nil {
		return err
	}
	for at := int64(0); at < size; {
		piece := make([]byte, min(pieceBytes, size-at)) // the operation may outlive this call
		n, err := content.ReadAt(piece, at)
		if n < len(piece) {
			return errors.Join(&localError{fmt.Errorf("%d bytes of %d could be read: %w", at+int64(n), size, err)},
				f.within(ctx, file.Close))
		}
		if err := f.within(ctx, func() error { _, err := file.WriteAt(piece, at); return err }); err != nil {
			return err // the file may be in use
		}
		at += int64(n)
	}
	sync := func() error { return errors.Join(file.Sync(), file.Close()) }
	return f.within(ctx, sync)
}

// publish gives a complete file its name, unless another file has it. A file system without links
// renames it; the file that is then replaced is an equal one.
func (f *folder) publish(temp, path string) error {
	err := os.Link(temp, path)
	switch {
	case errors.Is(err, fs.ErrExist):
		return err
	case err != nil:
		if err := os.Rename(temp, path); err != nil {
			return err
		}
	}
	dir, err := os.Open(f.path)
	if err != nil {
		return err
	}
	return errors.Join(system.SyncFolder(dir), dir.Close())
}

// Open implements Store.
func (f *folder) Open(ctx context.Context, k Key) (Object, error) {
	o := &openFile{folder: f}
	err := f.within(ctx, func() error {
		file, err := os.Open(f.file(k))
		if err != nil {
			return err
		}
		info, err := file.Stat()
		if err == nil && !info.Mode().IsRegular() {
			err = &fs.PathError{Op: "open", Path: f.file(k), Err: errors.New("not a regular file")}
		}
		if err != nil {
			return errors.Join(err, file.Close())
		}
		o.file, o.size = file, info.Size()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// openFile is an open file as an Object. Its content stays readable when the name is removed.
type openFile struct {
	folder *folder
	file   *os.File
	size   int64
}

func (o *openFile) Size() int64 { return o.size }

func (o *openFile) Close() error { return o.file.Close() }

// Fetch implements Object.
func (o *openFile) Fetch(ctx context.Context, to io.WriterAt, from, end int64) error {
	for from < end {
		piece := make([]byte, min(pieceBytes, end-from)) // the operation may outlive this call
		var n int
		var err error
		late := o.folder.within(ctx, func() error {
			n, err = o.file.ReadAt(piece, from)
			return nil
		})
		switch {
		case late != nil:
			return late
		case n < len(piece) && (err == nil || errors.Is(err, io.EOF)):
			return &changedError{fmt.Errorf("%s ends at byte %d of %d", o.file.Name(), from+int64(n), o.size)}
		case n < len(piece):
			return err
		}
		if _, err := to.WriteAt(piece, from); err != nil {
			return err
		}
		from += int64(n)
	}
	return nil
}

// Touch implements Store.
func (f *folder) Touch(ctx context.Context, k Key) error {
	return f.within(ctx, func() error { return os.Chtimes(f.file(k), time.Time{}, f.now()) })
}

// List implements Store.
func (f *folder) List(ctx context.Context, yield func(Info) error) error {
	names, err := f.names(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		k, ok := parseTableName(name)
		if !ok {
			continue
		}
		var info fs.FileInfo
		err := f.within(ctx, func() (err error) { info, err = os.Lstat(f.file(k)); return err })
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed after the listing
			continue
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			continue
		}
		if err := yield(Info{Key: k, Bytes: info.Size(), Used: info.ModTime()}); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) names(ctx context.Context) (names []string, err error) {
	err = f.within(ctx, func() error {
		dir, err := os.Open(f.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		all, err := dir.Readdirnames(-1)
		names = all
		return errors.Join(err, dir.Close())
	})
	return names, err
}

// Remove implements Store.
func (f *folder) Remove(ctx context.Context, k Key) error {
	err := f.within(ctx, func() error { return os.Remove(f.file(k)) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Sweep implements Store.
func (f *folder) Sweep(ctx context.Context) error {
	names, err := f.names(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		digits, ok := strings.CutPrefix(name, tempPrefix)
		if b, err := hex.DecodeString(digits); !ok || err != nil || len(b) != 8 {
			continue
		}
		path := filepath.Join(f.path, name)
		err := f.within(ctx, func() error {
			info, err := os.Lstat(path)
			if err != nil || !info.Mode().IsRegular() || f.now().Sub(info.ModTime()) < tempAge {
				return err
			}
			return os.Remove(path)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Close implements Store.
func (f *folder) Close() error { return nil }

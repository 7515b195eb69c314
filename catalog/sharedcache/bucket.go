package sharedcache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"

	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/source"
)

// changedError says that an object is not the one that was opened.
type changedError struct{ error }

func (e *changedError) Unwrap() error { return e.error }

// changed reports whether an error says that the object was replaced or removed since it was opened.
func changed(err error) bool {
	var c *changedError
	return errors.As(err, &c) || errors.Is(err, source.ErrChanged)
}

// bucket is a store in a bucket. Objects have no time of use: it is that of a marker object.
type bucket struct{ root *remote.Root }

// Bucket returns a store in a folder of a bucket. Close closes root.
func Bucket(root *remote.Root) Store { return bucket{root} }

// BucketOptions returns the options of a root for Bucket. A read waits for timeout without progress;
// 0 is DefaultTimeout.
func BucketOptions(timeout time.Duration) remote.Options {
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	return remote.Options{Deadline: timeout, Stall: timeout / 2}
}

func tableObject(k Key) string { return path.Join(tablesFolder, tableName(k)) }

func marker(k Key) string { return path.Join(usedFolder, fmt.Sprintf("%x", k[:])) }

// largeBytes is the size from which on Put asks whether the object exists before it is sent.
const largeBytes = 1 << 20

// Put implements Store.
func (b bucket) Put(ctx context.Context, k Key, content io.ReaderAt, size int64) error {
	if size >= largeBytes {
		if _, err := b.root.Stat(ctx, tableObject(k)); err == nil {
			return fmt.Errorf("%s: %w", b.root.Location(tableObject(k)), fs.ErrExist)
		}
	}
	return b.root.Write(ctx, tableObject(k), content, size, true)
}

// Open implements Store.
func (b bucket) Open(ctx context.Context, k Key) (Object, error) {
	o, err := b.root.Stat(ctx, tableObject(k))
	if err != nil {
		return nil, err
	}
	return openObject{b.root, o}, nil
}

// openObject is a version of an object.
type openObject struct {
	root   *remote.Root
	object remote.Object
}

func (o openObject) Size() int64 { return o.object.Size }

// Fetch implements Object.
func (o openObject) Fetch(ctx context.Context, to io.WriterAt, from, end int64) error {
	return o.root.Fetch(ctx, o.object, to, from, end)
}

func (o openObject) Close() error { return nil }

// Touch implements Store.
func (b bucket) Touch(ctx context.Context, k Key) error {
	return b.root.Write(ctx, marker(k), bytes.NewReader(nil), 0, false)
}

// List implements Store.
func (b bucket) List(ctx context.Context, yield func(Info) error) error {
	used, err := b.uses(ctx)
	if err != nil {
		return err
	}
	return b.root.List(ctx, tablesFolder+"/", func(o remote.Object) error {
		k, ok := parseTableName(path.Base(o.Key))
		if !ok || o.Key != tableObject(k) {
			return nil
		}
		last := o.Modified
		if u := used[k]; u.After(last) {
			last = u
		}
		return yield(Info{Key: k, Bytes: o.Size, Used: last})
	})
}

// uses returns the times of the markers.
func (b bucket) uses(ctx context.Context) (map[Key]time.Time, error) {
	used := map[Key]time.Time{}
	err := b.root.List(ctx, usedFolder+"/", func(o remote.Object) error {
		if k, ok := parseKey(path.Base(o.Key)); ok && o.Key == marker(k) {
			used[k] = o.Modified
		}
		return nil
	})
	return used, err
}

// Remove implements Store.
func (b bucket) Remove(ctx context.Context, k Key) error {
	return errors.Join(b.root.Remove(ctx, tableObject(k)), b.root.Remove(ctx, marker(k)))
}

// Sweep implements Store. Stores discard unfinished uploads by their own rules.
func (b bucket) Sweep(ctx context.Context) error {
	used, err := b.uses(ctx)
	if err != nil {
		return err
	}
	for k, at := range used {
		if time.Since(at) < inUse {
			continue
		}
		if _, err := b.root.Stat(ctx, tableObject(k)); err == nil || !isMissing(err) {
			continue
		}
		if err := b.root.Remove(ctx, marker(k)); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Store.
func (b bucket) Close() error { return b.root.Close() }

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

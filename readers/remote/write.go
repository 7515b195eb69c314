package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// Writer is a Store that objects can be written to and removed from.
type Writer interface {
	Store
	// Write stores an object of size bytes. It is visible when Write has returned, never in part. With
	// absent, an object of the same key is left alone, and the error is of the kind Exists.
	Write(ctx context.Context, key string, content io.Reader, size int64, absent bool) error
	// Remove removes an object. The error is of the kind Missing if there is none.
	Remove(ctx context.Context, key string) error
}

const (
	// smallBytes is the size of an upload that is one short request.
	smallBytes = 1 << 20
	// uploadStall is the time without progress for a larger upload. Progress is known only when the
	// store's client has sent a part.
	uploadStall = 30 * time.Second
)

// writer returns the store as a Writer.
func (r *Root) writer() (Writer, error) {
	w, ok := r.store.(Writer)
	if !ok {
		return nil, fmt.Errorf("%s: objects of this store cannot be written", r.address)
	}
	return w, nil
}

// Writable reports whether objects of the store can be written.
func (r *Root) Writable() bool {
	_, err := r.writer()
	return err == nil
}

// Write stores an object. Its errors wrap fs.ErrExist if absent is set and there is an object of the
// key. content is read once for each attempt.
func (r *Root) Write(ctx context.Context, key string, content io.ReaderAt, size int64, absent bool) error {
	w, err := r.writer()
	if err != nil {
		return err
	}
	stall := r.options.Stall
	if size > smallBytes {
		stall = max(stall, uploadStall)
	}
	tries := 0
	err = r.attemptFor(ctx, key, stall, func(ctx context.Context, progress func()) error {
		tries++
		body := &progressReader{io.NewSectionReader(content, 0, size), progress}
		return w.Write(ctx, key, body, size, absent)
	})
	if tries > 1 && errors.Is(err, fs.ErrExist) {
		return nil // an attempt whose answer was lost may have stored it
	}
	return err
}

// progressReader reports progress when more is read.
type progressReader struct {
	from     *io.SectionReader
	progress func()
}

// Seek implements io.Seeker.
func (r *progressReader) Seek(offset int64, whence int) (int64, error) {
	return r.from.Seek(offset, whence)
}

func (r *progressReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if n > 0 {
		r.progress()
	}
	return n, err
}

// Remove removes an object. It returns no error if there is none.
func (r *Root) Remove(ctx context.Context, key string) error {
	w, err := r.writer()
	if err != nil {
		return err
	}
	err = r.attempt(ctx, key, func(ctx context.Context, _ func()) error { return w.Remove(ctx, key) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Fetch writes bytes [from, end) of a version of an object to the same offsets of to. A request that
// fails is repeated from the first byte that is missing. An error of to is returned as it is.
func (r *Root) Fetch(ctx context.Context, o Object, to io.WriterAt, from, end int64) error {
	again := newRetry(r.options.Deadline)
	for from < end {
		if err := r.limit.acquire(ctx); err != nil {
			return err
		}
		r.stats.requests.Add(1)
		before := from
		var local error
		err := r.watched(ctx, func(ctx context.Context, progress func()) (err error) {
			from, local, err = r.copyRange(ctx, o, to, from, end, progress)
			return err
		})
		kind, _ := kindOf(err)
		r.limit.release(err != nil && kind == Throttled)
		switch {
		case local != nil:
			return local
		case from == end:
			return nil
		case from > before:
			again.progress()
		}
		if err = again.again(ctx, err); err != nil {
			return r.failed(o.Key, err)
		}
		r.stats.retries.Add(1)
	}
	return nil
}

// copyRange makes one request for Fetch. It returns the first byte that is missing. local is an
// error of to.
func (r *Root) copyRange(ctx context.Context, o Object, to io.WriterAt, from, end int64, progress func()) (
	next int64, local, err error,
) {
	body, err := r.store.Read(ctx, o, from, end)
	if err != nil {
		return from, nil, err
	}
	defer body.Close()
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for from < end {
		part := (*buf)[:min(int64(len(*buf)), end-from)]
		n, err := io.ReadFull(body, part)
		r.stats.bytes.Add(int64(n))
		if n > 0 {
			progress()
			if _, local := to.WriteAt(part[:n], from); local != nil {
				return from, local, nil
			}
			from += int64(n)
		}
		if err != nil {
			return from, nil, err
		}
	}
	return from, nil, nil
}

//go:build !nocloud

package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/vibeflight/vibeflight/readers/remote"
)

const (
	contentType = "application/vnd.apache.arrow.file"
	// partBytes is the size of one request of an upload. Stores allow up to 10,000 of them.
	partBytes   = 16 << 20
	maxParts    = 8000
	partsAtOnce = 2
)

// Write implements remote.Writer. A store that knows no conditional writes is asked first whether
// the object exists.
func (b *bucket) Write(ctx context.Context, key string, content io.Reader, size int64, absent bool) error {
	err := b.write(ctx, key, content, size, absent)
	switch {
	case err == nil || !absent:
		return err
	case isExists(err):
		return &remote.Failure{Kind: remote.Exists, Err: errors.New("the object exists")}
	case gcerrors.Code(err) == gcerrors.Unimplemented || strings.Contains(err.Error(), "NotImplemented"):
		seeker, ok := content.(io.Seeker)
		if !ok {
			return err
		}
		if _, err := b.Stat(ctx, key); err == nil {
			return &remote.Failure{Kind: remote.Exists, Err: errors.New("the object exists")}
		}
		if _, err := seeker.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return b.write(ctx, key, content, size, false)
	}
	return err
}

// isExists reports whether a store refused a write because the object exists.
func isExists(err error) bool {
	var f *remote.Failure
	return errors.As(err, &f) && (f.Kind == remote.Changed || f.Kind == remote.Exists)
}

func (b *bucket) write(ctx context.Context, key string, content io.Reader, size int64, absent bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.blob.NewWriter(ctx, b.prefix+key, &blob.WriterOptions{
		IfNotExist: absent, ContentType: contentType, MaxConcurrency: partsAtOnce,
		BufferSize: int(max(partBytes, (size+maxParts-1)/maxParts)),
	})
	if err != nil {
		return b.failed(err)
	}
	n, err := io.Copy(w, content)
	if err != nil || n != size {
		cancel() // else Close would store what was written
		closed := w.Close()
		switch {
		case err == nil:
			return &remote.Failure{Err: fmt.Errorf("%d bytes of %d could be read", n, size)}
		case closed != nil && !errors.Is(closed, context.Canceled):
			err = closed // why the write failed
		}
		return b.failed(err)
	}
	if err := w.Close(); err != nil {
		return b.failed(err)
	}
	return nil
}

// Remove implements remote.Writer.
func (b *bucket) Remove(ctx context.Context, key string) error {
	if err := b.blob.Delete(ctx, b.prefix+key); err != nil {
		return b.failed(err)
	}
	return nil
}

// Write implements remote.Writer.
func (s *s3Store) Write(ctx context.Context, key string, content io.Reader, size int64, absent bool) error {
	begun := false
	return s.try(func(b *bucket) error {
		if seeker, ok := content.(io.Seeker); ok && begun {
			if _, err := seeker.Seek(0, io.SeekStart); err != nil {
				return err
			}
		}
		begun = true
		return b.Write(ctx, key, content, size, absent)
	})
}

// Remove implements remote.Writer.
func (s *s3Store) Remove(ctx context.Context, key string) error {
	return s.try(func(b *bucket) error { return b.Remove(ctx, key) })
}

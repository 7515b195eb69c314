// Package livefile reads a small file, and reads it again when it changes.
package livefile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"
)

// Interval is the time between two looks at a file. A change takes effect after two of them.
const Interval = 200 * time.Millisecond

// MaxBytes bounds the size of a file.
const MaxBytes = 16 << 20

// coarse is the resolution of a file's times, generously. A file that was changed less than this
// before it was read may change again with equal times, and so its bytes are compared.
const coarse = 2 * time.Second

// File is the content of a file, parsed. It is safe for use by several goroutines.
type File[T any] struct {
	path    string
	parse   func([]byte) (T, error)
	content atomic.Pointer[T]

	// of Watch alone
	text  []byte
	stamp stamp // of the file when text was read
	next  stamp // of the last look
	read  time.Time
}

// stamp changes when a file is replaced or written to.
type stamp struct {
	info fs.FileInfo
	err  string
}

func (s stamp) equal(o stamp) bool {
	if s.info == nil || o.info == nil {
		return s.info == nil && o.info == nil && s.err == o.err
	}
	return os.SameFile(s.info, o.info) && s.info.Size() == o.info.Size() && s.info.ModTime().Equal(o.info.ModTime())
}

// Open reads and parses a file.
func Open[T any](path string, parse func([]byte) (T, error)) (*File[T], error) {
	f := &File[T]{path: path, parse: parse}
	f.stamp = f.look()
	f.next, f.read = f.stamp, time.Now()
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return f, f.set(text)
}

// Content returns the content that was last valid.
func (f *File[T]) Content() T { return *f.content.Load() }

// Watch looks at the file until ctx ends. When the file has changed, it parses it and calls changed.
// It calls failed with the error of a file that can't be read or parsed, once for each change; the
// former content remains. A file that is being written is read when a look finds it unchanged.
func (f *File[T]) Watch(ctx context.Context, changed func(), failed func(error)) {
	ticks := time.NewTicker(Interval)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		now := f.look()
		stable := now.equal(f.next)
		f.next = now
		if !stable || now.equal(f.stamp) && !f.mayDiffer() {
			continue
		}
		f.stamp, f.read = now, time.Now()
		text, err := readFile(f.path)
		if err == nil && bytes.Equal(text, f.text) {
			continue
		}
		if err == nil {
			err = f.set(text)
		}
		if err != nil {
			failed(err)
			continue
		}
		changed()
	}
}

// mayDiffer reports whether the file may have changed after it was read, although its times are
// equal.
func (f *File[T]) mayDiffer() bool {
	return f.stamp.info != nil && f.read.Sub(f.stamp.info.ModTime()) < coarse
}

func (f *File[T]) look() stamp {
	info, err := os.Stat(f.path)
	if err != nil {
		return stamp{err: err.Error()}
	}
	return stamp{info: info}
}

func (f *File[T]) set(text []byte) error {
	content, err := f.parse(text)
	f.text = text
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	f.content.Store(&content)
	return nil
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	if err == nil && len(text) > MaxBytes {
		return nil, fmt.Errorf("%s: is larger than %d MiB", path, MaxBytes>>20)
	}
	return text, err
}

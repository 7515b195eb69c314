package shapefile

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/vibeflight/vibeflight/readers/source"
)

// windowBytes is how much is read at a time: small enough to be parsed while it is in the cache.
// tailBytes is how much is read after the current part, where only the end of a record is needed.
const windowBytes, tailBytes = 256 << 10, 4 << 10

// window is the bytes of the file around the current record.
type window struct {
	ctx  context.Context
	src  *source.File
	stop int64 // after it little is needed
	step int   // bytes of one read, windowBytes except in tests

	base int64  // offset of have
	have []byte // of buf
	buf  []byte
	read int64 // bytes read so far
}

// bytes returns the n bytes at offset at, which are in the file. They are valid until the next
// call.
func (w *window) bytes(at int64, n int) ([]byte, error) {
	p := at - w.base
	if p < 0 || p+int64(n) > int64(len(w.have)) {
		if err := w.fill(at, n); err != nil {
			return nil, err
		}
		p = 0
	}
	return w.have[p : p+int64(n)], nil
}

// rest returns the bytes from offset at to the end of the window, at least n.
func (w *window) rest(at int64, n int) ([]byte, error) {
	if _, err := w.bytes(at, n); err != nil {
		return nil, err
	}
	return w.have[at-w.base:], nil
}

// fill moves the window to offset at and reads n bytes or more.
func (w *window) fill(at int64, n int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	size := max(int64(n), min(int64(w.step), max(0, w.stop-at)+tailBytes))
	size = min(size, w.src.Size-at)
	var kept []byte
	if p := at - w.base; p >= 0 && p < int64(len(w.have)) {
		kept = w.have[p:]
	}
	if int64(cap(w.buf)) < size {
		w.buf = make([]byte, size) // kept stays valid: it is in the old one
	}
	w.have = w.buf[:size]
	from := copy(w.have, kept)
	w.base = at
	got, err := w.src.ReadAt(w.have[from:], at+int64(from))
	w.read += int64(got)
	if from+got == len(w.have) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s: %w: it ends at byte %d, not %d", w.src.Name, source.ErrChanged, at+int64(from+got),
			w.src.Size)
	}
	w.have = nil
	return err
}

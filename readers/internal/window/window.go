// Package window presents a file of any size to a parser as text in memory, a piece at a time.
//
// Loops over the text need no bounds checks: it is followed by zeros, enough for package number.
package window

import (
	"context"
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Window is the part of the file that the parser sees: N bytes from offset Base, then
// number.Padding zeros, which stop every loop. A row that the window cuts is abandoned at byte N
// and parsed again after Fill has read the rest.
//
//	file    ........[row][row][row][row|row]....
//	window          ^Base              ^Base+N, zeros behind
//
// The zero value is ready for Open. Slices and indices of the text are valid until the next Open,
// MoveTo or Fill.
type Window struct {
	Src  *source.File
	End  int64 // of the span, in the file
	Most int64 // bytes of one row
	ctx  context.Context
	soft int64 // after it, little is needed and read at a time
	step int   // bytes of one read, Bytes except in tests

	Q    unsafe.Pointer // buf's first byte: loads are not checked, zeros keep them inside
	buf  []byte
	N    int
	Base int64
	EOF  bool  // the window reaches the end of the span
	Read int64 // bytes read so far
	Err  error // of the last Fill or MoveTo that failed
}

// Bytes is how much is read at a time: small enough to be parsed while it is in the cache.
const Bytes = 256 << 10

// tailBytes is how much is read at a time after the soft end: the rest of a row.
const tailBytes = 16 << 10

// Of returns a window on a text in memory, which it copies. It can't be moved.
func Of(text []byte) Window {
	buf := make([]byte, len(text)+number.Padding)
	w := Window{Q: unsafe.Pointer(unsafe.SliceData(buf)), buf: buf, N: copy(buf, text), EOF: true}
	w.End, w.Most = int64(w.N), int64(w.N)
	return w
}

// Set makes the window one on a text in memory, which it copies into memory of its own. It can't be
// moved.
func (w *Window) Set(text []byte) {
	buf := append(w.buf[:0], text...)
	buf = append(buf, make([]byte, number.Padding)...)
	*w = Window{Q: unsafe.Pointer(unsafe.SliceData(buf)), buf: buf, N: len(text), EOF: true}
	w.End, w.Most = int64(w.N), int64(w.N)
}

// Open starts the window at an offset of a file, in a span that ends at end. The rows to be read
// begin before soft, no row is longer than most bytes, and step bytes are read at a time, usually
// Bytes. It returns false with Err set if nothing could be read.
func (w *Window) Open(ctx context.Context, src *source.File, from, soft, end, most int64, step int) bool {
	*w = Window{ctx: ctx, Src: src, soft: soft, End: end, Most: most, step: step, buf: w.buf}
	return w.MoveTo(from) >= 0
}

// MoveTo moves the window so that it holds the byte at off, and returns its index; or -1 with Err
// set.
func (w *Window) MoveTo(off int64) int {
	if off >= w.Base && off < w.Base+int64(w.N) {
		return int(off - w.Base)
	}
	w.Base, w.N, w.EOF = off, 0, false
	if !w.Fill(0) {
		return -1
	}
	return 0
}

// Fill drops the bytes before index keep, which becomes index 0, and reads more after the rest: at
// least as many as are kept, so that a row of any size is restarted only a few times, but less than
// twice the maximum size of a row. It returns false with Err set if the read fails, the context
// ended or the row is too long.
func (w *Window) Fill(keep int) bool {
	if w.Err = w.ctx.Err(); w.Err != nil {
		return false
	}
	kept := w.N - keep
	if int64(kept) > w.Most {
		w.Err = w.TooLong(keep)
		return false
	}
	at := w.Base + int64(w.N)
	step := int64(w.step)
	if at < w.soft {
		step = min(step, w.soft-at)
	} else if w.soft < w.End {
		step = min(step, tailBytes)
	}
	want := int(min(max(step, min(int64(kept), w.Most-int64(kept))), w.End-at))
	if need := kept + want + number.Padding; need > len(w.buf) {
		grown := make([]byte, max(need, int(min(int64(w.step)*5/4, w.End-w.Base+number.Padding))))
		copy(grown, w.buf[keep:w.N])
		w.buf = grown
	} else {
		copy(w.buf, w.buf[keep:w.N])
	}
	w.Q = unsafe.Pointer(unsafe.SliceData(w.buf))
	w.Base += int64(keep)
	w.N = kept
	got, err := w.Src.ReadAt(w.buf[kept:kept+want], w.Base+int64(kept))
	w.N += got
	w.Read += int64(got)
	if got < want {
		if err == nil || errors.Is(err, io.EOF) {
			err = fmt.Errorf("%s: %w: it ends at byte %d, not %d", w.Src.Name, source.ErrChanged,
				w.Base+int64(w.N), w.End)
		}
		w.Err = err
		return false
	}
	clear(w.buf[w.N : w.N+number.Padding])
	w.EOF = w.Base+int64(w.N) == w.End
	return true
}

// TooLong returns the *readers.LimitError for a text at index p that is too long.
func (w *Window) TooLong(p int) error {
	return &readers.LimitError{
		What: fmt.Sprintf("%s: the text at byte %d", w.Src.Name, w.Base+int64(p)), Flag: "--max-feature-bytes",
		Limit: w.Most,
	}
}

// At returns the byte at index p, 0 after the end.
func (w *Window) At(p int) byte { return *(*byte)(unsafe.Add(w.Q, p)) }

// Word returns the eight bytes at index p, the first one lowest.
func (w *Window) Word(p int) uint64 { return *(*uint64)(unsafe.Add(w.Q, p)) }

// Text returns the bytes from p to end.
func (w *Window) Text(p, end int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(w.Q, p)), end-p)
}

// Has reports whether the text lit is at p. Where the window cuts it, it does not.
func (w *Window) Has(p int, lit string) bool {
	return p+len(lit) <= w.N && unsafe.String((*byte)(unsafe.Add(w.Q, p)), len(lit)) == lit
}

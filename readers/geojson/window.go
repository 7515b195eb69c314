package geojson

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

// window is the part of the file that the parser sees: n bytes from offset base, then zeros, which stop every loop. A row that the window cuts
// is given up at byte n and parsed again once fill has brought the rest.
//
//	file    ........[feature][feature][feat|ure]....
//	window          ^base                  ^base+n, zeros behind
type window struct {
	ctx  context.Context
	src  *source.File
	end  int64 // of the span, in the file
	soft int64 // behind it little is needed, and little read at a time
	most int64 // bytes of one row
	step int   // bytes of one read, windowBytes but in tests

	q    unsafe.Pointer // buf's first byte: loads are not checked, zeros and number.Padding keep them inside
	buf  []byte
	n    int
	base int64
	eof  bool  // the window reaches the end of the span
	read int64 // bytes read so far
	err  error // of the last fill that gave false
}

// windowBytes is how much is read at a time: small enough to be parsed from the cache that read put it in.
const windowBytes = 256 << 10

// tailBytes is how much is read at a time behind the soft end: the rest of a row.
const tailBytes = 16 << 10

// open starts the window at an offset.
func (w *window) open(ctx context.Context, src *source.File, from, soft, end, most int64, step int) bool {
	*w = window{ctx: ctx, src: src, soft: soft, end: end, most: most, step: step, buf: w.buf}
	return w.seek(from) >= 0
}

// seek moves the window so that it holds the byte at off, and gives its index; or -1 with err set.
func (w *window) seek(off int64) int {
	if off >= w.base && off < w.base+int64(w.n) {
		return int(off - w.base)
	}
	w.base, w.n, w.eof = off, 0, false
	if !w.fill(0) {
		return -1
	}
	return 0
}

// fill drops the bytes before index keep, which becomes index 0, and reads more behind the rest: at least as many as are kept, so that a row
// of any size is started over a few times only. It gives false with err set if the read fails, the context ended or the row is too long.
func (w *window) fill(keep int) bool {
	if w.err = w.ctx.Err(); w.err != nil {
		return false
	}
	kept := w.n - keep
	if int64(kept) > w.most {
		w.err = w.tooLong(keep)
		return false
	}
	at := w.base + int64(w.n)
	step := int64(w.step)
	if at < w.soft {
		step = min(step, w.soft-at)
	} else if w.soft < w.end {
		step = min(step, tailBytes)
	}
	want := int(min(max(step, int64(kept)), w.end-at))
	if need := kept + want + number.Padding; need > len(w.buf) {
		grown := make([]byte, max(need, int(min(int64(w.step)*5/4, w.end-w.base+number.Padding))))
		copy(grown, w.buf[keep:w.n])
		w.buf = grown
	} else {
		copy(w.buf, w.buf[keep:w.n])
	}
	w.q = unsafe.Pointer(unsafe.SliceData(w.buf))
	w.base += int64(keep)
	w.n = kept
	got, err := w.src.ReadAt(w.buf[kept:kept+want], w.base+int64(kept))
	w.n += got
	w.read += int64(got)
	if got < want {
		if err == nil || errors.Is(err, io.EOF) {
			err = fmt.Errorf("%s: %w: it ends at byte %d, not %d", w.src.Name, source.ErrChanged, w.base+int64(w.n), w.end)
		}
		w.err = err
		return false
	}
	clear(w.buf[w.n : w.n+number.Padding])
	w.eof = w.base+int64(w.n) == w.end
	return true
}

// tooLong says that the text at index p is longer than may be.
func (w *window) tooLong(p int) error {
	return &readers.LimitError{
		What: fmt.Sprintf("%s: the text at byte %d", w.src.Name, w.base+int64(p)), Flag: "--max-feature-bytes", Limit: w.most,
	}
}

// at is the byte at index p, 0 behind the end.
func (w *window) at(p int) byte { return *(*byte)(unsafe.Add(w.q, p)) }

// word is the eight bytes at index p, the first one lowest.
func (w *window) word(p int) uint64 { return *(*uint64)(unsafe.Add(w.q, p)) }

// text is the bytes from p to end.
func (w *window) text(p, end int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(w.q, p)), end-p)
}

// has reports whether the text lit stands at p. Where the window cuts it, it does not.
func (w *window) has(p int, lit string) bool {
	return p+len(lit) <= w.n && unsafe.String((*byte)(unsafe.Add(w.q, p)), len(lit)) == lit
}

package filegdb

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// window reads bytes of a file, mostly in order.
type window struct {
	f    *source.File
	buf  []byte
	base int64
	step int   // bytes read at a time where rows follow each other
	stop int64 // after it, no more is read than requested
	read int64 // bytes so far
}

const (
	windowBytes = 256 << 10
	nearBytes   = 64 << 10 // gap that is read over
	farBytes    = 8 << 10  // read at a time where rows do not follow each other
)

// bytes returns n bytes from an offset on, which the file has. They are valid until the next call.
func (w *window) bytes(at int64, n int) ([]byte, error) {
	end := w.base + int64(len(w.buf))
	if at >= w.base && at+int64(n) <= end {
		return w.buf[at-w.base:][:n], nil
	}
	want := farBytes
	if at >= w.base && at <= end+nearBytes || w.read == 0 {
		want = w.step
	}
	want = max(n, int(min(int64(want), w.stop-at, w.f.Size-at)))
	if want > cap(w.buf) {
		w.buf = make([]byte, max(want, min(w.step, int(min(w.f.Size, math.MaxInt32)))))
	}
	w.buf, w.base = w.buf[:want], at
	if err := fill(w.f, w.buf, at); err != nil {
		w.buf = w.buf[:0]
		return nil, err
	}
	w.read += int64(want)
	return w.buf[:n], nil
}

// rows reads the rows of a table in the order of their slots.
type rows struct {
	*table
	ctx    context.Context
	limits readers.Limits
	window window
	slots  []byte // offsets
	read   int64  // bytes of the .gdbtablx
}

func (t *table) rows(ctx context.Context, limits readers.Limits, step int) *rows {
	return &rows{table: t, ctx: ctx, limits: limits, window: window{f: t.file, step: step}}
}

// pieceSlots is how many slots are read at a time.
const pieceSlots = 8192

// lengthBytes is the size of a row's length.
const lengthBytes = 4

// each calls row for the rows of the slots [from, to): with the slot, the offset of the row, its
// bytes, and the defect of its place or length. An error of row ends it.
func (r *rows) each(from, to int64, row func(slot, at int64, b []byte, bad error) error) error {
	for from < to {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		n := min(to-from, pieceSlots)
		size := int(n) * r.offsetSize
		if cap(r.slots) < size+8 {
			r.slots = make([]byte, size+8)
		}
		piece := r.slots[:size+8]
		if err := fill(r.index, piece[:size], indexHeader+from*int64(r.offsetSize)); err != nil {
			return err
		}
		r.read += int64(size)
		r.window.stop = r.lastOffset(piece, int(n)) + lengthBytes
		for i := range int(n) {
			at := r.offset(piece, i)
			if at == 0 {
				continue
			}
			if i&0xff == 0xff && r.ctx.Err() != nil {
				return r.ctx.Err()
			}
			b, bad, err := r.row(at)
			if err == nil {
				err = row(from+int64(i), at, b, bad)
			}
			if err != nil {
				return err
			}
		}
		from += n
	}
	return nil
}

// offset returns the offset in slot i of a piece, which has 8 more bytes.
func (r *rows) offset(piece []byte, i int) int64 {
	w := binary.LittleEndian.Uint64(piece[i*r.offsetSize:])
	return int64(w & (1<<(8*r.offsetSize) - 1))
}

func (r *rows) lastOffset(piece []byte, n int) (last int64) {
	for i := range n {
		last = max(last, r.offset(piece, i))
	}
	return last
}

// row returns the bytes of the row at an offset, or what is wrong with its place or length.
func (r *rows) row(at int64) (b []byte, bad, err error) {
	left := r.file.Size - at - lengthBytes
	if left < 0 {
		return nil, fmt.Errorf("the row is at byte %d, after the end of the file", at), nil
	}
	head, err := r.window.bytes(at, lengthBytes)
	if err != nil {
		return nil, nil, err
	}
	n := int64(int32(binary.LittleEndian.Uint32(head)))
	switch {
	case n < 0:
		return nil, fmt.Errorf("the row is one that was deleted, of %d bytes", -n), nil
	case n > left:
		return nil, fmt.Errorf("the row has %d bytes, of which %d are there", n, left), nil
	case n > r.limits.MaxFeatureBytes:
		return nil, &readers.LimitError{
			What: fmt.Sprintf("%s: the row at byte %d, of %d bytes,", r.file.Name, at, n), Flag: "--max-feature-bytes",
			Limit: r.limits.MaxFeatureBytes,
		}, nil
	}
	whole, err := r.window.bytes(at, lengthBytes+int(n))
	if err != nil {
		return nil, nil, err
	}
	return whole[lengthBytes:], nil, nil
}

// split finds the value of each field in the bytes of a row. It is nil for a null; lengths are not in
// it. After a defect, the values from that field on are null.
func (t *table) split(b []byte, values [][]byte) *fault {
	clear(values)
	bitmap := (t.nullable + 7) / 8
	if len(b) < bitmap {
		return faultf(0, "a row of %d bytes, expected %d at least", len(b), bitmap)
	}
	p, bit := bitmap, 0
	for i := range t.fields {
		f := &t.fields[i]
		if f.nullable {
			null := b[bit>>3]>>(bit&7)&1 == 1
			if bit++; null {
				continue
			}
		}
		n := f.bytes
		switch {
		case f.kind == kindObjectID:
			continue
		case n > 0:
		default:
			v, next := bits7(b, p)
			if next < 0 {
				return faultf(p, "the row ends inside of a length").in(f.name, 0)
			}
			if p = next; v > uint64(len(b)-p) {
				return faultf(p, "a value of %d bytes, of which %d are there", v, len(b)-p).in(f.name, 0)
			}
			n = int(v)
		}
		if n > len(b)-p {
			return faultf(p, "a value of %d bytes, of which %d are there", n, len(b)-p).in(f.name, 0)
		}
		values[i] = b[p : p+n]
		p += n
	}
	return nil
}

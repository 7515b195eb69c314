package osmpbf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Limits of the format: "PBF Format", section "File format". The recommended sizes are half of
// these.
const (
	maxHeaderBytes = 64 << 10 // of a BlobHeader: fewer than this
	maxBlobBytes   = 32 << 20 // of a blob, and of its content: fewer than this
)

// frame is the place of a blob in the file.
type frame struct {
	at   int64 // of its frame: the length of the BlobHeader
	from int64 // of its bytes
	size int
	kind string // "OSMHeader", "OSMData"
}

// frames reads the frames of a file in order.
//
//	frame  length of the BlobHeader (4, big-endian), BlobHeader, Blob
type frames struct {
	src  *source.File
	next int64 // offset of the next frame
	buf  []byte
}

// headBytes are read at a time: nearly all headers have fewer.
const headBytes = 64

// read returns the next frame. ok is false at the end of the file.
func (r *frames) read() (f frame, ok bool, err error) {
	at, left := r.next, r.src.Size-r.next
	if left == 0 {
		return frame{}, false, nil
	}
	if r.buf == nil {
		r.buf = make([]byte, headBytes)
	}
	head := r.buf[:min(left, headBytes)]
	if err := readAt(r.src, head, at); err != nil {
		return frame{}, false, err
	}
	if left < 4 {
		return frame{}, false, errorAt(r.src, at, faultf(0,
			"the file ends inside of the length of a blob's header: %d bytes are left, expected 4", left))
	}
	n := int64(binary.BigEndian.Uint32(head))
	switch {
	case n >= maxHeaderBytes:
		return frame{}, false, errorAt(r.src, at, faultf(0,
			"a blob's header of %d bytes, expected fewer than %d", n, maxHeaderBytes))
	case n > left-4:
		return frame{}, false, errorAt(r.src, at, faultf(0,
			"the file ends inside of a blob's header: it has %d bytes, of which %d are there", n, left-4))
	}
	if int64(len(head)) < 4+n {
		if int64(len(r.buf)) < 4+n {
			r.buf = make([]byte, 4+n)
		}
		head = r.buf[:4+n]
		if err := readAt(r.src, head, at); err != nil {
			return frame{}, false, err
		}
	}
	f = frame{at: at, from: at + 4 + n}
	if bad := f.parse(head[:4+n], left-4-n); bad != nil {
		return frame{}, false, errorAt(r.src, at+int64(bad.at), bad)
	}
	r.next = f.from + int64(f.size)
	return f, true, nil
}

// parse reads a BlobHeader, which follows four bytes of its length. Its blob has at most left bytes.
func (f *frame) parse(b []byte, left int64) *fault {
	w := wire{b: b, p: 4, end: len(b)}
	size, sized := uint64(0), false
	for {
		number, kind, ok := w.next()
		if !ok {
			break
		}
		switch number {
		case 1:
			if w.expect("type", kind, wireBytes) {
				s := w.bytes()
				f.kind = kindName(b[s.from:s.to])
			}
		case 3:
			if w.expect("datasize", kind, wireVarint) {
				size, sized = w.varint(), true
			}
		default: // 2: indexdata
			w.skip(kind)
		}
	}
	switch {
	case w.fault != nil:
		return w.fault
	case f.kind == "":
		return faultf(4, "a blob's header without a type")
	case !sized:
		return faultf(4, "a blob's header without a datasize")
	case size >= maxBlobBytes:
		return faultf(4, "a blob of %d bytes, expected fewer than %d", size, maxBlobBytes)
	case int64(size) > left:
		return faultf(4, "the file ends inside of a blob: it has %d bytes, of which %d are there", size, left)
	}
	f.size = int(size)
	return nil
}

func kindName(b []byte) string {
	switch string(b) {
	case kindData:
		return kindData
	case kindHeader:
		return kindHeader
	}
	return fmt.Sprintf("%q", b)
}

const (
	kindHeader = "OSMHeader"
	kindData   = "OSMData"
)

// readAt reads len(b) bytes at an offset.
func readAt(src *source.File, b []byte, at int64) error {
	n, err := src.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w: it ends at byte %d, not %d", src.Name, source.ErrChanged, at+int64(n), src.Size)
	}
	return fmt.Errorf("%s: %w", src.Name, err)
}

// errorAt returns the error for a defect at an offset of the file, outside of rows.
func errorAt(src *source.File, offset int64, f *fault) *readers.ParseError {
	return &readers.ParseError{
		Name: src.Name, Format: formatName, Offset: offset, Row: -1, Unit: unit, Field: f.field, Err: f.err,
	}
}

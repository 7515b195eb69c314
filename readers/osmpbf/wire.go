package osmpbf

import "fmt"

// Wire types of protocol buffers. Groups (3 and 4) are deprecated, and no message of OSM has them.
const (
	wireVarint = 0
	wireFixed8 = 1
	wireBytes  = 2
	wireFixed4 = 5
)

// fault is a defect of a block, at a byte of its content.
type fault struct {
	at    int
	field string // the tag that it concerns; empty: none
	err   error
}

func (f *fault) Error() string { return f.err.Error() }

func faultf(at int, format string, args ...any) *fault {
	return &fault{at: at, err: fmt.Errorf(format, args...)}
}

// wire reads the fields of a message in b[p:end]. Its fault is the first defect; no field follows
// it.
type wire struct {
	b      []byte
	p, end int
	fault  *fault
}

// span is a range of bytes of a block.
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

// message returns the message in a span of the same block.
func (w *wire) message(s span) wire { return wire{b: w.b, p: s.from, end: s.to} }

// fail sets the fault unless there is one, and ends the message.
func (w *wire) fail(at int, format string, args ...any) {
	if w.fault == nil {
		w.fault = faultf(at, format, args...)
	}
	w.p = w.end
}

// next returns the number and the wire type of the next field. ok is false at the end, or after a
// fault.
func (w *wire) next() (number, kind int, ok bool) {
	if w.p >= w.end {
		return 0, 0, false
	}
	at := w.p
	key := w.varint()
	if w.fault != nil {
		return 0, 0, false
	}
	number, kind = int(key>>3), int(key&7)
	if key>>3 == 0 || key>>3 > 1<<29-1 {
		w.fail(at, "a field of number %d, expected 1 to %d", key>>3, 1<<29-1)
		return 0, 0, false
	}
	return number, kind, true
}

// varint reads a varint of at most ten bytes.
func (w *wire) varint() uint64 {
	v, p := uvarint(w.b[:w.end], w.p)
	if p < 0 {
		w.fail(w.p, "a varint that does not end within the message, or has more than 64 bits")
		return 0
	}
	w.p = p
	return v
}

// uvarint reads the varint at p and returns the index after it, or -1.
func uvarint(b []byte, p int) (uint64, int) {
	var v uint64
	for shift := uint(0); shift < 64; shift += 7 {
		if p >= len(b) {
			return 0, -1
		}
		c := b[p]
		p++
		if c < 0x80 {
			if shift == 63 && c > 1 {
				return 0, -1
			}
			return v | uint64(c)<<shift, p
		}
		v |= uint64(c&0x7f) << shift
	}
	return 0, -1
}

// zigzag returns the signed number of an unsigned one.
func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// bytes reads the length of a field, and passes over its bytes.
func (w *wire) bytes() span {
	at := w.p
	n := w.varint()
	if w.fault != nil {
		return span{}
	}
	if n > uint64(w.end-w.p) {
		w.fail(at, "a field of %d bytes, of which %d are there", n, w.end-w.p)
		return span{}
	}
	s := span{w.p, w.p + int(n)}
	w.p = s.to
	return s
}

// skip passes over the value of a field that is not read.
func (w *wire) skip(kind int) {
	switch kind {
	case wireVarint:
		w.varint()
	case wireBytes:
		w.bytes()
	case wireFixed4:
		w.pass(4)
	case wireFixed8:
		w.pass(8)
	default:
		w.fail(w.p, "a field of wire type %d, expected 0, 1, 2 or 5", kind)
	}
}

func (w *wire) pass(n int) {
	if n > w.end-w.p {
		w.fail(w.p, "a field of %d bytes, of which %d are there", n, w.end-w.p)
		return
	}
	w.p += n
}

// expect reports whether a field has the wire type that the format says.
func (w *wire) expect(name string, kind, want int) bool {
	if kind != want {
		w.fail(w.p, "%s of wire type %d, expected %d", name, kind, want)
	}
	return kind == want
}

// numbers appends the varints of a repeated field, packed or not.
func (w *wire) numbers(name string, kind int, dst []uint64) []uint64 {
	switch kind {
	case wireVarint:
		return append(dst, w.varint())
	case wireBytes:
	default:
		w.fail(w.p, "%s of wire type %d, expected 2", name, kind)
		return dst
	}
	s := w.bytes()
	b := w.b[:s.to]
	for p := s.from; p < s.to; {
		if c := b[p]; c < 0x80 {
			dst = append(dst, uint64(c))
			p++
			continue
		}
		v, next := uvarint(b, p)
		if next < 0 {
			w.fail(p, "%s: a varint that does not end within the field, or has more than 64 bits", name)
			return dst
		}
		dst, p = append(dst, v), next
	}
	return dst
}

// deltas replaces the zigzag differences v by their sums. Sums wrap around, as in the reference
// implementation.
func deltas(v []uint64) {
	sum := int64(0)
	for i, d := range v {
		sum += zigzag(d)
		v[i] = uint64(sum)
	}
}

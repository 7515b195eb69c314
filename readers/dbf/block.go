package dbf

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/source"
)

// block is some records in memory, few enough to stay in a core's own cache while one field after
// the other is read from them.
//
//	buf   frontBytes of anything | record | record | … | number.Padding of anything
//	live            ^                 ^ offsets in buf of those that are rows
//
// Words of eight bytes are loaded without a check where they end in a field or begin in one: what
// is before and after keeps them inside.
type block struct {
	buf  []byte
	most int // records
	live []int32
}

// blockBytes is how large a block is, unless a single record is larger.
const blockBytes = 256 << 10

// frontBytes is more than the three words that the longest number takes which is read word by word.
const frontBytes = 64

// load reads n records from number first on.
func (b *block) load(src *source.File, h *Header, first int64, n int) error {
	size := n * h.RecordLength
	if need := frontBytes + size + number.Padding; need > len(b.buf) {
		b.buf = make([]byte, need)
	}
	got, err := src.ReadAt(b.buf[frontBytes:frontBytes+size], h.offset(first))
	if got < size {
		return cutShort(src, h.offset(first)+int64(got), err)
	}
	return nil
}

// at returns the address of a byte.
func (b *block) at(p int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.buf)), p)
}

// bytes are those of a field of the record at a place.
func (b *block) bytes(f *Field, place int) []byte {
	return b.buf[place+f.Offset : place+f.Offset+f.Length]
}

func load(p unsafe.Pointer) uint64 { return *(*uint64)(p) }

// trim cuts blanks and NULs off both ends.
func trim(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == 0) {
		text = text[1:]
	}
	for n := len(text); n > 0 && (text[n-1] == ' ' || text[n-1] == 0); n-- {
		text = text[:n-1]
	}
	return text
}

// unset reports whether a trimmed number or date is none: blank, or full of the stars that stand
// for a value that was too wide.
func unset(text []byte) bool {
	for _, c := range text {
		if c != '*' {
			return false
		}
	}
	return true
}

package dbf

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/source"
)

// block is a group of records in memory, few enough to stay in a core's cache while field after
// field is read from them.
//
//	buf   frontBytes of anything | record | record | … | number.Padding of anything
//	live            ^                 ^ offsets in buf of those that are rows
//
// Words of eight bytes that begin or end in a field are loaded without a check: the margins keep
// them inside of buf.
type block struct {
	buf  []byte
	most int // records
	live []int32
}

// blockBytes is the size of a block, unless a single record is larger.
const blockBytes = 256 << 10

// frontBytes is more than the three words of the longest number that is read word by word.
const frontBytes = 64

// load reads n records, starting with number first.
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

// bytes returns a field of the record at a place.
func (b *block) bytes(f *Field, place int) []byte {
	return b.buf[place+f.Offset : place+f.Offset+f.Length]
}

func load(p unsafe.Pointer) uint64 { return *(*uint64)(p) }

// trim removes blanks and NULs at both ends.
func trim(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == 0) {
		text = text[1:]
	}
	for n := len(text); n > 0 && (text[n-1] == ' ' || text[n-1] == 0); n-- {
		text = text[:n-1]
	}
	return text
}

// unset reports whether a trimmed number or date has no value: it is blank, or all stars, which
// mean a value that was too wide.
func unset(text []byte) bool {
	for _, c := range text {
		if c != '*' {
			return false
		}
	}
	return true
}

package fields

import (
	"encoding/binary"
	"unsafe"
)

const (
	ones   = 0x0101010101010101
	sevens = 0x7F7F7F7F7F7F7F7F
)

// findPlain is find for every processor: eight bytes at a time.
func findPlain(out *[Most / block]masks, text unsafe.Pointer, blocks int, delimiter, quote byte) {
	delimiters, quotes := uint64(delimiter)*ones, uint64(quote)*ones
	for i := range blocks {
		var m masks
		for k := 0; k < block; k += 8 {
			w := binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(text, i*block+k))[:])
			m.delimiters |= bitOf(zeros(w^delimiters)) << k
			m.lineEnds |= bitOf(zeros(w^'\n'*ones)|zeros(w^'\r'*ones)) << k
			m.quotes |= bitOf(zeros(w^quotes)) << k
			m.high |= bitOf(w&^sevens) << k
		}
		out[i] = m
	}
}

// zeros sets the high bit of each byte of w that is 0, and no other bit.
func zeros(w uint64) uint64 { return ^(w&sevens + sevens | w | sevens) }

// bitOf moves the high bits of eight bytes to the low eight bits.
func bitOf(highBits uint64) uint64 { return highBits >> 7 * 0x0102040810204080 >> 56 }

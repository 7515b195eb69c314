package fields

import (
	"unsafe"

	processor "golang.org/x/sys/cpu"
)

// haveWide reports whether this processor lists the fields of 64 bytes at once.
var haveWide = haveAVX2 && processor.X86.HasBMI1 && processor.X86.HasBMI2 && processor.X86.HasPCLMULQDQ &&
	processor.X86.HasAVX512F &&
	processor.X86.HasAVX512BW && processor.X86.HasAVX512DQ && processor.X86.HasAVX512VL && processor.X86.HasAVX512VBMI2

// numbers are those of 64 bytes.
var numbers = makeNumbers()

func makeNumbers() (n [block]byte) {
	for i := range n {
		n[i] = byte(i)
	}
	return n
}

// listWide does what add does for blocks of 64 bytes each, the first byte of which is number at, up
// to one that is wrong or has doubled quotes, and returns how many it did.
func (f *finder) listWide(text unsafe.Pointer, blocks, at int, delimiter, quote byte) int {
	if blocks <= 0 {
		return 0
	}
	return listAVX512(&f.carry, text, blocks, at+1, &numbers, &f.starts[1], &f.ends[0], delimiter, quote)
}

// listAVX512 is listWide, with at the byte after the first one. Separators become numbers
// with a mask that moves bytes together (VPCOMPRESSB), 16 of which are written at a time.
//
//go:noescape
func listAVX512(c *carry, text unsafe.Pointer, blocks, at int, numbers *[block]byte, starts, ends *uint32,
	delimiter, quote byte) (done int)

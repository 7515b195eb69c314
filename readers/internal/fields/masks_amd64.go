package fields

import (
	"unsafe"

	processor "golang.org/x/sys/cpu"
)

var haveAVX2 = processor.X86.HasAVX2

// find writes the masks of n blocks at text.
func find(out *[Most / block]masks, text unsafe.Pointer, blocks int, delimiter, quote byte) {
	if !haveAVX2 {
		findPlain(out, text, blocks, delimiter, quote)
		return
	}
	findAVX2(out, text, blocks, delimiter, quote)
}

//go:noescape
func findAVX2(out *[Most / block]masks, text unsafe.Pointer, blocks int, delimiter, quote byte)

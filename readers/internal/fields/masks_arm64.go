package fields

import "unsafe"

// find writes the masks of n blocks at text.
func find(out *[Most / block]masks, text unsafe.Pointer, blocks int, delimiter, quote byte) {
	findNEON(out, text, blocks, delimiter, quote)
}

//go:noescape
func findNEON(out *[Most / block]masks, text unsafe.Pointer, blocks int, delimiter, quote byte)

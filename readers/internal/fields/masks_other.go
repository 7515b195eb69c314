//go:build !amd64 && !arm64

package fields

import "unsafe"

// find writes the masks of n blocks at text.
func find(out *[Most / block]masks, text unsafe.Pointer, blocks int, delimiter, quote byte) {
	findPlain(out, text, blocks, delimiter, quote)
}

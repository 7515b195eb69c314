package bulk

import (
	"unsafe"

	processor "golang.org/x/sys/cpu"
)

var haveStores = processor.X86.HasAVX2

// copyLines copies n bytes, a multiple of stride, to an address that is a multiple of align.
//
//go:noescape
func copyLines(dst, src unsafe.Pointer, n int)

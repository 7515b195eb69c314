//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
)

var (
	errEmptyImage     = errors.New("an empty image")
	errTruncatedImage = errors.New("a truncated or damaged CUBIN")
)

// loadable returns image in the form that cuModuleLoadData takes. That function gets no length: it
// trusts what an ELF file says of itself, and reads anything else as text up to a NUL. So an ELF
// file whose parts reach beyond its end is refused here, and text gets its NUL.
func loadable(image []byte) ([]byte, error) {
	if len(image) == 0 {
		return nil, errEmptyImage
	}
	if !bytes.HasPrefix(image, []byte("\x7fELF")) {
		return append(bytes.Clone(image), 0), nil
	}
	if !whole(image) {
		return nil, errTruncatedImage
	}
	return image, nil
}

// whole reports whether the tables and sections of a 64-bit little-endian ELF file lie within it.
// Offsets of the fields, in bytes:
//
//	file     32 program headers at   40 section headers at   54 size, 56 number of the first   58, 60 of the second
//	section   4 type (8: has no bytes in the file)   24 at   32 size
func whole(file []byte) bool {
	const headerBytes, sectionBytes, noBits = 64, 64, 8
	le := binary.LittleEndian
	if len(file) < headerBytes || file[4] != 2 || file[5] != 1 {
		return false
	}
	within := func(at, size uint64) bool { return at <= uint64(len(file)) && size <= uint64(len(file))-at }
	programs := uint64(le.Uint16(file[54:])) * uint64(le.Uint16(file[56:]))
	at, size, n := le.Uint64(file[40:]), uint64(le.Uint16(file[58:])), uint64(le.Uint16(file[60:]))
	if !within(le.Uint64(file[32:]), programs) || size < sectionBytes || n == 0 || !within(at, size*n) {
		return false
	}
	for ; n > 0; n, at = n-1, at+size {
		s := file[at:]
		if le.Uint32(s[4:]) != noBits && !within(le.Uint64(s[24:]), le.Uint64(s[32:])) {
			return false
		}
	}
	return true
}

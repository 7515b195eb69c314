//go:build linux && cgo

package emu

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"strings"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// An image is a shared object after a header that shows that it is whole and was built for this
// runtime: the loader would fault on half of one.
//
//	"cudaemu\n"  digest of the headers, 16 hex digits  SHA-256 of the shared object  shared object
//	0            8                                     24                            56
const (
	imageMagic  = "cudaemu\n"
	digestAt    = len(imageMagic)
	sumAt       = digestAt + 16
	objectAt    = sumAt + sha256.Size
	sharedAlign = 16         // which each __shared__ variable is taken to need
	ownPrefix   = "cudaemu_" // begins the names of the emulation's own functions
)

func packImage(digest string, object []byte) []byte {
	sum := sha256.Sum256(object)
	return bytes.Join([][]byte{[]byte(imageMagic), []byte(digest), sum[:], object}, nil)
}

func unpackImage(digest string, image []byte) (object []byte, err error) {
	if len(image) < objectAt || string(image[:digestAt]) != imageMagic {
		return nil, errors.New("not an image of the emulation's compiler")
	}
	if built := string(image[digestAt:sumAt]); built != digest {
		return nil, fmt.Errorf("built with the headers %q, these are %s", built, digest)
	}
	if sum := sha256.Sum256(image[objectAt:]); !bytes.Equal(sum[:], image[sumAt:objectAt]) {
		return nil, errors.New("the image is damaged")
	}
	return image[objectAt:], nil
}

// staticShared returns the bytes of static shared memory that a block of each kernel in object has. A
// variable in a kernel is that kernel's; one in a device function, or outside of functions, counts
// for every kernel, since nothing says who calls it.
//
// A variable tile of kernel reverse is a thread-local symbol named _ZZ7reverseE4tile (Itanium C++
// ABI, 5.1.6), perhaps followed by a number.
func staticShared(object []byte) (of map[string]int, err error) {
	f, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		return nil, err
	}
	exported, err := f.DynamicSymbols()
	if err != nil {
		return nil, err
	}
	of = map[string]int{}
	for _, s := range exported {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF && !strings.HasPrefix(s.Name, ownPrefix) {
			of[s.Name] = 0
		}
	}
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	everyone := 0
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_TLS || strings.Contains(s.Name, "cudaemu_current") {
			continue
		}
		n := (int(s.Size) + sharedAlign - 1) &^ (sharedAlign - 1)
		if kernel, ok := ownerOf(s.Name); !ok {
			everyone += n
		} else if _, ok := of[kernel]; ok {
			of[kernel] += n
		} else {
			everyone += n
		}
	}
	for kernel := range of {
		of[kernel] += everyone
	}
	return of, nil
}

// ownerOf takes the function's name out of that of a variable in it.
func ownerOf(symbol string) (function string, ok bool) {
	rest, ok := strings.CutPrefix(symbol, "_ZZ")
	if !ok {
		return "", false
	}
	var n int
	if _, err := fmt.Sscanf(rest, "%d", &n); err != nil {
		return "", false
	}
	rest = strings.TrimLeft(rest, "0123456789")
	if n < 1 || n >= len(rest) || rest[n] != 'E' {
		return "", false
	}
	return rest[:n], true
}

func loadError(image []byte, err error) error {
	return &driver.Error{Call: "load", Detail: sizeText(int64(len(image))), Name: err.Error()}
}

package compile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Kernel is what the compiler gave one __global__ function of a CUBIN.
type Kernel struct {
	Name       string
	Registers  int // a thread
	FrameBytes int // a thread's stack frame: spilled registers, and arrays that are indexed at run time
}

// What a CUBIN has beyond ELF. NVIDIA does not document it; cuobjdump prints it under these names.
const (
	elfVersionAt           = 20   // of e_version in the header
	kernelSymbol           = 0x10 // STO_CUDA_ENTRY, of a symbol: not a function that kernels call
	attributeFrameSize     = 0x11 // EIATTR_FRAME_SIZE
	attributeRegisterCount = 0x2f // EIATTR_REGCOUNT
	formatSized            = 0x04 // EIFMT_SVAL: a length stands before the value
	formatWord             = 0x03 // EIFMT_HVAL and those below it: the value is 2 bytes
)

// Kernels reads what a CUBIN says of its kernels, in the order of their names.
//
// A CUBIN is an ELF file. Its section .nv.info is a list of attributes of functions, which are
// named by their place in the symbol table:
//
//	04 2f 0800  0c000000 20000000   function 12 takes 32 registers
//	04 11 0800  0c000000 00010000   function 12 has a frame of 256 bytes
//	 |  |  |    value: that many bytes
//	 |  |  length
//	 |  attribute
//	 format
func Kernels(cubin []byte) ([]Kernel, error) {
	if len(cubin) < elfVersionAt+4 {
		return nil, fmt.Errorf("cubin: %d bytes", len(cubin))
	}
	cubin = bytes.Clone(cubin)
	// it is CUDA's own for some architectures, which package elf refuses
	binary.LittleEndian.PutUint32(cubin[elfVersionAt:], uint32(elf.EV_CURRENT))
	f, err := elf.NewFile(bytes.NewReader(cubin))
	if err != nil {
		return nil, fmt.Errorf("cubin: %w", err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("cubin: %w", err)
	}
	section := f.Section(".nv.info")
	if section == nil {
		return nil, errors.New("cubin: no section .nv.info")
	}
	info, err := section.Data()
	if err != nil {
		return nil, fmt.Errorf("cubin: %w", err)
	}
	kernels := map[uint32]*Kernel{}
	err = eachAttribute(info, func(attribute byte, value []byte) {
		if len(value) != 8 || attribute != attributeFrameSize && attribute != attributeRegisterCount {
			return
		}
		i, n := binary.LittleEndian.Uint32(value), int(binary.LittleEndian.Uint32(value[4:]))
		// the first symbol is a null symbol, which is left out
		if i == 0 || i > uint32(len(symbols)) || symbols[i-1].Other&kernelSymbol == 0 {
			return
		}
		if kernels[i] == nil {
			kernels[i] = &Kernel{Name: symbols[i-1].Name}
		}
		if attribute == attributeFrameSize {
			kernels[i].FrameBytes = n
		} else {
			kernels[i].Registers = n
		}
	})
	var list []Kernel
	for _, k := range kernels {
		list = append(list, *k)
	}
	slices.SortFunc(list, func(a, b Kernel) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

// eachAttribute calls found for each attribute that has a value of its own length.
func eachAttribute(info []byte, found func(attribute byte, value []byte)) error {
	for len(info) > 0 {
		if len(info) < 4 || info[0] == 0 || info[0] > formatSized {
			return fmt.Errorf("cubin: .nv.info: attribute % x", info[:min(4, len(info))])
		}
		format, attribute, length := info[0], info[1], int(binary.LittleEndian.Uint16(info[2:]))
		info = info[4:]
		if format <= formatWord { // the length is the value
			continue
		}
		if length > len(info) {
			return fmt.Errorf("cubin: .nv.info: attribute %#x of %d bytes, %d are left", attribute, length, len(info))
		}
		found(attribute, info[:length])
		info = info[length:]
	}
	return nil
}

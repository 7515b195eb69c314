// Package json has the kernels for JSON: structure, records, members and values.
package json

import (
	"errors"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// Structure is the structure of a chunk of JSON text: a class for each byte, with quotes inside
// strings told from those that bound them, and the state at the start of each 16 KiB tile. It takes
// 3/8 of the text's size; kernels read it with quote.cuh, UnpackStructure writes its masks.
type Structure struct {
	n      int64
	planes gpu.Buffer[uint64]
	tile   gpu.Buffer[ktext.QuoteTile]
	sound  gpu.Buffer[uint8]

	unsound gpu.Buffer[uint32] // one element: not 0 if CheckStrings has a tile to look at
}

// StructureCarry is what the text before a chunk says of its first byte.
type StructureCarry struct {
	Quote ktext.QuoteCarry
	Depth int64 // brackets open before it
}

// AllocStructure takes the memory for the structure of up to n bytes of text; Free gives it back.
func AllocStructure(s *gpu.Stream, n int) (*Structure, error) {
	planes, err := gpu.Alloc[uint64](s, 3*kernels.Words(n))
	if err != nil {
		return nil, err
	}
	x := &Structure{planes: planes}
	tiles := int(kernels.Blocks(int64(n), kernels.TileBytes))
	if x.tile, err = gpu.Alloc[ktext.QuoteTile](s, tiles); err == nil {
		x.sound, err = gpu.Alloc[uint8](s, tiles)
	}
	if err == nil {
		x.unsound, err = gpu.Alloc[uint32](s, 1)
	}
	if err != nil {
		_ = x.Free(s) // the first error is the one to tell
		return nil, err
	}
	return x, nil
}

// Len is the bytes of the text.
func (x *Structure) Len() int64 { return x.n }

// PlanesArg is the argument of a kernel that reads the structure with quote.cuh.
func (x *Structure) PlanesArg() gpu.Arg { return x.planes.Arg() }

// TilesArg is what the text before each tile says of the tile.
func (x *Structure) TilesArg() gpu.Arg { return x.tile.Arg() }

// Free gives the memory back once the work that s was given before is done.
func (x *Structure) Free(s *gpu.Stream) error {
	return errors.Join(x.planes.Free(s), x.tile.Free(s), x.sound.Free(s), x.unsound.Free(s))
}

// ParseStructure finds the structure of text: two launches, of which the first reads the text once
// and the second its tiles' summaries. It does what QuoteParity and BracketDepth do, for quotes and
// brackets of JSON, in a quarter of their traffic. A depth beyond 2^31-1 at the start of a tile
// stays there.
//
//	text    n bytes, at most what x was allocated for
//	x       overwritten
//	carry   one element or none
func ParseStructure(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *Structure,
	carries gpu.Buffer[StructureCarry],
) error {
	w := k.Begin(s, "structure")
	x.n = w.CheckText(text)
	tiles := kernels.Blocks(x.n, kernels.TileBytes)
	w.Need(tiles <= int64(x.tile.Len()) && 3*kernels.Words(int(x.n)) <= x.planes.Len(),
		"%d bytes of text for a structure of %d words", x.n, x.planes.Len()/3)
	kernels.CheckCarry(w, carries)
	depth := gpu.Field[int64](carries.Pointer(), unsafe.Offsetof(StructureCarry{}.Depth))
	w.Launch("structure_tiles", tiles, kernels.Block, text.Arg(), gpu.Int(x.n), x.planes.Arg(), x.tile.Arg(),
		x.sound.Arg())
	ktext.JoinQuotes(w, x.tile, tiles, carries.Arg(), depth.Arg(), x.sound.Arg(), x.unsound.Arg())
	return w.Done()
}

// StructureMasks are the masks of a structure, and the bracket depth before each word. Open, Close,
// Colon and Comma are bytes outside strings.
type StructureMasks struct {
	Inside, Open, Close, Colon, Comma kernels.Mask
	Depth                             gpu.Buffer[int32] // saturates at 2^31-1

	all gpu.Buffer[uint64]
}

// AllocStructureMasks takes the memory for the masks of n bytes of text; Free gives it back.
func AllocStructureMasks(s *gpu.Stream, n int) (*StructureMasks, error) {
	words := kernels.Words(n)
	all, err := gpu.Alloc[uint64](s, 5*words)
	if err != nil {
		return nil, err
	}
	depth, err := gpu.Alloc[int32](s, words)
	if err != nil {
		_ = all.Free(s) // the second error is the one to tell
		return nil, err
	}
	m := &StructureMasks{Depth: depth, all: all}
	for i, mask := range []*kernels.Mask{&m.Inside, &m.Open, &m.Close, &m.Colon, &m.Comma} {
		*mask = all.Slice(i*words, (i+1)*words)
	}
	return m, nil
}

// Free gives the memory back once the work that s was given before is done.
func (m *StructureMasks) Free(s *gpu.Stream) error {
	err := m.all.Free(s)
	if second := m.Depth.Free(s); err == nil {
		err = second
	}
	return err
}

// UnpackStructure writes the masks of x: one launch that reads 3/8 byte and writes 11/16 byte for
// each byte of text. m was allocated for as much text as x was parsed from.
func UnpackStructure(k *kernels.Set, s *gpu.Stream, x *Structure, m *StructureMasks) error {
	w := k.Begin(s, "structure masks")
	w.CheckMask("inside", m.Inside, x.n)
	w.Launch("structure_masks", kernels.Blocks(x.n, kernels.TileBytes), kernels.Block, x.planes.Arg(),
		gpu.Int(x.n), x.tile.Arg(),
		m.all.Arg(), m.Depth.Arg())
	return w.Done()
}

package text

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// Brackets are 1 to 8 pairs of brackets: Open[i] is closed by Close[i]. No byte may be named twice.
type Brackets struct{ Open, Close string }

const maxPairs = 8

// check reports what is wrong with b.
func (b Brackets) check() error {
	switch {
	case len(b.Open) != len(b.Close):
		return fmt.Errorf("%d opening and %d closing brackets", len(b.Open), len(b.Close))
	case b.Open == "":
		return fmt.Errorf("no brackets")
	case len(b.Open) > maxPairs:
		return fmt.Errorf("%d pairs of brackets, at most %d", len(b.Open), maxPairs)
	}
	all := b.Open + b.Close
	for i := range len(all) {
		if strings.IndexByte(all, all[i]) < i {
			return fmt.Errorf("the bracket %q is named twice", all[i])
		}
	}
	return nil
}

// PackBytes is up to 8 bytes as a kernel takes them, the first lowest.
func PackBytes(s string) (v uint64) {
	for i := range len(s) {
		v |= uint64(s[i]) << (8 * i)
	}
	return v
}

// DepthCarry is what the text before a chunk says of its first byte.
type DepthCarry struct {
	Depth int64 // brackets open before it
}

// Depth is the bracket structure of a chunk of text: where brackets are, how deep each byte lies,
// and an index in which the bracket that matches another is found in a time that does not depend on
// how far away it is. BracketDepth fills it in.
//
// Depth is inclusive: an opener counts at itself, a closer no longer does.
//
//	text   {"a": [1, 2]}
//	depth  1111112222210
type Depth struct {
	Open, Close kernels.Mask // brackets outside strings
	// Words(n) elements: the depth before a word's first byte; it stays at ±(2^31-1) once it gets
	// there
	Base gpu.Buffer[int32]

	brackets Brackets
	N        int64              // bytes of the text
	low      gpu.Buffer[int32]  // the tree of depth.cuh
	some     gpu.Buffer[uint32] //
	span     gpu.Buffer[int64]  // the depth at the text's start and at its end

	masks gpu.Buffer[uint64] // memory of Open and Close
	base  gpu.Buffer[int32]  // and of Base, for as many words as were asked for
}

// AllocDepth takes the memory for up to n bytes of text and these brackets, half the text's size
// for two pairs; Free gives it back.
func AllocDepth(s *gpu.Stream, n int, b Brackets) (*Depth, error) {
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("bracket depth: %w", err)
	}
	words := kernels.Words(n)
	low, some := treeRoom(int64(words))
	d := &Depth{brackets: b}
	err := errors.Join(
		allocTo(s, &d.masks, 2*words),
		allocTo(s, &d.base, words),
		allocTo(s, &d.low, int(low)),
		allocTo(s, &d.some, int(some)),
		allocTo(s, &d.span, 2),
	)
	if err != nil {
		return nil, errors.Join(err, d.Free(s))
	}
	return d, nil
}

// allocTo allocates n elements to b.
func allocTo[T any](s *gpu.Stream, b *gpu.Buffer[T], n int) (err error) {
	*b, err = gpu.Alloc[T](s, n)
	return err
}

// Free gives the memory back once the work that s was given before is done.
func (d *Depth) Free(s *gpu.Stream) error {
	return errors.Join(d.masks.Free(s), d.base.Free(s), d.low.Free(s), d.some.Free(s), d.span.Free(s))
}

// cut sets the views for n bytes of text.
func (d *Depth) cut(n int64) {
	words := kernels.Words(int(n))
	d.N = n
	d.Open, d.Close = d.masks.Slice(0, words), d.masks.Slice(words, 2*words)
	d.Base = d.base.Slice(0, words)
}

// treeNodes is how many nodes a level of the tree has, and treeRoom how many all levels take up,
// with level 0 and without.
func treeNodes(words int64, level int) int64 { return (words + 1<<(5*level) - 1) >> (5 * level) }

func treeRoom(words int64) (low, some int64) {
	if words <= 0 {
		return 0, 0
	}
	for level := 1; ; level++ {
		nodes := treeNodes(words, level)
		some += (nodes + 31) &^ 31
		if nodes == 1 {
			return (words+31)&^31 + some, some
		}
	}
}

// BracketDepth finds the brackets of text outside strings, the depth of every byte, and what
// matches brackets.
//
//	text    n bytes
//	inside  Words(n) words, or none: nothing is in strings
//	d       overwritten; allocated for as much text at least, and for the brackets that count
//	carry   one element or none
//
// Four launches, of which the first reads text, the third its masks, and the last makes the levels
// of the tree from the second on. Brackets are compiled in where there is a compiler.
func BracketDepth(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], inside kernels.Mask, d *Depth,
	carries gpu.Buffer[DepthCarry],
) error {
	w := k.Begin(s, "bracket depth")
	n := w.CheckText(text)
	words := int64(kernels.Words(int(n)))
	w.Need(words <= int64(d.base.Len()), "%d bytes of text for the depth of %d words", n, d.base.Len())
	if inside.Len() > 0 {
		w.CheckMask("inside", inside, n)
	}
	kernels.CheckCarry(w, carries)
	if w.Err != nil {
		return w.Done()
	}
	d.cut(n)
	tiles := max(1, kernels.Blocks(n, kernels.TileBytes))
	tile := kernels.Scratch[int64](w, int(tiles)+1)
	b := d.brackets
	openers, closers := PackBytes(b.Open), PackBytes(b.Close)
	f, _, err := k.Specialize("brackets_tiles", fmt.Sprintf("PAIRS=%d", len(b.Open)),
		fmt.Sprintf("OPENERS=%#xull", openers), fmt.Sprintf("CLOSERS=%#xull", closers))
	w.Fail(err)
	w.LaunchKernel(f, tiles, kernels.Block, text.Arg(), gpu.Int(n), inside.Arg(), gpu.Int(len(b.Open)),
		gpu.Int(openers),
		gpu.Int(closers), d.Open.Arg(), d.Close.Arg(), tile.Arg(), carries.Arg(), d.span.Arg())
	if w.Err == nil {
		kernels.Scan(w, tile.Slice(0, int(tiles)), tile, gpu.Buffer[int64]{})
	}
	w.Launch("depth_words", tiles, kernels.Block, d.Open.Arg(), d.Close.Arg(), gpu.Int(words), tile.Arg(),
		d.span.Arg(), carries.Arg(), d.Base.Arg(), d.low.Arg(), d.some.Arg())
	depthLevels(w, d)
	return w.Done()
}

// depthLevels makes the tree's levels from the second on.
func depthLevels(w *kernels.Call, d *Depth) {
	if words := int64(kernels.Words(int(d.N))); treeNodes(words, 1) > 1 {
		w.Launch("depth_levels", 1, kernels.ScanBlock, d.low.Arg(), d.some.Arg(), gpu.Int(words))
	}
}

// DepthAt returns the depth at each of positions; -2^31 for one outside of the text.
//
//	positions  m byte offsets
//	depths     m elements, overwritten
func DepthAt(k *kernels.Set, s *gpu.Stream, d *Depth, positions gpu.Buffer[int64], depths gpu.Buffer[int32]) error {
	w := k.Begin(s, "depth at positions")
	m := int64(positions.Len())
	w.Need(int64(depths.Len()) == m, "%d depths for %d positions", depths.Len(), m)
	w.Launch("depth_positions", kernels.Blocks(m, kernels.Block), kernels.Block, d.Open.Arg(), d.Close.Arg(),
		d.Base.Arg(),
		gpu.Int(d.N), positions.Arg(), gpu.Int(m), depths.Arg())
	return w.Done()
}

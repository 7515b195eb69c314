package json

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

const (
	valueLevels = 64  // VALUE_LEVELS of check_values.cuh: how deep values may lie
	valueRuns   = 512 // VALUE_RUNS of check_values.cu: how many threads join tiles, at most
	valueEach   = 4   // JOIN_EACH of check_values.cu: tiles that each of them joins at a time
)

// valueRun is ValueRun of check_values.cuh.
type valueRun struct {
	Set, Curly uint64
	Last, _    uint32
}

// CheckValues finds the first byte that shows that values in a JSON text are not as RFC 8259 has
// them, whatever they are: objects, arrays, strings, numbers. It is for values that nobody reads
// further, or that are kept as text.
//
//	text    n bytes
//	x       was parsed from text, without a carry
//	within  Words(n) words: which bytes belong to the values, from the first byte of each to its last.
//	        MarkSpans makes it of their spans
//	most    how many brackets may be open at a time, those around the values included, those of strings left
//	        out: 1,024 or so, of which 64 are used
//	solid   Words(n) words, overwritten: the bytes of the values without the blanks between their tokens,
//	        which Compact makes compact JSON of; or none
//	fault   one element, overwritten: the byte's offset, or -1
//
//	text    {"a": [1, 2] ,"b":  {"c"  : null}}
//	within  ......111111........1111111111111.
//	solid   ......111.11........1111..1.11111.
//
// Set bits that follow one another are one value; a bit that is not set is between two. A caller
// that says what the values are must have seen to it that each closes as many brackets as it opens,
// and no others: that they end where the depth is what it was at their start. Then nothing but a
// value is let pass. A name may come twice in an object; numbers may be beyond float64. What is
// inside strings is for CheckStrings to say.
//
// A fault are, too: a number of more than 1 KiB, and a value of more than 64 brackets at a time.
//
// Three launches: two read n/8 bytes, and where there are values the text and 3/8 byte for each
// byte of it; one joins tiles. Writes n/8 bytes if solid is there. The time is linear in the bytes,
// whatever the values are.
func CheckValues(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *Structure, within kernels.Mask, most int,
	solid kernels.Mask, fault gpu.Buffer[int64],
) error {
	w := k.Begin(s, "check values")
	n := w.CheckText(text)
	w.Need(x.n == n, "the structure of %d bytes for %d bytes of text", x.n, n)
	w.CheckMask("within", within, n)
	if solid.Len() > 0 {
		w.CheckMask("solid", solid, n)
	}
	noFault(w, fault)
	tiles := kernels.Blocks(n, kernels.TileBytes)
	run := kernels.Scratch[valueRun](w, int(tiles))
	w.Launch("check_values_tiles", tiles, kernels.Block, text.Arg(), x.planes.Arg(), gpu.Int(n), x.tile.Arg(),
		within.Arg(), run.Arg())
	w.Launch("check_values_join", min(tiles, 1), int(min(valueRuns, kernels.Blocks(tiles, 32*valueEach)*32)),
		run.Arg(), gpu.Int(tiles))
	w.Launch("check_values", tiles, kernels.Block, text.Arg(), x.planes.Arg(), gpu.Int(n), x.tile.Arg(), within.Arg(),
		gpu.Int(min(most, valueLevels)), run.Arg(), solid.Arg(), fault.Arg())
	return w.Done()
}

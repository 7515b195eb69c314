package json

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// CheckStrings finds the first byte of JSON text that can't stand in the string it stands in, or
// outside of strings because only strings may hold it.
//
//	text   n bytes
//	x      was parsed from text, without a carry: the text begins outside of strings
//	fault  one element, overwritten: the byte's offset, or -1; n where the last string has no end
//
// Inside a string that is
//
//   - a control character, below 0x20
//   - a byte at which an escape can't go on: `"`, `\`, `/`, `b`, `f`, `n`, `r`, `t`, or `u` and 4 hexadecimal
//     digits (RFC 8259 section 7). Half a surrogate
//     pair is an escape as any other
//   - a byte at which UTF-8 can't go on: one that leads no character or continues none, or would make an
//     overlong form, a surrogate, or more than U+10FFFF
//     (RFC 3629 section 4)
//
// and outside a backslash, or a byte from 0x80 on. Other bytes outside of strings are not looked
// at.
//
//	text   { " a \ x \n " : " é
//	                ^
//
// One launch that reads again what ParseStructure has found something in, and nothing where all is
// sound; whatever the length of strings, characters and runs of backslashes.
func CheckStrings(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *Structure, fault gpu.Buffer[int64]) error {
	w := k.Begin(s, "check strings")
	n := w.CheckText(text)
	w.Need(x.n == n, "the structure of %d bytes for %d bytes of text", x.n, n)
	noFault(w, fault)
	const each = 4 // CHECKED of check_strings.cu
	tiles := kernels.Blocks(n, kernels.TileBytes)
	w.Launch("check_strings", kernels.Blocks(tiles, each), kernels.Block, text.Arg(), gpu.Int(n),
		x.tile.Arg(), x.sound.Arg(),
		gpu.Int(tiles), fault.Arg())
	return w.Done()
}

// noFault sets fault to -1, which is the highest offset as kernels compare them.
func noFault(w *kernels.Call, fault gpu.Buffer[int64]) {
	w.Need(fault.Len() == 1, "%d elements for the first fault", fault.Len())
	if w.Err == nil {
		w.Err = gpu.Fill(w.Stream, fault, 0xff)
	}
}

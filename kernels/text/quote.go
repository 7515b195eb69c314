// Package text has the kernels for quotes, brackets, patterns, spans and strings of any text.
package text

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// QuoteStyle is how a quote stands for itself inside a string.
type QuoteStyle uint32

const (
	// QuoteEscaped is JSON's way: a backslash takes the next byte's meaning, another backslash's
	// too (RFC 8259 section 7).
	QuoteEscaped QuoteStyle = iota
	// QuoteDoubled is CSV's way: two quotes in a row (RFC 4180). They end the string and start it
	// again, so that the first of them is not inside.
	QuoteDoubled
)

// QuoteCarry is what the text before a chunk says of its first byte.
type QuoteCarry struct {
	Inside  uint32 // 1: it lies in a string
	Escaped uint32 // 1: a backslash stands before it that is not itself escaped
}

// QuoteTile is QuoteTile of quote.cuh, which only kernels read.
type QuoteTile [1]uint64

// QuoteParity sets bit i of inside if byte i of text is inside a string, the opening quote
// included, the closing quote not.
//
//	text    n bytes
//	inside  Words(n) words, overwritten
//	carry   one element or none
//
//	text    { " a \ " b " : "
//	inside  . 1 1 1 1 1 . . 1
//
// Three launches, of which two read the text and the mask once each. A run of backslashes costs no
// more than other text.
func QuoteParity(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], quote byte, style QuoteStyle,
	inside kernels.Mask,
	carries gpu.Buffer[QuoteCarry],
) error {
	w := k.Begin(s, "quote parity")
	n := w.CheckText(text)
	w.CheckMask("inside", inside, n)
	w.Need(quote != 0 && quote != '\\', "the quote %q", quote)
	kernels.CheckCarry(w, carries)
	tiles := kernels.Blocks(n, kernels.TileBytes)
	tile := kernels.Scratch[QuoteTile](w, int(tiles))
	w.Launch("quote_tiles", tiles, kernels.Block, text.Arg(), gpu.Int(n), gpu.Int(quote), gpu.Int(style),
		inside.Arg(), tile.Arg())
	JoinQuotes(w, tile, tiles, carries.Arg(), gpu.Int(0), gpu.Int(0), gpu.Int(0))
	w.Launch("quote_inside", tiles, kernels.Block, inside.Arg(), gpu.Int(n), tile.Arg())
	return w.Done()
}

// JoinQuotes tells each tile what lies before it; quotes and depth are the addresses of the
// carries, or 0. sound and unsound are those of a structure, or 0.
func JoinQuotes(w *kernels.Call, tile gpu.Buffer[QuoteTile], tiles int64, quotes, depth, sound, unsound gpu.Arg) {
	w.Launch("quote_join", 1, kernels.ScanBlock, tile.Arg(), gpu.Int(tiles), quotes, depth, sound, unsound)
}

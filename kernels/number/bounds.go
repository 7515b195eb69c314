// Package number has the kernels that find numbers and parse them exactly.
package number

import (
	"strings"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// Separators are what numbers stand between.
type Separators struct {
	Bytes  string // 1 to 16 bytes; empty: those of JSON and CSV, `,[]{}: ` and tab, line feed, carriage return
	Points bool   // a number may start with a point, as in CSV and WKT
	Before int    // the byte before the text, or -1 at the file's start
	Behind int    // the byte after the text, or -1 at the file's end
}

const (
	defaultSeparators = ",[]{}: \t\r\n"
	mostSeparators    = 16
)

// NumberBoundaries finds where numbers may start and end.
//
//	text    n bytes
//	inside  Words(n) words: no number is looked for in these bytes; or none
//	start   a digit, a sign, or a point where Points allows it, behind a separator
//	end     a digit, a sign, a point, "e" or "E" before a separator
//
//	text    [ - 1 . 5 , 2 , t r u e ]
//	start   . 1 . . . . 1 . . . . . .
//	end     . . . . 1 . 1 . . . . 1 .
//
// The file's edges separate as well. Not all that starts is a number and ends as one:
// ExtractNumbers drops what does not pair, and ParseFloat64 says what is not a number.
//
// One launch; reads text once, and inside, and writes a quarter byte a byte of text.
func NumberBoundaries(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], inside kernels.Mask, between Separators,
	start, end kernels.Mask,
) error {
	w := k.Begin(s, "number boundaries")
	n := w.CheckText(text)
	optional(w, "inside", inside, n)
	w.CheckMask("start", start, n)
	w.CheckMask("end", end, n)
	if between.Bytes == "" {
		between.Bytes = defaultSeparators
	}
	count := len(between.Bytes)
	w.Need(count <= mostSeparators, "%d separators, more than %d", count, mostSeparators)
	for _, c := range []int{between.Before, between.Behind} {
		w.Need(c >= -1 && c <= 255, "the byte %d next to the text", c)
	}
	if w.Err == nil {
		low, high := eightBytes(between.Bytes, 0), eightBytes(between.Bytes, 8)
		w.Launch("bounds", kernels.Blocks(n, kernels.TileBytes), kernels.Block, text.Arg(), gpu.Int(n),
			inside.Arg(), gpu.Int(low),
			gpu.Int(high), gpu.Int(count),
			flag(between.Points), gpu.Int(between.Before), gpu.Int(between.Behind), start.Arg(), end.Arg())
	}
	return w.Done()
}

// eightBytes are the bytes of list from i on, the first one lowest, filled up with its first one.
func eightBytes(list string, i int) (v uint64) {
	list += strings.Repeat(list[:1], mostSeparators)
	for k := range 8 {
		v |= uint64(list[i+k]) << (8 * k)
	}
	return v
}

// flag is 1 for true.
func flag(b bool) gpu.Arg {
	if b {
		return gpu.Int(1)
	}
	return gpu.Int(0)
}

// optional checks a mask that may be left out.
func optional(w *kernels.Call, what string, m kernels.Mask, n int64) {
	if m.Len() > 0 {
		w.CheckMask(what, m, n)
	}
}

package kernels

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
)

// BracketFault says how a bracket is wrong.
type BracketFault uint8

// As NESTING_* of nesting.cu.
const (
	BracketsSound     BracketFault = iota
	BracketUnopened                // a closer where nothing is open
	BracketMismatched              // a closer of another pair than its opener
	BracketTooDeep                 // some bracket near here lies 2^31-1 deep: what lies deeper is not looked at
)

// BracketReport is what CheckBrackets found.
type BracketReport struct {
	Offset int64        // of the first wrong bracket in the chunk, or -1
	Fault  BracketFault // of that one
	// closers whose openers lie before the chunk, too deep for the stack: their pairs were not
	// compared
	Undecided int64
	Depth     int64 // brackets that are open at the chunk's end
}

// nestingResult is NestingResult of nesting.cu.
type nestingResult struct{ First, Undecided uint64 }

// CheckBrackets finds the first bracket that is wrong: a closer where nothing is open, or one of
// another pair than its opener, at any depth. It waits for the device.
//
//	d      of a chunk
//	stack  none, or the pairs of the brackets that are open before the chunk, by depth; afterwards at its end. Its contents don't matter before the
//	       first chunk. Its length is the depth up to which openers in earlier chunks are known
//
// Without a stack every closer of a bracket that an earlier chunk opened is undecided. A chunk with
// a wrong bracket leaves the stack undefined. The time is linear in the bytes whatever the depth,
// see nesting.cu.
func (k *Set) CheckBrackets(s *gpu.Stream, d *Depth, stack gpu.Buffer[uint8]) (BracketReport, error) {
	w := k.begin(s, "check brackets")
	words := int64(d.Open.Len())
	planes := gpu.Int(d.brackets.planes())
	result := take[nestingResult](w, 1)
	if w.err == nil {
		w.err = gpu.Upload(s, result, []nestingResult{{First: math.MaxUint64}})
	}
	args := []gpu.Arg{
		d.Open.Arg(), d.Close.Arg(), d.Base.Arg(), d.low.Arg(), d.types.Arg(), planes,
		gpu.Int(words), stack.Arg(), gpu.Int(stack.Len()),
	}
	w.launch("nesting_check", blocks(words, block), block, append(args, result.Arg())...)
	if stack.Len() > 0 {
		w.launch("nesting_keep", blocks(words, block), block, args...)
	}
	found, depth := only(w, result), only(w, d.span.Slice(1, 2))
	report := BracketReport{Offset: -1, Undecided: int64(found.Undecided), Depth: depth}
	if found.First != math.MaxUint64 {
		report.Offset, report.Fault = int64(found.First>>2), BracketFault(found.First&3)
	}
	return report, w.done()
}

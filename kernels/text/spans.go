package text

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// SpanBoundaries finds where bracketed values end. From skip bytes after each start it goes on to
// the first bracket, and from there to the first byte at which the depth is less than at that
// bracket; the end is one past it, and n if there is none.
//
//	d       of n bytes of text
//	starts  m byte offsets, in any order
//	skip    0 or more, the length of the key that begins at a start, say
//	ends    m elements, overwritten
//
//	text    " k " : [ [ 1 ] , 2 ] , 3 }
//	depth   1 1 1 1 2 3 3 2 2 2 1 1 1 0
//	        start   ^ skip 4  end ^
//
// It does not look at what lies before the bracket. Where the value is no bracketed one, the first
// bracket is one that does not belong to it: the opener of a later value, or, as in {"k": null},
// the closer around it, from which on the depth has to fall once more. A start outside of the text,
// or with less than skip bytes after it, gives n.
//
// One launch. The time for a span does not depend on its length nor on what lies before its
// bracket, see depth.cuh.
func SpanBoundaries(k *kernels.Set, s *gpu.Stream, d *Depth, starts gpu.Buffer[int64], skip int,
	ends gpu.Buffer[int64],
) error {
	w := k.Begin(s, "span boundaries")
	m := int64(starts.Len())
	w.Need(int64(ends.Len()) == m, "%d ends for %d starts", ends.Len(), m)
	w.Need(skip >= 0, "%d bytes to skip", skip)
	w.Launch("spans_ends", kernels.Blocks(m, kernels.Block), kernels.Block, d.Open.Arg(), d.Close.Arg(),
		d.Base.Arg(), d.low.Arg(),
		d.some.Arg(), gpu.Int(d.N),
		starts.Arg(), gpu.Int(m), gpu.Int(skip), ends.Arg())
	return w.Done()
}

package text

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// HexOffsets reports where the bytes go that spans of hexadecimal digits write, two digits a byte.
//
//	text     n bytes
//	starts   of each span
//	ends     likewise
//	offsets  a span more, overwritten: bytes of the spans before each span, and of all
//	bad      Words(spans) words, overwritten: spans with an odd number of digits, which have no bytes, and
//	         spans outside of the text
//
//	text     0 1 F F , c 0
//	starts   0         5
//	ends             4     7
//	offsets  0 2 3
//
// Reads 16 bytes a span, writes and scans 8.
func HexOffsets(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], starts, ends, offsets gpu.Buffer[int64],
	bad kernels.Mask,
) error {
	w := k.Begin(s, "hex offsets")
	n, spans := w.CheckText(text), starts.Len()
	w.Need(ends.Len() == spans && offsets.Len() == spans+1, "%d starts, %d ends and %d offsets", spans,
		ends.Len(), offsets.Len())
	w.CheckBits("bad", bad, int64(spans))
	w.Launch("hex_sizes", kernels.Blocks(int64(spans), kernels.Block), kernels.Block, gpu.Int(n),
		starts.Arg(), ends.Arg(),
		gpu.Int(spans), offsets.Arg(), bad.Arg())
	if w.Err == nil {
		kernels.Scan(w, offsets.Slice(0, spans), offsets, gpu.Buffer[int64]{})
	}
	return w.Done()
}

// HexBytes decodes the spans for which HexOffsets made offsets. Digits are of either case.
//
//	out  as many bytes as the last offset says; n/2, for n bytes of text, suffice for spans that do not
//	     overlap. Bytes after its end are left out
//	bad  spans with a byte that is no digit are added; such a span has its bytes, of no meaning
//
// One thread writes 8 bytes, so that the time depends on their number and not on the length of a
// span. Reads 2 bytes and writes 1 for each byte of the result, and reads 16 bytes a span.
func HexBytes(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], starts, offsets gpu.Buffer[int64],
	out gpu.Buffer[byte], bad kernels.Mask,
) error {
	const threadBytes = 8 // HEX_BYTES of hex.cu
	w := k.Begin(s, "hex bytes")
	n, spans := w.CheckText(text), starts.Len()
	w.Need(offsets.Len() == spans+1, "%d offsets for %d spans", offsets.Len(), spans)
	w.CheckBits("bad", bad, int64(spans))
	if spans > 0 {
		w.Launch("hex_decode", kernels.Blocks(int64(out.Len()), kernels.Block*threadBytes), kernels.Block,
			text.Arg(), gpu.Int(n),
			starts.Arg(), gpu.Int(spans), offsets.Arg(), out.Arg(), gpu.Int(out.Len()), bad.Arg())
	}
	return w.Done()
}

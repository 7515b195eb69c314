package text

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// RecodedBytes is how many bytes a text may have that MeasureRecoded reads.
const RecodedBytes = 256

// CodePage is a code page of one byte a character, of whose bytes those below 0x80 are ASCII: for
// each byte from 0x80 on its UTF-8 of up to three bytes, the first one lowest, and from bit 24 on
// how many they are. 0 is no character.
//
//	byte  0xFC of ISO-8859-1, ü    0x02 00 BC C3
type CodePage [128]uint32

// MeasureRecoded finds how many bytes texts of a code page have as UTF-8.
//
//	text     n bytes
//	starts   of each text, of RecodedBytes at most; of a longer one the bytes after do not count
//	ends     likewise
//	page     a CodePage
//	offsets  a text more, overwritten: bytes of the texts before each text, and of all
//	odd      one element, to which FixedHigh is added if a byte is no character
//
// Two launches and a scan; reads the texts and 16 bytes each, writes 8.
func MeasureRecoded(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64],
	page gpu.Buffer[uint32], offsets gpu.Buffer[int64], odd gpu.Buffer[uint32],
) error {
	w := k.Begin(s, "measure recoded")
	args := recoded(w, text, starts, ends, page, offsets)
	w.Need(odd.Len() == 1, "%d elements for what is odd", odd.Len())
	w.Launch("recode_sizes", kernels.Blocks(int64(starts.Len()), kernels.Block), kernels.Block,
		kernels.JoinArgs(args, offsets.Arg(), odd.Arg())...)
	if w.Err == nil {
		kernels.Scan(w, offsets.Slice(0, starts.Len()), offsets, gpu.Buffer[int64]{})
	}
	return w.Done()
}

// GatherRecoded writes texts as UTF-8, one after the other, as MeasureRecoded has found their
// offsets.
//
//	out  the bytes; a text that does not fit whole is left out
//
// One launch; reads the texts and 24 bytes each, writes what they become.
func GatherRecoded(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64],
	page gpu.Buffer[uint32], offsets gpu.Buffer[int64], out gpu.Buffer[byte],
) error {
	w := k.Begin(s, "gather recoded")
	args := recoded(w, text, starts, ends, page, offsets)
	w.Launch("recode_bytes", kernels.Blocks(int64(starts.Len()), kernels.Block), kernels.Block,
		kernels.JoinArgs(args, offsets.Arg(), out.Arg(),
			gpu.Int(out.Len()))...)
	return w.Done()
}

// recoded checks the texts and gives what kernels know them by.
func recoded(w *kernels.Call, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64], page gpu.Buffer[uint32],
	offsets gpu.Buffer[int64],
) []gpu.Arg {
	n, texts := w.CheckText(text), starts.Len()
	w.Need(ends.Len() == texts && offsets.Len() == texts+1, "%d starts, %d ends and %d offsets", texts,
		ends.Len(), offsets.Len())
	w.Need(page.Len() == len(CodePage{}), "a code page of %d bytes", page.Len())
	return []gpu.Arg{text.Arg(), gpu.Int(n), starts.Arg(), ends.Arg(), gpu.Int(texts), page.Arg()}
}

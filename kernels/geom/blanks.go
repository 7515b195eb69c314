package geom

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// Blanks says which words of 64 bytes of a text hold more than white space (space, tab, line feed,
// carriage return), and does so for 64 of them, 64 of those, and so on: a kernel gets over a run of
// any length in a few steps. It takes 1/512 of the text's size.
type Blanks struct {
	n      int64
	levels gpu.Buffer[uint64] // see blanks.cuh
}

// AllocBlanks takes the memory for up to n bytes of text; Free gives it back.
func AllocBlanks(s *gpu.Stream, n int) (*Blanks, error) {
	levels, err := gpu.Alloc[uint64](s, blankWords(n))
	if err != nil {
		return nil, err
	}
	return &Blanks{levels: levels}, nil
}

// blankWords is how many words all levels have for n bytes of text.
func blankWords(n int) (words int) {
	for level := kernels.Words(kernels.Words(n)); level > 0; level = kernels.Words(level) {
		words += level
		if level == 1 {
			break
		}
	}
	return words
}

// Free gives the memory back once the work that s was given before is done.
func (b *Blanks) Free(s *gpu.Stream) error { return b.levels.Free(s) }

// FindBlanks looks where text is blank. b was allocated for at least as many bytes, and is
// overwritten.
//
// A launch that reads the first 16 of 64 bytes, and the others where these may be blank, and one
// for all levels above that reads next to nothing.
func FindBlanks(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], b *Blanks) error {
	w := k.Begin(s, "blanks")
	b.n = w.CheckText(text)
	w.Need(blankWords(text.Len()) <= b.levels.Len(), "%d bytes of text for blanks of %d words", b.n, b.levels.Len())
	if w.Err == nil {
		words := kernels.Words(text.Len())
		w.Launch("blanks_words", kernels.Blocks(int64(words), kernels.Block), kernels.Block, text.Arg(),
			gpu.Int(b.n), b.levels.Arg())
		if level := kernels.Words(words); level > 1 {
			w.Launch("blanks_levels", 1, kernels.ScanBlock, b.levels.Arg(), gpu.Int(level))
		}
	}
	return w.Done()
}

// args are what a kernel takes to build a Blanks of blanks.cuh.
func (b *Blanks) args() (level gpu.Arg, words int64) {
	if b == nil {
		return gpu.Buffer[uint64]{}.Arg(), 0
	}
	return b.levels.Arg(), int64(kernels.Words(kernels.Words(int(b.n))))
}

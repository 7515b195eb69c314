package readertest

import (
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
)

// Mutants reads variants of a file with one mistake each: a byte of text[from:to] is removed or
// doubled, or a byte of an alphabet is inserted before it or replaces it. A GPU engine must give
// the outcome of the CPU engine. It may refuse chunks with the mistake, but must accept at least an
// eighth of as many chunks as there are files.
//
// Under -short each 61st is read.
func Mutants(t *testing.T, f readers.Format, in Input, from, to int, alphabet string, e readers.Engine) {
	t.Helper()
	step := 1
	if testing.Short() {
		step = 61
	}
	whole, n := in.Text, 0
	read := func(parts ...[]byte) {
		if n++; n%step > 0 || t.Failed() {
			return
		}
		in.Text = slices.Concat(parts...)
		Same(t, f, in, []int{0}, OnDevice(e))
	}
	for i := from; i < to; i++ {
		before, at, behind := whole[:i], whole[i:i+1], whole[i+1:]
		read(before, behind)
		read(before, at, at, behind)
		for k := range len(alphabet) {
			c := []byte{alphabet[k]}
			read(before, c, at, behind)
			read(before, c, behind)
		}
	}
	c := e.Counts()
	t.Logf("%d files; %d chunks accepted, %d refused, the last because of %q", n/step, c.Chunks, c.Refused, c.Reason)
	if c.Chunks < int64(n/step/8) {
		t.Errorf("%d chunks accepted of %d files: want an eighth", c.Chunks, n/step)
	}
}

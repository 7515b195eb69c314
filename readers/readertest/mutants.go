package readertest

import (
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
)

// Mutants reads a file with one mistake, again and again: each byte of text[from:to] is left out or
// stands twice, or a byte of an alphabet is before it or in its place. A GPU engine has to give
// the outcome of the CPU engine. It has to read an eighth of as many chunks as there are files, at
// least, or it was hardly asked; those with the mistake it may refuse.
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

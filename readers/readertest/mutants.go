package readertest

import (
	"slices"
	"testing"
)

// Mutants reads a file with one mistake, again and again: a byte of text[from:to] is left out or is
// there twice, or a byte of an alphabet precedes it or replaces it. The device gives the outcome of
// the CPU engine. It accepts one chunk for eight files, or it was hardly used; the chunk with the
// mistake it may refuse.
//
// Under -short each 61st is read.
func (d *Device) Mutants(t *testing.T, in Input, from, to int, alphabet string) {
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
		d.Same(t, in)
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
	counts := d.Counts()
	t.Logf("%d files; %s", n/step, countsText(counts))
	if counts.Chunks < int64(n/step/8) {
		t.Errorf("%d chunks accepted of %d files: want an eighth", counts.Chunks, n/step)
	}
}

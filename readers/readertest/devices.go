package readertest

import (
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// Devices are GPU engines of a format on one device, one for each size of its chunks.
func Devices(t testing.TB, f readers.Format, chunkBytes []int64) (list []readers.Engine) {
	t.Helper()
	k := Kernels(t)
	for i, chunk := range chunkBytes {
		p := slots.Plan{ChunkBytes: chunk, Slots: 4, Work: 3}
		if i%2 == 1 { // otherwise memory comes from the device, which checks the bounds of every buffer
			p.ArenaBytes = 1 << 20
		}
		list = append(list, DeviceOn(t, f, slots.Config{Plan: p}, k))
	}
	return list
}

// Accepted checks that the engines of Devices, made with these sizes, parsed at least n chunks, and
// a share of those that they received.
func Accepted(t testing.TB, list []readers.Engine, chunkBytes []int64, least int64, share float64) {
	t.Helper()
	var chunks, refused int64
	for i, d := range list {
		c := d.Counts()
		chunks, refused = chunks+c.Chunks, refused+c.Refused
		t.Logf("chunks of %d bytes: %d accepted, %d refused, the last because of %q", chunkBytes[i],
			c.Chunks, c.Refused, c.Reason)
	}
	if chunks < least || float64(chunks) < share*float64(chunks+refused) {
		t.Errorf("%d chunks accepted and %d refused: want %d at least, and %.0f%%", chunks, refused, least, 100*share)
	}
}

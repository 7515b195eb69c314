package geojson

import (
	"testing"

	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestDeviceSweep reads random documents, most of them with mistakes.
func TestDeviceSweep(t *testing.T) {
	readertest.Sweep{
		Format: Format(), Documents: 2000, Document: newSweepDocument, Engine: sweepEngine,
	}.Device(t, readertest.NewDevices(t, Format(), sweepChunks...), 0.5, 0.1)
}

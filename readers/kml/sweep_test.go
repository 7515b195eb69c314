package kml_test

import (
	"testing"

	"github.com/vibeflight/vibeflight/readers/kml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestSweep reads random documents, most of them with mistakes.
func TestSweep(t *testing.T) {
	readertest.Sweep{
		Format: kml.Format(), Documents: 1000, Document: newSweepDocument,
		Variants: []readertest.Variant{windows, parallel}, Inferred: true,
	}.CPU(t)
}

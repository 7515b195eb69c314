package gml_test

import (
	"testing"

	"github.com/vibeflight/vibeflight/readers/gml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestSweep reads random documents, most of them with mistakes.
func TestSweep(t *testing.T) {
	readertest.Sweep{
		Format: gml.Format(), Documents: 1000, Document: newSweepDocument,
		Variants: []readertest.Variant{windows, parallel}, Inferred: true,
	}.CPU(t)
}

package kml

import (
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/layout"
)

func TestLayout(t *testing.T) { layout.Check(t, "kml", KMLPiece{}, kmlCountArgs{}, kmlWriteArgs{}) }

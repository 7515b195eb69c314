package number

import (
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/layout"
)

func TestLayout(t *testing.T) {
	layout.Check(t, "number", pairTile{}, Extraction{}, scalarsParseArgs{})
}

package kernels_test

import (
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/layout"
)

func TestLayout(t *testing.T) { layout.Check(t, ".", kernels.FetchArgs{}) }

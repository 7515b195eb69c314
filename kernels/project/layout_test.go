package project

import (
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/layout"
)

func TestLayout(t *testing.T) { layout.Check(t, "project", projectArgs{}) }

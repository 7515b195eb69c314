package wkt

import (
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/layout"
)

func TestLayout(t *testing.T) { layout.Check(t, "wkt", WKTFound{}, wktRowsArgs{}, wktHeadsArgs{}) }

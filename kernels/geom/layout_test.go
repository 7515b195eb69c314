package geom

import (
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/layout"
)

func TestLayout(t *testing.T) {
	layout.Check(t, "geom", GeometryReport{}, PositionsFound{}, positionsArgs{}, RingFact{}, RingsFound{}, ringLists{},
		ringSpan{}, wkbSizesArgs{}, wkbStartsArgs{}, wkbBytesArgs{})
}

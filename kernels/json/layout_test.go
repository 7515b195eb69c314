package json

import (
	"testing"

	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/layout"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

func TestLayout(t *testing.T) {
	layout.Check(t, "json", membersReadArgs{}, coordinatesCountArgs{}, ktext.QuoteTile{}, valueRun{}, FieldReport{}, PlaceReport{},
		kgeom.RingsFound{}, kgeom.PositionsFound{}, fieldSlot{}, KeySpan{}, tileRun{}, RecordsFound{})
}

package json

import (
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/layout"
)

func TestLayout(t *testing.T) {
	layout.Check(t, "json", membersReadArgs{}, coordinatesCountArgs{}, membersPlaceArgs{}, fieldsMatchArgs{},
		recordsEmitArgs{}, valueRun{}, FieldReport{}, PlaceReport{}, fieldSlot{}, KeySpan{}, tileRun{}, RecordsFound{})
}

package table

import (
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/layout"
)

func TestLayout(t *testing.T) {
	layout.Check(t, "table", rowsColumnArgs{}, tableSpansArgs{}, tableColumns{}, tableParseArgs{}, tableDatesArgs{},
		tableTextsArgs{})
}

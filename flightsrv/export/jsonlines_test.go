package export

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
)

// A reader of JSON would see but one of two columns of a name.
func TestJSONRefusesOneNameTwice(t *testing.T) {
	f := arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int32}
	_, err := NewJSONLines(nil, arrow.NewSchema([]arrow.Field{f, f}, nil))
	if err == nil || err.Error() != `--json: two columns are called "n"; give one another name with AS` {
		t.Errorf("columns n, n: got %v, want an error", err)
	}
}

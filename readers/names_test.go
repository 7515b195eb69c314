package readers

import (
	"fmt"
	"testing"
)

// TestNumberingLooksOnce: each name is looked up about once, although all columns want the same.
func TestNumberingLooksOnce(t *testing.T) {
	const columns = 1000
	n := nameCounter{taken: map[string]bool{"a_3": true}}
	for i := range columns {
		want := i + 1
		if want >= 3 {
			want++
		}
		if got := n.free("a"); got != fmt.Sprintf("a_%d", want) {
			t.Fatalf("column %d: got %s, want a_%d", i, got, want)
		}
	}
	if n.tried > columns+1 {
		t.Errorf("%d names were looked up for %d columns", n.tried, columns)
	}
}

//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"fmt"
	"slices"
	"testing"
)

// Views are bounded in number, and a statement whose view is gone is prepared again.
func TestViewsAreBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("t%d.csv", i)] = fmt.Sprintf("a\n%d\n", i)
	}
	w := newWorld(t, files)
	home, err := w.engine.databases.take(t.Context(), "all")
	if err != nil {
		t.Fatal(err)
	}
	home.Rest()
	views := &home.views
	views.max = 4
	first, err := w.engine.Prepare(t.Context(), "SELECT a FROM t0", "")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	for i := range 20 {
		w.want(fmt.Sprintf("SELECT a FROM t%d", i), fmt.Sprint(i))
		if n := len(views.entries); n > 4 {
			t.Errorf("after table %d there are %d views, want 4 at most", i, n)
		}
	}
	for range 2 {
		if got, err := runAll(t.Context(), first); err != nil || !slices.Equal(got, []string{"0"}) {
			t.Errorf("the first statement: %q, %v, want 0", got, err)
		}
	}
	w.want("SELECT count(*) FROM t0, t1, t2, t3, t4, t5", "1")
	w.want("SELECT table_name FROM information_schema.tables WHERE table_name = 't7'")
}

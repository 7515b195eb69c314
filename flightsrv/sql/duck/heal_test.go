//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
)

// DuckDB 1.5.5 makes a mistake over this query, and then refuses everything until it is started
// anew. The next connection finds it started, with its views.
func TestHeal(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 1000, 300)
	d := open(t, w, Config{Threads: 1})
	old := connect(t, d)
	for range 2 {
		c := connect(t, d)
		_, _, err := query(c, "SELECT typeof($1), CAST($1 AS VARCHAR)",
			arguments(t, []arrow.DataType{arrow.BinaryTypes.String}, `"a"`))
		var e *Error
		if !errors.As(err, &e) || e.Kind != Internal {
			t.Fatalf("error %v, want one of kind Internal; if DuckDB has mended it, another such query is to be found",
				err)
		}
		if rows, _, err := query(connect(t, d), "SELECT count(*) FROM t"); err != nil || rows[0] != "1000" {
			t.Errorf("the next connection: %v, %v", rows, err)
		}
	}
	if _, _, err := query(old, "SELECT count(*) FROM t"); err == nil ||
		err.Error() != "the connection's DuckDB has ended" {
		t.Errorf("a connection of the DuckDB that has ended: %v", err)
	}
	if err := d.View("", "again", "t"); err != nil {
		t.Error(err)
	}
}

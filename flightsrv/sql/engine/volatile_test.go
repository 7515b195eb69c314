//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"regexp"
	"testing"
)

// A number of the moment is another one in each run of a statement: here that of the transaction,
// which counts up.
func TestFiltersOfTheMoment(t *testing.T) {
	w := newWorld(t, map[string]string{"grid.csv": grid(5000)})
	for _, where := range []string{"i < txid_current()::BIGINT", "i < 1000 AND i < txid_current()::BIGINT"} {
		query := "SELECT max(i) - txid_current()::BIGINT FROM grid WHERE " + where
		s, err := w.engine.Prepare(t.Context(), query, "")
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for run := range 20 {
			got, err := runAll(t.Context(), s)
			if err != nil || len(got) != 1 || got[0] != "-1" {
				t.Fatalf("run %d of %s: %q, %v, want -1: all rows below the number", run, query, got, err)
			}
		}
	}
	w.want("SELECT count(*) FROM grid WHERE t < ago('1 minute')::TIMESTAMP", "5000")
}

// DuckDB's next version may have more of these functions.
func TestMomentaryFunctionsAreKnown(t *testing.T) {
	w := newWorld(t, map[string]string{"t.csv": "a\n1\n"})
	names, err := w.ask("SELECT DISTINCT function_name FROM duckdb_functions() WHERE stability = " +
		"'CONSISTENT_WITHIN_QUERY' AND function_type = 'scalar'")
	if err != nil || len(names) < 5 {
		t.Fatalf("%q, %v", names, err)
	}
	for _, name := range names {
		if !volatileFunctions.MatchString(`"name":"` + regexp.QuoteMeta(name) + `"`) {
			t.Errorf("%s is not among the functions of the moment", name)
		}
	}
}

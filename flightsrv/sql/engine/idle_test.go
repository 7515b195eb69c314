//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// spare returns the statement that is kept of a text, or nil.
func (w *world) spare(query string) *preparedStatement {
	for _, p := range w.engine.idle.statements {
		if p.query == query {
			return p
		}
	}
	return nil
}

func TestStatementsServeAgain(t *testing.T) {
	w := newWorld(t, map[string]string{"t.csv": "a\n1\n2\n", "sub/u.csv": "a\n7\n"})
	const query = "SELECT sum(a) FROM t WHERE a > 0"
	w.want(query, "3")
	kept := w.spare(query)
	if kept == nil {
		t.Fatal("the statement was not kept")
	}
	if held := w.catalog.Stats().HeldTables; held != 0 {
		t.Errorf("a statement that nobody has open holds %d tables", held)
	}
	s, err := w.engine.Prepare(t.Context(), query, "")
	if err != nil {
		t.Fatal(err)
	}
	if w.spare(query) != nil {
		t.Error("a statement is spare while somebody has it open")
	}
	w.want(query, "3") // on another connection
	if got, err := runAll(t.Context(), s); err != nil || !slices.Equal(got, []string{"3"}) {
		t.Errorf("%q, %v, want 3", got, err)
	}
	s.Close()
	if !slices.Contains(w.engine.idle.statements, kept) {
		t.Error("the statement did not come back")
	}
}

func TestSparesFollowTheFiles(t *testing.T) {
	w := newWorld(t, map[string]string{"t.csv": "a\n1\n", "sub/t.csv": "a\n7\n"})
	const query = "SELECT max(a) FROM t"
	ask := func(name, schema, want string) {
		t.Helper()
		for range 2 {
			if got, err := w.askIn(schema, query); err != nil || !slices.Equal(got, []string{want}) {
				t.Errorf("%s, in schema %q: %q, %v, want %s", name, schema, got, err, want)
			}
		}
	}
	ask("at first", "", "1")
	ask("at first", "sub", "7")
	w.write("t.csv", "a\n2\n")
	ask("another version", "", "2")
	ask("another version elsewhere", "sub", "7")
	w.write("t.csv", "a\nx\n")
	ask("another type", "", "x")
	w.write("sub/t.geojson", `{"type":"FeatureCollection","features":[]}`)
	time.Sleep(100 * time.Millisecond) // the listing may be a moment old
	w.engine.Tables(context.Background())
	if got, err := w.askIn("sub", query); err == nil {
		t.Errorf("a stem that two files have: %q, want an error", got)
	}
	ask("in the root", "", "x")
}

func TestWhatIsNotKept(t *testing.T) {
	w := newWorld(t, map[string]string{"t.csv": "s\n1\nx\n"})
	const wrong = "SELECT s::INT FROM t ORDER BY 1"
	if got, err := w.ask(wrong); err == nil {
		t.Errorf("%s: %q, want an error", wrong, got)
	}
	if w.spare(wrong) != nil {
		t.Error("a statement that gave an error is kept")
	}
	const long = "SELECT count(*) FROM range(100000000000) a"
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	s, err := w.engine.Prepare(ctx, long, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := runAll(ctx, s); err == nil {
		t.Errorf("%s: %q, want an error", long, got)
	}
	s.Close()
	if w.spare(long) != nil {
		t.Error("a statement that was interrupted is kept")
	}
	for i := range 2 * maxIdleStatements {
		w.want(fmt.Sprintf("SELECT %d", i), fmt.Sprint(i))
	}
	if n := len(w.engine.idle.statements); n != maxIdleStatements {
		t.Errorf("%d statements are kept, want %d", n, maxIdleStatements)
	}
	if w.spare("SELECT 0") != nil || w.spare(fmt.Sprintf("SELECT %d", 2*maxIdleStatements-1)) == nil {
		t.Error("the wrong ones are kept")
	}
}

// What is another value in each run is so in a statement that serves again.
func TestSparesTellTheTime(t *testing.T) {
	w := newWorld(t, nil)
	for _, query := range []string{
		"SELECT epoch_us(now())", "SELECT txid_current()", "SELECT random()",
		"SELECT uuid()",
	} {
		seen := map[string]bool{}
		for range 3 {
			got, err := w.ask(query)
			if err != nil || len(got) != 1 {
				t.Fatalf("%s: %q, %v", query, got, err)
			}
			seen[got[0]] = true
			time.Sleep(time.Millisecond)
		}
		if len(seen) != 3 {
			t.Errorf("%s: %d values in 3 runs", query, len(seen))
		}
	}
}

// A mistake of DuckDB's own has it start anew, without the statements of the one before.
func TestSparesOfABrokenDuckDB(t *testing.T) {
	w := newWorld(t, map[string]string{"t.csv": "a\n1\n"})
	w.want("SELECT a + 1 FROM t", "2")
	w.want("SELECT a + 2 FROM t", "3")
	if _, err := w.ask("SELECT typeof($1), CAST($1 AS VARCHAR)", "a"); err == nil {
		t.Skip("DuckDB has mended the mistake that breaks it")
	}
	w.want("SELECT a + 1 FROM t", "2")
	if n := len(w.engine.idle.statements); n != 1 {
		t.Errorf("%d statements are kept, want the one of the new DuckDB", n)
	}
}

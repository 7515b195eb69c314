//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestScan(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 100_000, 30_000)
	w.tables["small"] = numbers(w, 10, 3)
	for _, threads := range []int{1, 2, 4} {
		c := connect(t, open(t, w, Config{Threads: threads}))
		for _, tc := range []struct {
			query   string
			want    string
			columns []int // that are asked of t
		}{
			{"SELECT count(*) FROM t", "100000", []int{0}},
			{"SELECT sum(x) FROM t", "2.499975e+09", []int{1}},
			{"SELECT sum(x) FROM t WHERE id >= 99998", "99998.5", []int{0, 1}},
			{"SELECT name FROM t WHERE id = 70000", "a name of some length 70000", []int{0, 2}},
			{"SELECT count(name), count(*) FROM t", "90000|100000", []int{2}},
			{"SELECT min(id), max(id), avg(x) FROM t", "0|99999|24999.75", []int{0, 1}},
			{"SELECT id FROM t ORDER BY x DESC LIMIT 2", "99999 99998", []int{0, 1}},
			{"SELECT id FROM t LIMIT 3", "0 1 2", []int{0}},
			{"SELECT id FROM t LIMIT 2 OFFSET 29999", "29999 30000", []int{0}},
			{"SELECT a.id FROM t a JOIN t b ON a.id = b.id + 99998", "99998 99999", []int{0}},
			{"SELECT id % 3 AS k, count(*) FROM t GROUP BY 1 ORDER BY 1", "0|33334 1|33333 2|33333", []int{0}},
			{"SELECT count(*) FROM t WHERE id IN (SELECT id FROM small)", "10", []int{0}},
			{"SELECT (SELECT max(x) FROM t) - (SELECT min(x) FROM t)", "49999.5", []int{1}},
			{"SELECT count(*) FROM (SELECT DISTINCT substr(name, 1, 3) FROM t)", "2", []int{2}},
			{"SELECT sum(n) FROM (SELECT row_number() OVER (ORDER BY id DESC) AS n FROM t)", "5000050000", []int{0}},
			{"SELECT 1 WHERE EXISTS (SELECT * FROM t WHERE id > 99998)", "1", []int{0}},
		} {
			t.Run(fmt.Sprintf("%s, %d threads", tc.query, threads), func(t *testing.T) {
				rows, _, err := query(c, tc.query)
				if got := strings.Join(rows, " "); err != nil || got != tc.want {
					t.Errorf("got %s, %v, want %s", got, err, tc.want)
				}
				asked := *w.tables["t"].asked.Load()
				slices.Sort(asked)
				if !slices.Equal(asked, tc.columns) {
					t.Errorf("columns %v were asked for, want %v", asked, tc.columns)
				}
			})
		}
	}
}

// What a name stands for is looked up anew for each statement: the table may have become another
// one.
func TestViewFollows(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 10, 10)
	w.tables["geometries"] = points(w, "{}")
	d := open(t, w, Config{Threads: 1})
	c := connect(t, d)
	for range 2 {
		if rows, _, err := query(c, "SELECT count(*), count(id) FROM t"); err != nil || rows[0] != "10|10" {
			t.Fatalf("%v, %v", rows, err)
		}
	}
	w.tables["t"] = points(w, "{}")
	if rows, _, err := query(c, "SELECT count(*), count(geometry) FROM t"); err != nil || rows[0] != "3|2" {
		t.Errorf("the changed table: %v, %v, want 3|2", rows, err)
	}
	if err := d.View("", "t", "geometries"); err != nil {
		t.Fatal(err)
	}
	if err := d.View("a folder", `b"c.geojson`, "t"); err != nil {
		t.Fatal(err)
	}
	if rows, _, err := query(c, `SELECT count(*) FROM vibeflight."a folder"."b""c.geojson", t`); err != nil ||
		rows[0] != "9" {
		t.Errorf("names to be quoted: %v, %v, want 9", rows, err)
	}
	if err := d.DropView("", "t"); err != nil {
		t.Fatal(err)
	}
	if err := d.DropView("nowhere", "t"); err != nil {
		t.Errorf("a schema that there is not: %v", err)
	}
	var e *Error
	if _, _, err := query(c, "SELECT * FROM t"); !errors.As(err, &e) || e.Kind != Name || e.Position != 14 {
		t.Errorf("the dropped view: %v, want an error of kind Name at 14", err)
	}
}

func TestUse(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 10, 10)
	w.tables["u"] = numbers(w, 20, 10)
	d := open(t, w, Config{Threads: 1})
	if err := d.View("a \"folder\"", "t", "u"); err != nil {
		t.Fatal(err)
	}
	c := connect(t, d)
	for _, step := range []struct{ schema, want string }{
		{"main", "10|20"},
		{`a "folder"`, "20|20"},
		{"main", "10|20"},
	} {
		if err := c.Use(step.schema); err != nil {
			t.Fatal(err)
		}
		rows, _, err := query(c, "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM u)")
		if err != nil || rows[0] != step.want {
			t.Errorf("schema %s: %v, %v, want %s", step.schema, rows, err, step.want)
		}
	}
	if err := c.Use("nowhere"); !errors.As(err, new(*Error)) {
		t.Errorf("a schema that there is not: %v", err)
	}
}

// A statement is of one version of its tables, however often it is run; DuckDB binds it anew only
// when something was declared in between.
func TestStatementAgain(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 100_000, 30_000)
	d := open(t, w, Config{Threads: 2})
	c := connect(t, d)
	ctx := context.Background()
	s, err := prepare(ctx, c, "SELECT id FROM t")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 4 {
		r, err := s.Query(ctx, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := r.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		rec.Release()
		if i == 1 {
			continue // the next Query ends this one
		}
		if i == 3 {
			if _, _, err := query(c, "SELECT 1"); err != nil { // ends it too
				t.Fatal(err)
			}
		}
		r.Close()
		r.Close()
		if _, err := r.Next(ctx); !errors.Is(err, io.EOF) {
			t.Errorf("Next after Close: %v", err)
		}
		if i == 2 {
			if err := d.View("", "other", "t"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := w.held.Load(); n != 1 {
		t.Errorf("%d relations are held, want the statement's", n)
	}
}

func TestConnections(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 50_000, 7_000)
	d := open(t, w, Config{Threads: 2})
	var wg sync.WaitGroup
	for i := range 8 {
		c := connect(t, d)
		wg.Go(func() {
			for k := range 20 {
				q := fmt.Sprintf("SELECT count(*) FROM t WHERE id %% 8 = %d", (i+k)%8)
				if rows, _, err := query(c, q); err != nil || rows[0] != "6250" {
					t.Errorf("%s: %v, %v", q, rows, err)
				}
				if err := d.View(fmt.Sprintf("s%d", i), "v", "t"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

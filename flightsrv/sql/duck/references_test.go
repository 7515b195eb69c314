//go:build cgo

package duck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
)

func TestReferences(t *testing.T) {
	w := &world{tables: map[string]*relation{}, failed: map[string]error{"u": errors.New("References looks nothing up")}}
	w.tables["t"] = numbers(w, 10, 10)
	c := connect(t, open(t, w, Config{Threads: 1}))
	for _, tc := range []struct{ query, want string }{
		{"SELECT 1", ""},
		{"SELECT * FROM t, u, s.u2, c.s.u3", "..t ..u .s.u2 c.s.u3"},
		{`SELECT id FROM "a.b"."c d.geojson" x JOIN "q""uo" USING (id)`, `..q"uo .a.b.c d.geojson`},
		{"SELECT * FROM u a, u b, (SELECT * FROM u)", "..u"},
		{"WITH v AS (SELECT * FROM u) SELECT * FROM v, v AS b, V", "..u"},
		{"WITH v AS (SELECT * FROM u), w AS (SELECT * FROM v) SELECT * FROM w", "..u"},
		{"WITH u AS (SELECT * FROM u) SELECT * FROM u", "..u"},
		{"WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r, u) SELECT * FROM r", "..u"},
		{"WITH v AS (SELECT 1) SELECT * FROM main.v", ".main.v"},
		{"SELECT * FROM u WHERE x IN (WITH z AS (SELECT 1) SELECT * FROM z) AND y IN (SELECT * FROM z)", "..u ..z"},
		{"SELECT ST_Nothing(geometry), nothing(x) FROM u", "..u"},
		{"SELECT (SELECT max(id) FROM u), COLUMNS('a.*') FROM v WHERE EXISTS (SELECT 1 FROM w)", "..u ..v ..w"},
		{"SELECT * FROM u UNION ALL SELECT * FROM v EXCEPT FROM w", "..u ..v ..w"},
		{"SELECT * FROM u WHERE id = ? AND x = ?", "..u"},
		{"SELECT * FROM u, LATERAL (SELECT u.id + v.id FROM v), unnest(u.list)", "..u ..v"},
		{"FROM u SELECT x", "..u"},
		{"TABLE u", "..u"},
		{"DESCRIBE u", "..u"},
		{"SUMMARIZE SELECT * FROM u", "..u"},
		{"EXPLAIN ANALYZE SELECT * FROM u", "..u"},
		{"PIVOT u ON x IN (1, 2) USING sum(y)", "..u"},
		{"SELECT * FROM u TABLESAMPLE 10%", "..u"},
		{"SHOW TABLES", ""},
	} {
		refs, err := c.References(tc.query)
		var got []string
		for _, r := range refs {
			got = append(got, r.Catalog+"."+r.Schema+"."+r.Name)
		}
		if s := strings.Join(got, " "); err != nil || s != tc.want {
			t.Errorf("%s: %s, %v, want %s", tc.query, s, err, tc.want)
		}
	}
	for _, q := range []string{"SELECT FROM WHERE", "CREATE TABLE x AS SELECT * FROM u", "SELECT 1; SELECT 2"} {
		if _, err := c.References(q); !errors.As(err, new(*Error)) {
			t.Errorf("%s: %v, want an *Error", q, err)
		}
	}
}

func TestPlan(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 1000, 300)
	w.tables["t"].scan = func(context.Context) error { return errors.New("a plan reads nothing") }
	c := connect(t, open(t, w, Config{Threads: 1}))
	ctx := context.Background()
	for _, q := range []string{"SELECT sum(x) FROM t WHERE id < ?", " -- a comment\nSELECT sum(x) FROM t WHERE id < ?"} {
		got, err := c.Plan(ctx, q, arguments(t, []arrow.DataType{arrow.PrimitiveTypes.Int64}, "5"), 0)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		var plan []any
		if err := json.Unmarshal(got, &plan); err != nil {
			t.Fatalf("%v: %s", err, got)
		}
		if s := fmt.Sprint(plan); !strings.Contains(s, "VIBEFLIGHT_SCAN") || !strings.Contains(s, "Estimated Cardinality:1000") || !strings.Contains(s, "id < 5") {
			t.Errorf("%s: %s", q, got)
		}
	}
	var e *Error
	if _, err := c.Plan(ctx, "SELECT nothing FROM t", nil, 0); !errors.As(err, &e) || e.Position != 7 {
		t.Errorf("a name that there is not: %v, want an error at 7", err)
	}
	for _, q := range []string{"ANALYZE SELECT * FROM t", "DROP VIEW t", "EXPLAIN SELECT 1"} {
		if _, err := c.Plan(ctx, q, nil, 0); !errors.As(err, new(*Error)) {
			t.Errorf("%s: %v, want an *Error", q, err)
		}
	}
}

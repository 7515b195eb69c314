//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestReferences(t *testing.T) {
	w := &world{tables: map[string]*relation{}, failed: map[string]error{"u": errors.New("Parse looks nothing up")}}
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
		q, err := c.Parse(tc.query)
		if err != nil {
			t.Errorf("%s: %v", tc.query, err)
			continue
		}
		var got []string
		for _, r := range q.References() {
			got = append(got, r.Catalog+"."+r.Schema+"."+r.Name)
		}
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("%s: %s, want %s", tc.query, s, tc.want)
		}
	}
	for _, q := range []string{"SELECT FROM WHERE", "CREATE TABLE x AS SELECT * FROM u", "SELECT 1; SELECT 2"} {
		if _, err := c.Parse(q); !errors.As(err, new(*Error)) {
			t.Errorf("%s: %v, want an *Error", q, err)
		}
	}
}

func TestPlan(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 1000, 300)
	w.tables["t"].scan = func(context.Context) error { return errors.New("a plan reads nothing") }
	c := connect(t, open(t, w, Config{Threads: 1}))
	for _, tc := range []struct{ query, written, optimized string }{
		{"SELECT sum(x) FROM t WHERE id < 2 + 3", `"value":2}`, `"value":5}`},
		{" -- it's a comment\nSELECT sum(x) FROM t WHERE id < 2 + 3", `"value":2}`, `"value":5}`},
		{"SELECT nothing FROM t", `"error":true`, `"error":true`},
	} {
		q, err := c.Parse(tc.query)
		if err != nil {
			t.Fatal(err)
		}
		written, optimized, err := c.Plan(t.Context(), q)
		if err != nil || !strings.Contains(string(written), tc.written) || !strings.Contains(string(optimized),
			tc.optimized) {
			t.Errorf("%s: %v\n%s\nwant %s in it\n%s\nwant %s in it", tc.query, err, written, tc.written,
				optimized, tc.optimized)
		}
	}
}

func TestQuery(t *testing.T) {
	c := connect(t, open(t, &world{}, Config{Threads: 1}))
	for _, tc := range []struct {
		query   string
		filters bool
		takes   string // columns with a comma after each, "*" for all, "" for a query that does more
	}{
		{"SELECT * FROM t", false, "*"},
		{"FROM t", false, "*"},
		{"TABLE t", false, "*"},
		{"SELECT a, b AS x, T.c FROM t", false, "a,b,c,"},
		{`SELECT "a b", v.c FROM s."a.b" V`, false, "a b,c,"},
		{"SELECT t.* FROM s.t", false, "*"},
		{"SELECT t.* FROM s.t AS u", false, ""},
		{"SELECT s.t.a FROM s.t", false, ""},
		{"SELECT u.a FROM t", false, ""},
		{"SELECT *, a FROM t", false, ""},
		{"SELECT * EXCLUDE (a) FROM t", false, ""},
		{"SELECT * REPLACE (1 AS a) FROM t", false, ""},
		{"SELECT * RENAME (a AS b) FROM t", false, ""},
		{"SELECT * EXCLUDE (t.a) FROM t", false, ""},
		{"SELECT COLUMNS(*) FROM t", false, ""},
		{"SELECT * LIKE 'a%' FROM t", false, ""},
		{"SELECT COLUMNS('a.*') FROM t", false, ""},
		{"SELECT a FROM t AS u(a)", false, ""},
		{"SELECT a FROM t LIMIT 1", false, ""},
		{"SELECT a FROM t ORDER BY 1", false, ""},
		{"SELECT DISTINCT a FROM t", false, ""},
		{"SELECT a FROM t GROUP BY ALL", false, ""},
		{"SELECT a FROM t GROUP BY a", false, ""},
		{"SELECT a FROM t TABLESAMPLE 10%", false, ""},
		{"SELECT a FROM t USING SAMPLE 10", false, ""},
		{"SELECT a + 1 FROM t", false, ""},
		{"SELECT 1 FROM t", false, ""},
		{"SELECT ? FROM t", false, ""},
		{"SELECT a, b FROM t, u", false, ""},
		{"SELECT * FROM t JOIN u USING (a)", false, ""},
		{"SELECT * FROM t JOIN u ON t.a = u.a", true, ""},
		{"SELECT * FROM (SELECT * FROM t)", false, ""},
		{"WITH v AS (SELECT 1) SELECT * FROM v", false, ""},
		{"SELECT * FROM range(3)", false, ""},
		{"SELECT a FROM t UNION ALL SELECT b FROM t", false, ""},
		{"VALUES (1)", false, ""},
		{"DESCRIBE t", false, ""},
		{"EXPLAIN SELECT * FROM t", false, ""},
		{"SELECT * FROM t WHERE a = 1", true, ""},
		{"SELECT a FROM t GROUP BY a HAVING a > 1", true, ""},
		{"SELECT a FROM t QUALIFY row_number() OVER () = 1", true, ""},
		{"SELECT (SELECT max(a) FROM t WHERE b > 1)", true, ""},
	} {
		q, err := c.Parse(tc.query)
		if err != nil {
			t.Errorf("%s: %v", tc.query, err)
			continue
		}
		columns, ok := q.Takes()
		var takes string
		if ok && columns == nil {
			takes = "*"
		}
		for _, name := range columns {
			takes += name + ","
		}
		if q.Filters() != tc.filters || takes != tc.takes {
			t.Errorf("%s: filters %t, takes %q, want %t, %q", tc.query, q.Filters(), takes, tc.filters, tc.takes)
		}
	}
}

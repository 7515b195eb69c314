//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestErrors(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 1000, 300)
	c := connect(t, open(t, w, Config{Threads: 1}))
	for _, tc := range []struct {
		query   string // ¦ is where the error is
		kind    Kind
		message string // a part of it
	}{
		{"SELECT 1 FROM t WHER ¦id = 1", Syntax, "syntax error"},
		{"SELECT (¦", Syntax, "syntax error"},
		{"EXPLAIN SELECT 'é', 1 + + ¦FROM t", Syntax, `syntax error at or near "FROM"`},
		{"SELECT 1\x00", Syntax, "zero byte"},
		{"", Syntax, "no query"},
		{" ; ", Syntax, "no query"},
		{"SELECT * FROM ¦missing", Name, "Table with name missing does not exist"},
		{`SELECT * FROM ¦nowhere.a`, Name, "nowhere"},
		{`SELECT * FROM nowhere."a.csv"`, Name, "Table with name nowhere.a.csv does not exist"},
		{"SELECT 'é€😀', ¦nothing FROM t", Name, `"nothing" not found`},
		{"SELECT 'é€😀' + + ¦FROM t", Syntax, `syntax error at or near "FROM"`},
		{"SELECT ¦nothing FROM t", Name, `"nothing" not found`},
		{"SELECT ¦nothing", Name, `"nothing" was not found`},
		{"SELECT ¦u.id FROM t", Name, `table "u" not found`},
		{"SELECT ¦foo(id) FROM t", Name, "foo does not exist"},
		{"SELECT ST_Area(NULL)", Name, "exists in the spatial extension. The server runs without it: pip install " +
			"duckdb-extension-spatial==1.5.5 in its Python environment, or --duckdb-extensions says where it is."},
		{"SELECT 'a'::INET", Name, "exists in the inet extension. The server does not have it."},
		{"SELECT id FROM t a, t b", Name, "Ambiguous"},
		{"SELECT 1::¦FOO", Name, "FOO does not exist"},
		{"SELECT id ¦+ [1] FROM t", Type, "No function matches"},
		{"SELECT sum(sum(id)) FROM t", Type, "nested"},
		{"SELECT id, count(*) FROM t", Type, "GROUP BY"},
		{"SELECT ¦CAST(name AS INT) FROM t", Value, "Could not convert string 'a name of some length 0'"},
		{"SELECT id¦::TINYINT FROM t", Value, "out of range"},
		{"SELECT 9223372036854775807 + id FROM t", Value, "Overflow"},
		{"SELECT error('boom')", Value, "boom"},
		{"SELECT * FROM t WHERE id = ? AND x = $name", Unsupported, "named and positional"},
		{"DROP VIEW t", Denied, "only queries are allowed"},
		{"SELECT * FROM ¦read_csv('x')", Denied, "read_csv is not allowed"},
	} {
		text := strings.Replace(tc.query, "¦", "", 1)
		at := strings.Index(tc.query, "¦")
		_, _, err := query(c, text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: error %v, want an *Error", text, err)
			continue
		}
		if e.Kind != tc.kind || !strings.Contains(e.Message, tc.message) || strings.Contains(e.Message, "LINE 1") ||
			strings.Contains(e.Message, "Error:") || strings.Contains(e.Message, "INSTALL") {
			t.Errorf("%s: kind %d, %q, want kind %d with %q", text, e.Kind, e.Message, tc.kind, tc.message)
		}
		if at >= 0 && e.Position != at {
			t.Errorf("%s: position %d, want %d", text, e.Position, at)
		}
	}
	if rows, _, err := query(c, "SELECT count(*) FROM t"); err != nil || rows[0] != "1000" {
		t.Errorf("the connection after errors: %v, %v", rows, err)
	}
}

type readError struct{ at int }

func (e *readError) Error() string { return "the file is broken" }

// Errors of Go code come out as themselves, whatever DuckDB makes of them, and so do panics as
// errors.
func TestGoErrors(t *testing.T) {
	for _, tc := range []struct {
		name    string
		resolve error
		scan    func(context.Context) error
		batch   func(int) error
	}{
		{"resolve", &readError{7}, nil, nil},
		{"scan", nil, func(context.Context) error { return &readError{7} }, nil},
		{"first batch", nil, nil, func(int) error { return &readError{7} }},
		{"last batch", nil, nil, func(i int) error {
			if i == 3 {
				return &readError{7}
			}
			return nil
		}},
		{"scan panics", nil, func(context.Context) error { panic("a mistake") }, nil},
		{"batch panics", nil, nil, func(int) error { panic("a mistake") }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &world{tables: map[string]*relation{}, failed: map[string]error{}}
			r := numbers(w, 100_000, 30_000)
			r.scan, r.batch = tc.scan, tc.batch
			w.tables["t"] = r
			w.tables["good"] = numbers(w, 10, 10)
			if tc.resolve != nil {
				w.failed["t"] = tc.resolve
			}
			c := connect(t, open(t, w, Config{Threads: 2}))
			for _, q := range []string{
				"SELECT sum(x) FROM t", "SELECT * FROM t",
				"SELECT count(*) FROM t JOIN good USING (id)",
			} {
				_, _, err := query(c, q)
				var broken *readError
				var e *Error
				if strings.Contains(tc.name, "panics") {
					if !errors.As(err, &e) || e.Kind != Internal || !strings.Contains(e.Message, "a mistake") {
						t.Errorf("%s: error %v, want the panic", q, err)
					}
				} else if !errors.As(err, &broken) || broken.at != 7 {
					t.Errorf("%s: error %T %v, want the reader's", q, err, err)
				}
			}
			if rows, _, err := query(c, "SELECT count(*) FROM good"); err != nil || rows[0] != "10" {
				t.Errorf("the connection afterwards: %v, %v", rows, err)
			}
		})
	}
}

func TestMemoryLimit(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 1000, 1000)
	const q = "SELECT count(*) FROM (SELECT list(a.id * b.id ORDER BY a.name) AS l FROM t a, t b, range(20) GROUP " +
		"BY a.id + b.id) WHERE len(l) > 0"
	c := connect(t, open(t, w, Config{Threads: 1, MemoryBytes: 32 << 20}))
	_, _, err := query(c, q)
	var e *Error
	if !errors.As(err, &e) || e.Kind != Memory {
		t.Errorf("error %v, want one of kind Memory", err)
	}
	if rows, _, err := query(c, "SELECT count(*) FROM t"); err != nil || rows[0] != "1000" {
		t.Errorf("the connection afterwards: %v, %v", rows, err)
	}
}

// What does not fit in memory goes to the folder that the configuration names. Without one the
// query ends.
func TestSpill(t *testing.T) {
	const q = "SELECT count(DISTINCT s) FROM (SELECT repeat('x', 200) || i AS s FROM range(500000) t(i))"
	for _, tc := range []struct {
		name, dir string
		spills    bool
	}{
		{"no folder", "", false},
		{"folder", t.TempDir(), true},
	} {
		c := connect(t, open(t, &world{}, Config{
			Threads: 1, MemoryBytes: 64 << 20, SpillDir: tc.dir,
			SpillBytes: 1 << 30,
		}))
		rows, _, err := query(c, q)
		var e *Error
		if tc.spills && (err != nil || rows[0] != "500000") {
			t.Errorf("%s: %v, %v, want 500000", tc.name, rows, err)
		}
		if !tc.spills && (!errors.As(err, &e) || e.Kind != Memory) {
			t.Errorf("%s: error %v, want one of kind Memory", tc.name, err)
		}
	}
}

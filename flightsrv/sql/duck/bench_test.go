//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
)

const benchRows = 2_000_000

var bench = sync.OnceValue(func() *relation {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, benchRows, 64<<10)
	return w.tables["t"]
})

// BenchmarkScan compares a query over Arrow batches with the same query over a table of DuckDB's
// own that was made of them, in a database that nothing holds back. SELECT * ends as Arrow records
// in both.
func BenchmarkScan(b *testing.B) {
	r := bench()
	r.world.tables["t"] = r
	d := open(b, r.world, Config{})
	own := ownTable(b, r)
	for _, q := range []struct{ name, text string }{
		{"sum", "SELECT sum(x) FROM t"},
		{"filter", "SELECT id, x FROM t WHERE id % 10 = 3"},
		// DuckDB's own table knows the least and the greatest of each row group
		{"range", "SELECT id, x FROM t WHERE x BETWEEN 100000 AND 200000"},
		{"group", "SELECT id % 100, count(name) FROM t GROUP BY 1"},
		{"all", "SELECT * FROM t"},
	} {
		for _, where := range []struct {
			name string
			db   *Database
		}{{"ours", d}, {"duckdb's own table", own}} {
			b.Run(q.name+"/"+where.name, func(b *testing.B) {
				c := connect(b, where.db)
				b.SetBytes(batchBytes(r))
				for b.Loop() {
					runQuery(b, c, q.text)
				}
			})
		}
	}
}

func runQuery(b *testing.B, c *Conn, text string) {
	ctx := context.Background()
	s, err := prepare(ctx, c, text)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	rows, err := s.Query(ctx, nil, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	if err := drain(ctx, rows); !errors.Is(err, io.EOF) {
		b.Fatal(err)
	}
}

func batchBytes(r *relation) (n int64) {
	for _, rec := range r.batches {
		n += sizeOf(rec)
	}
	return n
}

// ownTable is a database with a table t of the relation's rows in DuckDB's format.
func ownTable(b *testing.B, r *relation) *Database {
	d := open(b, r.world, Config{})
	c := connect(b, d)
	c.begin(context.Background(), newCRSNames(Config{}))
	for _, statement := range []string{
		"CREATE TABLE copied AS SELECT * FROM t", "DROP VIEW t",
		"ALTER TABLE copied RENAME TO t",
	} {
		if err := c.run(statement); err != nil {
			b.Fatal(err)
		}
	}
	return d
}

//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// The end of a context ends what runs under it, with the context's own error, and leaves the
// connection as it was.
func TestCancel(t *testing.T) {
	cause := errors.New("the client has left")
	const endless = "SELECT count(*) FROM range(1000000000) a(i), range(1000000000) b(i), t WHERE hash(a.i, b.i, " +
		"t.id) = 1"
	for _, tc := range []struct {
		name  string
		query string
		run   func(ctx context.Context, cancel func(), r *relation, s *Statement) error
	}{
		{"before Query", "SELECT * FROM t", func(ctx context.Context, cancel func(), _ *relation, s *Statement) error {
			cancel()
			_, err := s.Query(ctx, nil, 0)
			return err
		}},
		{"in Scan", "SELECT * FROM t", func(ctx context.Context, cancel func(), r *relation, s *Statement) error {
			r.scan = func(ctx context.Context) error { cancel(); return context.Cause(ctx) }
			_, err := s.Query(ctx, nil, 0)
			return err
		}},
		{"in DuckDB", endless, func(ctx context.Context, cancel func(), r *relation, s *Statement) error {
			r.batch = func(int) error { go cancel(); return nil }
			_, err := s.Query(ctx, nil, 0)
			return err
		}},
		{"between two records, Query's", "SELECT * FROM t", func(ctx context.Context, cancel func(),
			_ *relation, s *Statement,
		) error {
			r, err := s.Query(ctx, nil, 0)
			if err != nil {
				return err
			}
			defer r.Close()
			cancel()
			return drain(context.Background(), r)
		}},
		{"between two records, Next's", "SELECT * FROM t", func(ctx context.Context, cancel func(),
			_ *relation, s *Statement,
		) error {
			r, err := s.Query(context.Background(), nil, 0)
			if err != nil {
				return err
			}
			defer r.Close()
			cancel()
			return drain(ctx, r)
		}},
		{
			"in Next", "SELECT * FROM t UNION ALL SELECT a.id, b.x, NULL FROM t a, t b WHERE hash(a.id, b.id) = 1",
			func(ctx context.Context, cancel func(), _ *relation, s *Statement) error {
				rows, err := s.Query(context.Background(), nil, 0)
				if err != nil {
					return err
				}
				defer rows.Close()
				time.AfterFunc(10*time.Millisecond, cancel)
				return drain(ctx, rows)
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &world{tables: map[string]*relation{}}
			r := numbers(w, 300_000, 30_000)
			w.tables["t"] = r
			c := connect(t, open(t, w, Config{Threads: 2}))
			s, err := prepare(context.Background(), c, tc.query)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			if err := tc.run(ctx, func() { cancel(cause) }, r, s); !errors.Is(err, cause) {
				t.Errorf("error %v, want the context's", err)
			}
			r.scan, r.batch = nil, nil
			if rows, _, err := query(c, "SELECT count(*) FROM t"); err != nil || rows[0] != "300000" {
				t.Errorf("the connection afterwards: %v, %v", rows, err)
			}
		})
	}
}

func drain(ctx context.Context, r *Rows) error {
	for {
		rec, err := r.Next(ctx)
		if err != nil {
			return err
		}
		rec.Release()
	}
}

func TestPrepareCancelled(t *testing.T) {
	c := connect(t, open(t, &world{}, Config{Threads: 1}))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := prepare(ctx, c, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// A thousand statements, ended in many ways, leave nothing: no relation, scan, batch, handle
// or goroutine.
func TestNothingLeft(t *testing.T) {
	memory := memory.NewCheckedAllocator(arrowMemory)
	defer memory.AssertSize(t, 0)
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbersIn(memory, w, 20_000, 3_000)
	defer func() {
		for _, b := range w.tables["t"].batches {
			b.Release()
		}
	}()
	w.tables["geometries"] = points(w, `{"crs":"EPSG:2000","crs_type":"authority_code"}`)
	w.failed = map[string]error{"broken": errors.New("broken")}
	d := open(t, w, Config{Threads: 2})
	before := d.handles.Load()
	c := connect(t, d)
	statements := 1000
	if testing.Short() {
		statements = 200
	}
	for i := range statements {
		text := [...]string{
			"SELECT * FROM t", "SELECT a.id, b.name FROM t a JOIN t b USING (id)", "SELECT * FROM geometries",
			"SELECT sum(x) FROM t",
			"SELECT * FROM broken", "SELECT CAST(name AS INT) FROM t", "SELECT * FROM t WHERE id = ?",
			"SELECT nothing FROM t",
		}[i%8]
		ctx, cancel := context.WithCancel(context.Background())
		s, err := prepare(ctx, c, text)
		if err != nil {
			cancel()
			continue
		}
		r, err := s.Query(ctx, nil, 0)
		if err == nil {
			for range i % 3 {
				rec, err := r.Next(ctx)
				if err != nil {
					break
				}
				rec.Release()
			}
			if i%5 == 0 {
				cancel()
				if err := drain(ctx, r); !errors.Is(err, io.EOF) && !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", text, err)
				}
			}
			if i%7 != 0 {
				r.Close() // else the statement's Close does it
			}
		}
		s.Close()
		cancel()
		if n := w.held.Load(); n != 0 {
			t.Fatalf("statement %d, %s: %d relations are held", i, text, n)
		}
	}
	if n := w.scans.Load(); n != 0 {
		t.Errorf("%d scans are open", n)
	}
	if after := d.handles.Load(); after != before {
		t.Errorf("%d handles of Go, %d before", after, before)
	}
	if mine := goroutines(); len(mine) != 1 {
		t.Errorf("more than the test's own goroutine is left:\n%s", strings.Join(mine, "\n\n"))
	}
}

// goroutines are the stacks of those that run something of this package.
func goroutines() (mine []string) {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, s := range strings.Split(string(stacks), "\n\n") {
		if strings.Contains(s, "sql/duck.") && !strings.Contains(s, "testing.(*M).Run") {
			mine = append(mine, s)
		}
	}
	return mine
}

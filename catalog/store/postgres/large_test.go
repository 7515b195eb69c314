package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/store/internal/row"
	"github.com/vibeflight/vibeflight/catalog/store/postgres/pgtest"
	"github.com/vibeflight/vibeflight/catalog/store/storetest"
)

// fill copies n records into a database. One in 1,000 has layers.
func fill(t testing.TB, s *Store, n int) {
	t.Helper()
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	names := append(row.Names(), "sum", "head", "digest", "bytes")
	for i := range names {
		names[i] = strings.Trim(names[i], `"`)
	}
	c, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	_, err = c.CopyFrom(t.Context(), pgx.Identifier{"vibeflight", "record"}, names,
		pgx.CopyFromSlice(n, func(i int) ([]any, error) {
			r := storetest.Sample(largeName(i), i)
			r.Blocks = nil
			if i%1000 == 0 {
				r.Layers = []string{"a", "b"}
			}
			return values(&r)
		}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), `ANALYZE vibeflight.record`); err != nil {
		t.Fatal(err)
	}
}

// largeName returns a name that is not in the order of i.
func largeName(i int) string { return fmt.Sprintf("/srv/data/folder %03d/file %07d.geojson", i%997, i) }

// TestPagesOfAMillionRecords measures each kind of page of a large store.
func TestPagesOfAMillionRecords(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 5_000
	}
	p := pgtest.StartOwn(t)
	s, log := connect(t, p.URL(p.Database(t)), 10*time.Minute)
	begin := time.Now()
	fill(t, s, n)
	t.Logf("filled with %d records in %v", n, time.Since(begin))
	page := func(condition, order string, args ...any) func(context.Context, int) (int, error) {
		query := bounded(condition+` AND head >= $1 AND (head, name, options) > ($1, $2, $3)`, order, row.PageRows)
		return func(ctx context.Context, i int) (int, error) {
			name := largeName(i)
			p, err := s.page(ctx, query, append([]any{headOf(name), name, make([]byte, 32)}, args...)...)
			return len(p.records), err
		}
	}
	for _, tt := range []struct {
		name string
		call func(ctx context.Context, i int) (int, error)
	}{
		{"a page of all", page(`TRUE`, byKey)},
		{"a page of those with layers", page(`layers IS NOT NULL`, byKey)},
		{"all of a name", func(ctx context.Context, i int) (found int, err error) {
			err = s.Of(ctx, largeName(i), func(store.Record) error { found++; return nil })
			return found, err
		}},
		{"get", func(ctx context.Context, i int) (int, error) {
			_, ok, err := s.Get(ctx, storetest.Sample(largeName(i), 0).Key)
			if !ok {
				return 0, err
			}
			return 1, err
		}},
		{"the newest 32", func(ctx context.Context, _ int) (int, error) {
			records, err := s.Newest(ctx, 32)
			return len(records), err
		}},
		{"put", func(ctx context.Context, i int) (int, error) {
			return 1, s.Put(ctx, storetest.Sample(largeName(i), i))
		}},
		{"a page of names", func(ctx context.Context, i int) (int, error) {
			names, err := s.names(ctx, largeName(i))
			return len(names), err
		}},
	} {
		var times []time.Duration
		most := 0
		for i := range 101 {
			begin := time.Now()
			found, err := tt.call(t.Context(), (i*7919*131)%n)
			times = append(times, time.Since(begin))
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			most = max(most, found)
		}
		slices.Sort(times)
		t.Logf("%-28s %4d rows, median %8v, maximum %8v", tt.name, most, times[50].Round(10*time.Microsecond),
			times[100].Round(10*time.Microsecond))
		if most == 0 {
			t.Errorf("%s: no rows", tt.name)
		}
	}
	if log.String() != "" {
		t.Errorf("log %.500s", log)
	}
}

package catalog

import (
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/store/postgres"
	"github.com/vibeflight/vibeflight/catalog/store/postgres/pgtest"
	"github.com/vibeflight/vibeflight/catalog/store/shared"
)

// TestServersShareRecords opens catalogs of two servers with the same files. Each describes what the
// other has parsed, and goes on alone when the database is killed.
func TestServersShareRecords(t *testing.T) {
	p := pgtest.StartOwn(t)
	url := p.URL(p.Database(t))
	w := newWorld(t, small)
	w.write("a.rows", textOf(3, 100))
	w.write("b.rows", textOf(4, 100))
	server := func() *Catalog {
		t.Helper()
		db, err := postgres.Open(t.Context(), url, 10*time.Second, zerolog.Nop())
		must(t, err)
		remote := shared.New(db, zerolog.Nop())
		must(t, remote.Start(t.Context()))
		t.Cleanup(func() { must(t, remote.Close()) })
		change := w.change
		defer func() { w.change = change }()
		w.change = func(c *Config) {
			change(c)
			c.Shared, c.CacheDir = remote, t.TempDir()
		}
		return w.open()
	}
	describes := func(c *Catalog, name string) error {
		h, _, ok, err := c.Recall(t.Context(), Request{Name: name}, Selection{}, false)
		if err != nil || !ok {
			return fmt.Errorf("%s is not described, %w", name, err)
		}
		h.Release()
		return nil
	}
	one, two := server(), server()
	h, err := one.Table(t.Context(), Request{Name: "a.rows"})
	must(t, err)
	h.Release()
	one.awaitSaves()
	must(t, describes(two, "a.rows"))
	if n := w.format.parses.Load(); n != 1 {
		t.Errorf("%d parses, want 1", n)
	}
	if s := two.Stats().SharedStore; s == nil || s.Hits == 0 || s.Away {
		t.Errorf("numbers of the store: %+v", s)
	}
	p.Kill()
	must(t, describes(two, "a.rows"))
	h, err = two.Table(t.Context(), Request{Name: "b.rows"})
	must(t, err)
	h.Release()
	two.awaitSaves()
	if s := two.Stats().SharedStore; !s.Away || s.Pending == 0 {
		t.Errorf("numbers of the store: %+v", s)
	}
	p.Restart(t)
	eventually(t, "the other server describes b.rows", func() error { return describes(one, "b.rows") })
	if n := w.format.parses.Load(); n != 2 {
		t.Errorf("%d parses, want 2", n)
	}
}

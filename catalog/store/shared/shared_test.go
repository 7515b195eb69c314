package shared

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/fleet/fleettest"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/store/postgres"
	"github.com/vibeflight/vibeflight/catalog/store/postgres/pgtest"
	"github.com/vibeflight/vibeflight/catalog/store/sqlite"
	"github.com/vibeflight/vibeflight/catalog/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// server is a remote and its records.
type server struct {
	*Records
	remote *Remote
}

func (s server) Close() error { return errors.Join(s.Records.Close(), s.remote.Close()) }

// open opens the store of a server. It probes often.
func open(t testing.TB, db Database, path string, log zerolog.Logger) server {
	t.Helper()
	local, err := sqlite.Open(path, log)
	if err != nil {
		t.Fatal(err)
	}
	r := New(db, log)
	r.first = 20 * time.Millisecond
	return server{r.Join(local), r}
}

func connect(t testing.TB, url string, timeout time.Duration, log zerolog.Logger) *postgres.Store {
	t.Helper()
	db, err := postgres.Open(context.Background(), url, timeout, log)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestRecords(t *testing.T) {
	p := pgtest.Start(t)
	storetest.TestStore(t, func(t testing.TB) storetest.Opener {
		url := p.URL(p.Database(t))
		return func(log zerolog.Logger) (store.Store, error) {
			db := connect(t, url, 20*time.Second, log)
			return open(t, db, filepath.Join(t.TempDir(), "catalog.db"), log), nil
		}
	})
}

// TestAlone runs the tests of a store while the database is away.
func TestAlone(t *testing.T) {
	storetest.TestStore(t, func(t testing.TB) storetest.Opener {
		path := filepath.Join(t.TempDir(), "catalog.db")
		return func(zerolog.Logger) (store.Store, error) {
			return open(t, newFake(true), path, zerolog.Nop()), nil
		}
	})
}

// fake is a database in memory that can be away.
type fake struct {
	*fleettest.Memory
	*sqlite.Store
	puts chan store.Record // if it is not nil, a put waits until it is read
}

func newFake(away bool) *fake {
	dir, err := os.MkdirTemp("", "fake-")
	if err != nil {
		panic(err)
	}
	s, err := sqlite.Open(filepath.Join(dir, "db"), zerolog.Nop())
	if err != nil {
		panic(err)
	}
	m := fleettest.NewMemory(time.Now)
	m.SetAway(away)
	return &fake{Memory: m, Store: s}
}

// here returns fleet.ErrAway if the database is away.
func (f *fake) here(ctx context.Context) error {
	_, err := f.Replicas(ctx)
	return err
}

func (f *fake) Prepare(ctx context.Context) error { return f.here(ctx) }

func (f *fake) Get(ctx context.Context, key store.Key) (store.Record, bool, error) {
	if err := f.here(ctx); err != nil {
		return store.Record{}, false, err
	}
	return f.Store.Get(ctx, key)
}

func (f *fake) Put(ctx context.Context, r store.Record) error {
	if err := f.here(ctx); err != nil {
		return err
	}
	if f.puts != nil {
		f.puts <- r
	}
	return f.Store.Put(ctx, r)
}

func (f *fake) PutNewer(ctx context.Context, r store.Record) error { return f.Put(ctx, r) }

func (f *fake) PutHeld(ctx context.Context, r store.Record, l fleet.Lease) error {
	if err := f.here(ctx); err != nil {
		return err
	}
	if !f.Holds(l) {
		return fleet.ErrLost
	}
	return f.Put(ctx, r)
}

func (f *fake) Delete(ctx context.Context, key store.Key) error {
	return errors.Join(f.here(ctx), f.Store.Delete(ctx, key))
}

func (f *fake) All(ctx context.Context, yield func(store.Record) error) error {
	return f.list(ctx, yield, f.Store.All)
}

func (f *fake) Layered(ctx context.Context, yield func(store.Record) error) error {
	return f.list(ctx, yield, f.Store.Layered)
}

func (f *fake) Of(ctx context.Context, name string, yield func(store.Record) error) error {
	return f.list(ctx, yield, func(ctx context.Context, yield func(store.Record) error) error {
		return f.Store.Of(ctx, name, yield)
	})
}

// list goes away in the middle of a listing if it is told so by yield.
func (f *fake) list(ctx context.Context, yield func(store.Record) error,
	listing func(context.Context, func(store.Record) error) error,
) error {
	if err := f.here(ctx); err != nil {
		return err
	}
	return listing(ctx, func(r store.Record) error {
		if err := yield(r); err != nil {
			return err
		}
		return f.here(ctx)
	})
}

func (f *fake) Newest(ctx context.Context, n int) ([]store.Record, error) {
	if err := f.here(ctx); err != nil {
		return nil, err
	}
	return f.Store.Newest(ctx, n)
}

func (f *fake) Prune(ctx context.Context, keep func(string) bool) (int, error) {
	if err := f.here(ctx); err != nil {
		return 0, err
	}
	return f.Store.Prune(ctx, keep)
}

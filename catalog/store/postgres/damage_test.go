package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/store/postgres/pgtest"
	"github.com/vibeflight/vibeflight/catalog/store/storetest"
)

// connect opens a store on a database. It closes the store at the end of the test.
func connect(t testing.TB, url string, limit time.Duration) (*Store, *storetest.Log) {
	t.Helper()
	log := &storetest.Log{}
	s, err := Open(context.Background(), url, limit, zerolog.New(log))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, log
}

func TestRowsThatDoNotDecode(t *testing.T) {
	p := pgtest.Start(t)
	name := p.Database(t)
	s, log := connect(t, p.URL(name), timeout)
	warnings := 0
	for _, tt := range []struct{ name, set string }{
		{"bad JSON", `columns = '[{'`},
		{"JSON of another kind", `geometry_types = '7'`},
		{"digest of options", `options = '\x01'`},
		{"digest of the content", `content = '\x0102'`},
		{"box", `bbox = '\x00'`},
		{"name", `name = 'x'`},
		{"empty name", `name = ''`},
		{"value", `rows = rows + 1`},
		{"value that is gone", `bbox = NULL`},
		{"checksum", `sum = '\x00'`},
		{"digest of siblings", `siblings = '\x01'`},
		{"siblings that were none", `siblings = '\x01010101010101010101010101010101'`},
		{"layers", `layers = '{'`},
		{"layers that were none", `layers = '["a"]'`},
		{"digest of the name", `digest = '\x01'`},
		{"head of the name", `head = 'aa'`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			storetest.Put(t, s, storetest.Sample("a", 1), storetest.Sample("b", 1), storetest.Sample("c", 1))
			p.Exec(t, name, `UPDATE vibeflight.record SET `+tt.set+` WHERE name = 'b'`)
			if _, ok, err := s.Get(t.Context(), storetest.Sample("b", 1).Key); ok || err != nil {
				t.Errorf("get: %v, %v, want none", ok, err)
			}
			got := storetest.All(t, s)
			if len(got) != 2 || got[0].Name != "a" || got[1].Name != "c" {
				t.Errorf("%d records, want a and c", len(got))
			}
			if n := strings.Count(log.String(), `"level":"warn"`); n != warnings+1 {
				t.Errorf("%d warnings, want one: %s", n-warnings, log)
			}
			warnings++
			var rows int
			if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM vibeflight.record`).Scan(&rows); err != nil ||
				rows != 2 {
				t.Errorf("%d rows, %v, want 2", rows, err)
			}
		})
	}
}

func TestPutNewer(t *testing.T) {
	p := pgtest.Start(t)
	s, _ := connect(t, p.URL(p.Database(t)), timeout)
	at := time.Unix(1000, 0).UTC()
	for _, tt := range []struct {
		version int
		at      time.Time
		want    int
	}{
		{1, time.Time{}, 1}, {2, at, 2}, {3, at.Add(-1), 2}, {4, time.Time{}, 2}, {5, at, 5}, {6, at.Add(1), 6},
	} {
		r := storetest.Sample("a", tt.version)
		r.ParsedAt = tt.at
		if err := s.PutNewer(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		got, ok, err := s.Get(t.Context(), r.Key)
		if !ok || err != nil || got.FormatVersion != tt.want {
			t.Errorf("after version %d at %v: version %d, %v, %v, want %d", tt.version, tt.at, got.FormatVersion, ok, err, tt.want)
		}
	}
}

// TestPutHeld puts records with leases that are held, lost and released.
func TestPutHeld(t *testing.T) {
	each(t, func(t *testing.T, p *pgtest.Postgres, server *pgtest.Server) {
		name := p.Database(t)
		s, _ := connect(t, server.URL(name), timeout)
		ctx := t.Context()
		key := fleet.WorkKey{1}
		acquire := func(owner string) fleet.Lease {
			t.Helper()
			l, ok, err := s.Acquire(ctx, key, owner, "a")
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			return l
		}
		put := func(version int, l fleet.Lease, want error) {
			t.Helper()
			before, _, _ := s.Get(ctx, storetest.Sample("a", 0).Key)
			r := storetest.Sample("a", version)
			if err := s.PutHeld(ctx, r, l); !errors.Is(err, want) {
				t.Errorf("put held: %v, want %v", err, want)
			}
			got, _, err := s.Get(ctx, r.Key)
			if err != nil {
				t.Fatal(err)
			}
			if want != nil {
				r = before
			}
			storetest.WantSame(t, got, r)
		}
		first := acquire("one")
		put(1, first, nil)
		put(2, first, nil)
		stranger := first
		stranger.Owner = "two"
		put(3, stranger, fleet.ErrLost)
		p.Exec(t, name, `UPDATE vibeflight.lease SET expires_at = now()`)
		put(4, first, nil) // nobody has taken it over
		second := acquire("two")
		put(5, first, fleet.ErrLost)
		put(6, second, nil)
		if err := s.Release(ctx, second); err != nil {
			t.Fatal(err)
		}
		put(7, second, fleet.ErrLost)
		put(8, fleet.Lease{Key: fleet.WorkKey{9}, Owner: "one", Epoch: 1}, fleet.ErrLost)
	})
}

// TestFence lets owners lose their lease while they put records. The epochs of the records that were
// put never decrease.
func TestFence(t *testing.T) {
	p := pgtest.Start(t)
	name := p.Database(t)
	s, _ := connect(t, p.URL(name), timeout)
	key := fleet.WorkKey{1}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var puts, lost int
	end := time.Now().Add(2 * time.Second)
	for _, owner := range []string{"a", "b", "c", "d"} {
		wg.Go(func() {
			for time.Now().Before(end) {
				l, ok, err := s.Acquire(t.Context(), key, owner, "")
				if err != nil {
					t.Error(err)
					return
				}
				if !ok {
					continue
				}
				for range 5 {
					r := storetest.Sample("fenced", 1)
					r.Rows = l.Epoch
					err := s.PutHeld(t.Context(), r, l)
					mu.Lock()
					if puts++; err != nil {
						lost++
					}
					mu.Unlock()
					if err != nil {
						if !errors.Is(err, fleet.ErrLost) {
							t.Error(err)
						}
						break
					}
				}
			}
		})
	}
	wg.Go(func() { // leases expire at random moments
		for time.Now().Before(end) {
			_, _ = s.pool.Exec(t.Context(), `UPDATE vibeflight.lease SET expires_at = clock_timestamp()`)
		}
	})
	wg.Go(func() {
		last := int64(0)
		for time.Now().Before(end) {
			r, ok, err := s.Get(t.Context(), storetest.Sample("fenced", 1).Key)
			if err != nil {
				t.Error(err)
				return
			}
			if ok && r.Rows < last {
				t.Errorf("epoch %d after %d", r.Rows, last)
			}
			if ok {
				last = r.Rows
			}
		}
	})
	wg.Wait()
	if lost == 0 || lost == puts {
		t.Errorf("%d puts, %d of a lost lease: want some of both", puts, lost)
	}
}

// TestServersAtOnce opens an empty database by many servers at once.
func TestServersAtOnce(t *testing.T) {
	each(t, func(t *testing.T, p *pgtest.Postgres, s *pgtest.Server) {
		url := s.URL(p.Database(t))
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				s, _ := connect(t, url, timeout)
				if err := s.Prepare(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

func TestMigrations(t *testing.T) {
	p := pgtest.Start(t)
	url := p.URL(p.Database(t))
	old, _ := connect(t, url, timeout)
	storetest.Put(t, old, storetest.Sample("a", 1))
	prepare := func(steps ...string) error {
		s, err := open(t.Context(), url, timeout, zerolog.Nop(), append(migrations(), steps...))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		return s.Prepare(t.Context())
	}
	step := `ALTER TABLE vibeflight.record ADD COLUMN note TEXT`
	if err := prepare(step, `UPDATE vibeflight.record SET note = 'half'; SELECT none`); err == nil ||
		!strings.Contains(err.Error(), "migration to version 3") {
		t.Errorf("a step that fails: %v", err)
	}
	if err := old.Prepare(t.Context()); err != nil {
		t.Errorf("a failed migration changed something: %v", err)
	}
	if err := prepare(step); err != nil {
		t.Error(err)
	}
	got := storetest.All(t, old) // a running server goes on
	if len(got) != 1 {
		t.Fatalf("%d records, want 1", len(got))
	}
	storetest.Intact(t, got[0])
	storetest.Put(t, old, storetest.Sample("b", 1))
	if err := old.Prepare(t.Context()); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("a newer schema: %v", err)
	}
}

// TestNoPasswordInErrors looks for the password in all errors and in the log.
func TestNoPasswordInErrors(t *testing.T) {
	for _, url := range []string{
		"postgres://vf:S3CRET@127.0.0.1:1/x", "postgres://vf:S3CRET@no.such.host.invalid/x",
		"postgres://vf:S3CRET@127.0.0.1:port/x", "postgres://vf:a:S3CRET@h@127.0.0.1:1:2/x", "postgres://vf:S3CRET%zz@h/x",
		"postgres://vf:S3CRET@h/x?sslmode=S3CRETmode", "host=h password=S3CRET port=x", "postgres://vf:S3CRET@h\x00/x",
		"S3CRET", "postgres://vf:S3CRET@h/x?sslrootcert=/none",
	} {
		log := &storetest.Log{}
		s, err := Open(t.Context(), url, time.Second, zerolog.New(log))
		name := ""
		if err == nil {
			name = s.Name()
			_, err = s.Replicas(t.Context())
			_ = s.Close()
		}
		if err == nil {
			t.Errorf("%s: no error", url)
			continue
		}
		if text := err.Error() + name + log.String(); strings.Contains(text, "S3CRET") {
			t.Errorf("%s: %s", url, text)
		}
	}
	p := pgtest.Start(t)
	s, log := connect(t, strings.Replace(p.URL("postgres"), "p%40ss", "S3CRET", 1), timeout)
	_, err := s.Replicas(t.Context())
	if !errors.Is(err, fleet.ErrAway) || strings.Contains(err.Error()+log.String(), "S3CRET") {
		t.Errorf("a wrong password: %v", err)
	}
}

// TestDeadline expects an error in time from a database that is locked, killed or hung.
func TestDeadline(t *testing.T) {
	p := pgtest.StartOwn(t)
	const limit = 500 * time.Millisecond
	within := func(what string, s *Store) {
		t.Helper()
		begin := time.Now()
		_, _, err := s.Get(t.Context(), store.Key{Name: "a"})
		if took := time.Since(begin); !errors.Is(err, fleet.ErrAway) || took > 2*limit {
			t.Errorf("%s: %v after %v", what, err, took)
		}
	}
	name := p.Database(t)
	s, _ := connect(t, p.URL(name), limit)
	storetest.Works(t, s)
	// a lock that another session holds
	tx, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `LOCK TABLE vibeflight.record`); err != nil {
		t.Fatal(err)
	}
	within("a lock", s)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.Works(t, s)
	p.Kill()
	within("a killed server", s)
	p.Restart(t)
	storetest.Works(t, s)

	b := p.Bouncer(t)
	s, _ = connect(t, b.URL(name), limit)
	storetest.Works(t, s)
	resume := b.Pause(t)
	within("a hung PgBouncer", s)
	resume()
	storetest.Works(t, s)
	p.Kill()
	within("a PgBouncer without a database", s)
}

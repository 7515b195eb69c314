package postgres

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/fleet/fleettest"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/store/postgres/pgtest"
	"github.com/vibeflight/vibeflight/catalog/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// timeout is long, because the machines of CI are slow.
const timeout = 20 * time.Second

// each runs a test with PostgreSQL itself and through PgBouncer.
func each(t *testing.T, test func(t *testing.T, p *pgtest.Postgres, s *pgtest.Server)) {
	t.Run("direct", func(t *testing.T) {
		p := pgtest.Start(t)
		test(t, p, p.Server)
	})
	t.Run("bouncer", func(t *testing.T) {
		p := pgtest.Start(t)
		test(t, p, p.Bouncer(t))
	})
}

func TestRecords(t *testing.T) {
	each(t, func(t *testing.T, p *pgtest.Postgres, s *pgtest.Server) {
		storetest.TestStore(t, func(t testing.TB) storetest.Opener {
			url := s.URL(p.Database(t))
			return func(log zerolog.Logger) (store.Store, error) {
				return Open(context.Background(), url, timeout, log)
			}
		})
	})
}

func TestFleet(t *testing.T) {
	each(t, func(t *testing.T, p *pgtest.Postgres, s *pgtest.Server) {
		fleettest.TestStore(t, func(t *testing.T) (fleet.Store, fleettest.Clock) {
			name := p.Database(t)
			opened, err := Open(t.Context(), s.URL(name), timeout, zerolog.Nop())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = opened.Close() })
			return opened, func(d time.Duration) {
				p.Exec(t, name, fmt.Sprintf(`UPDATE vibeflight.lease SET expires_at = expires_at - %[1]s;
					UPDATE vibeflight.replica SET seen = seen - %[1]s`, interval(d)))
			}
		})
	})
}

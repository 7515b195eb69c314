package server

import (
	"context"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/catalog/store/postgres"
	"github.com/vibeflight/vibeflight/catalog/store/shared"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
)

// storeFlags say which database the server shares with others.
type storeFlags struct {
	url     string        // postgres://…; empty: none
	timeout time.Duration // of a statement
}

func (c *storeFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&c.url, "store", "",
		"`url` of a PostgreSQL database that several servers share, as "+
			"postgres://user@host/database?sslmode=verify-full; it has what they know of each file; "+
			"the password may be in PGPASSWORD, or in the file that PGPASSFILE names")
	f.DurationVar(&c.timeout, "store-timeout", postgres.DefaultTimeout,
		"how long a statement of that database may take; then the server goes on alone until the database answers")
}

func (c *storeFlags) check(cacheDir string) error {
	switch {
	case c.url == "":
		return nil
	case c.timeout < 10*time.Millisecond:
		return usage.Errorf("--store-timeout: %v is less than 10ms", c.timeout)
	case settings.CacheDir(cacheDir) == "":
		return usage.Errorf("--store: it needs a folder for tables; --cache-dir says none")
	}
	return nil
}

// open opens the shared store, or returns nil if there is none. A database that does not answer is
// joined later. One with a newer schema is an error.
func (c *storeFlags) open(ctx context.Context, log zerolog.Logger) (*shared.Remote, error) {
	if c.url == "" {
		return nil, nil
	}
	db, err := postgres.Open(ctx, c.url, c.timeout, log)
	if err != nil {
		return nil, usage.Errorf("--store: %w", err)
	}
	log = log.With().Str("store", db.Name()).Logger()
	r := shared.New(db, log)
	if err := r.Start(ctx, postgres.ErrNewer); err != nil {
		_ = r.Close()
		return nil, usage.Errorf("--store: %w", err)
	}
	if !r.Stats().Away {
		log.Info().Msg("the shared store is ready")
	}
	return r, nil
}

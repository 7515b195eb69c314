package server

import (
	"context"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/catalog/sharedcache"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/stores"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/readers/remote"
)

// cacheStoreFlags configure the shared cache.
type cacheStoreFlags struct {
	store  string        // folder or URL; empty: none
	bytes  units.Size    // budget; 0: no limit
	expiry time.Duration // after the last use; 0: never
}

func (c *cacheStoreFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&c.store, "cache-store", "", "where servers share parsed tables: a `FOLDER` that all of them mount, "+
		"or the URL of one: s3://, gs://, az://; needs --cache-dir")
	f.Var(&c.bytes, "cache-store-bytes", "how much the shared tables may take, as 1TiB; 0 is no limit")
	f.DurationVar(&c.expiry, "cache-store-expiry", 0, "time after its last use in which a shared table is kept; 0 is "+
		"forever")
}

// check refuses invalid values.
func (c *cacheStoreFlags) check(cacheDir string) error {
	switch {
	case c.bytes < 0:
		return usage.Errorf("--cache-store-bytes: %v is less than 0", c.bytes)
	case c.expiry < 0:
		return usage.Errorf("--cache-store-expiry: %v is less than 0", c.expiry)
	case c.store != "" && cacheDir == "":
		return usage.Errorf("--cache-store: needs --cache-dir, a folder of this server for what it fetches")
	}
	return nil
}

// open opens the shared cache; nil: there is none.
func (c *cacheStoreFlags) open(ctx context.Context, log zerolog.Logger) (*sharedcache.Cache, error) {
	if c.store == "" {
		return nil, nil
	}
	cfg := sharedcache.Config{Bytes: int64(c.bytes), Expiry: c.expiry, Log: log}
	if !remote.IsURL(c.store) {
		store, err := sharedcache.Folder(c.store, 0)
		if err != nil {
			return nil, usage.Errorf("--cache-store: %w", err)
		}
		return sharedcache.New(store, c.store, cfg), nil
	}
	root, err := stores.Openers().Open(ctx, c.store, sharedcache.BucketOptions(0))
	if err != nil {
		return nil, usage.Errorf("--cache-store: %w", err)
	}
	if !root.Writable() {
		return nil, usage.Errorf("--cache-store: %s cannot be written; name a folder or a URL s3://, gs:// or az://",
			remote.Address(c.store))
	}
	return sharedcache.New(sharedcache.Bucket(root), remote.Address(c.store), cfg), nil
}

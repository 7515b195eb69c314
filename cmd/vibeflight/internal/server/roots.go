package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/localfile"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/stores"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/source"
)

// roots returns the folders that --data names.
func (c *Config) roots() (roots []catalog.Root, err error) {
	for i, data := range slices.Concat(c.Data, c.Unlisted) {
		flag, unlisted := "--data", i >= len(c.Data)
		if unlisted {
			flag = "--unlisted"
		}
		root, err := catalog.ParseRoot(data)
		if err == nil && root.URL == "" && root.Only == "" && localfile.IsBundle(root.Dir) {
			root = root.OfFile()
		}
		if err == nil && unlisted && root.Only != "" {
			err = fmt.Errorf("%q is not a folder; --data serves a file", data)
		}
		if err != nil {
			return nil, usage.Errorf("%s: %w", flag, err)
		}
		root.NamedOnly = unlisted
		if root.Refresh, err = c.refreshOf(root); err != nil {
			return nil, err
		}
		roots = append(roots, root)
	}
	return roots, nil
}

// refreshOf returns the time between two lists of a root; 0 is the default.
func (c *Config) refreshOf(root catalog.Root) (interval time.Duration, err error) {
	for _, text := range c.Refresh {
		alias, value, named := strings.Cut(text, "=")
		if !named {
			value = text
		}
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return 0, usage.Errorf("--refresh-interval: %q is not a time greater than 0, as 5m", text)
		}
		if !named && interval == 0 || named && alias == root.Alias {
			interval = d
		}
	}
	return interval, nil
}

// openStore opens a root that is a URL.
func (c *Config) openStore(ctx context.Context, url string) (*remote.Root, error) {
	return stores.Openers().Open(ctx, url, remote.Options{Unpack: source.UnpackOptions{
		Dir: c.CacheDir, MaxBytes: int64(c.Parse.UnpackedBytes),
	}})
}

// writableRoot creates the folder in which clients may store tables, if there is one.
func (c *Config) writableRoot() (*catalog.Root, error) {
	if c.Writable == "" {
		return nil, nil
	}
	root, err := catalog.ParseRoot(c.Writable)
	if errors.Is(err, fs.ErrNotExist) {
		_, dir, aliased := strings.Cut(c.Writable, "=")
		if !aliased {
			dir = c.Writable
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, usage.Errorf("--writable: %w", err)
		}
		root, err = catalog.ParseRoot(c.Writable)
	}
	if err == nil && root.Only != "" {
		err = fmt.Errorf("%q is not a folder", c.Writable)
	}
	if err != nil {
		return nil, usage.Errorf("--writable: %w", err)
	}
	return &root, nil
}

// Package inbox takes what clients send: files that are parsed and not kept (DoExchange), and
// tables that are stored in the writable root (DoPut).
package inbox

import (
	"cmp"
	"context"
	"fmt"

	"github.com/vibeflight/vibeflight/catalog/load"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
)

// DefaultMaxSent is the default of Config.MaxSent.
const DefaultMaxSent = 4

// Config configures an Inbox. Formats, Loader, Cache, Tree and Evict are required.
type Config struct {
	Formats        readers.Registry
	Options        func(name string) map[string]any // the operator's options for a file; may be nil
	Limits         readers.Limits
	MaxSent        int   // files that are parsed at a time, which share the memory; 0: DefaultMaxSent
	MaxStoredBytes int64 // of a stored file; 0: DefaultMaxStoredBytes
	Loader         *load.Loader
	Cache          *tables.Cache
	Tree           *tree.Tree
	Evict          func(ctx context.Context, name string) (int, error) // drops the tables of an entry
	// Known removes from an error for an entry what the caller may not know; nil: nothing
	Known func(ctx context.Context, name string, err error) error
}

// Inbox takes files and tables from clients. It is safe for concurrent use.
type Inbox struct {
	cfg      Config
	ctx      context.Context // ends with the catalog
	sending  chan struct{}   // limits the files that are sent at a time
	writable *tree.Mount     // nil: no root is writable
	storing  nameLocks       // by path below the root
}

// New returns an inbox whose calls end with ctx. It removes what a crash has left in the writable
// root, which may be nil.
func New(ctx context.Context, cfg Config, writable *tree.Mount) (*Inbox, error) {
	if cfg.MaxSent <= 0 {
		cfg.MaxSent = DefaultMaxSent
	}
	cfg.MaxStoredBytes = cmp.Or(cfg.MaxStoredBytes, DefaultMaxStoredBytes)
	c := &Inbox{cfg: cfg, ctx: ctx, sending: make(chan struct{}, cfg.MaxSent), writable: writable}
	if writable == nil {
		return c, nil
	}
	dir, err := writable.Open()
	if err != nil {
		return nil, err
	}
	if err := removeDrafts(dir); err != nil {
		return nil, fmt.Errorf("%s: %w", writable.Dir, err)
	}
	return c, nil
}

// Sending returns the number of files that are being sent.
func (c *Inbox) Sending() int { return len(c.sending) }

// Writable reports whether a root is writable.
func (c *Inbox) Writable() bool { return c.writable != nil }

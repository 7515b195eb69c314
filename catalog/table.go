package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"sync/atomic"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Request asks for a table.
type Request struct {
	Name    string
	Options map[string]any // of the format; what the operator set holds where they say nothing
	Version string         // the only one wanted; "" for any
}

// Held is a table that somebody uses. Release it when done with it: until then it is not evicted.
type Held struct {
	Entry   Entry
	Version string
	Table   *readers.Table
	Cached  bool // it was there already

	tables   *tables
	parsed   *parsed
	released atomic.Bool
}

// Release says that the table is no longer used. Calls after the first do nothing. Table and records made from it stay valid; their memory is the
// garbage collector's.
func (h *Held) Release() {
	if h != nil && h.tables != nil && h.released.CompareAndSwap(false, true) {
		h.tables.release(h.parsed)
	}
}

// Table gives the parsed table of an entry. Of those who ask for the same at the same time one parse serves all; it ends early when nobody waits
// for it any more. A file that changes while it is parsed is parsed once more, then an error that wraps source.ErrChanged is given.
//
// Errors: *NotFoundError, *ChangedError, *readers.LimitError, *readers.OptionError, *readers.ParseError, ErrClosed, that of ctx.
func (c *Catalog) Table(ctx context.Context, req Request) (*Held, error) {
	h, err := c.table(ctx, req)
	if errors.Is(err, source.ErrChanged) && ctx.Err() == nil {
		h, err = c.table(ctx, req)
	}
	return h, err
}

func (c *Catalog) table(ctx context.Context, req Request) (*Held, error) {
	e, err := c.Lookup(req.Name)
	if err != nil {
		return nil, err
	}
	j, err := c.job(e, req.Options)
	if err != nil {
		return nil, err
	}
	if req.Version != "" && req.Version != j.version {
		return nil, &ChangedError{Name: req.Name, Want: req.Version, Have: j.version}
	}
	if limit := c.cfg.MaxFileBytes; limit > 0 && e.Size > limit {
		return nil, &readers.LimitError{What: fmt.Sprintf("%s with its %d bytes", e.Name, e.Size), Flag: "--max-file-bytes", Limit: limit}
	}
	c.tables.dropOthers(e.Name, e.Identity) // one may have been put there by a parse that ended after the change was seen
	p, cached, err := c.join(ctx, j)
	if err != nil {
		return nil, err
	}
	return &Held{Entry: e, Version: j.version, Table: p.table, Cached: cached, tables: c.tables, parsed: p}, nil
}

// Peek gives the table of an entry with the operator's options, and its version, if it is parsed and the file is still the same. It parses
// nothing. The table is not pinned.
func (c *Catalog) Peek(name string) (*readers.Table, string, bool) {
	if !c.tables.has(name) {
		return nil, "", false
	}
	e, err := c.Lookup(name)
	if err != nil {
		return nil, "", false
	}
	j, err := c.job(e, nil)
	if err != nil {
		return nil, "", false
	}
	t := c.tables.peek(j.key)
	return t, j.version, t != nil
}

// Evict forgets the parsed tables of an entry and says how many they were. Who holds one keeps it.
func (c *Catalog) Evict(name string) int { return c.tables.evict(name) }

// job is one parse to be done.
type job struct {
	key     key
	entry   Entry
	format  readers.Format
	options readers.Options
	version string
}

// job checks options and says what they and the file's identity make.
func (c *Catalog) job(e Entry, given map[string]any) (job, error) {
	f, ok := c.cfg.Formats.ByName(e.Format)
	if !ok {
		return job{}, fmt.Errorf("%s: no format %q", e.Name, e.Format)
	}
	all := map[string]any{}
	if c.cfg.Options != nil {
		maps.Copy(all, c.cfg.Options(e.Name))
	}
	maps.Copy(all, given)
	opts, err := f.ParseOptions(all)
	if err != nil {
		return job{}, err
	}
	digest := opts.Digest()
	sum := sha256.Sum256(append([]byte(e.Identity.Version()), digest[:]...))
	return job{
		key: key{name: e.Name, identity: e.Identity, options: digest}, entry: e, format: f, options: opts,
		version: hex.EncodeToString(sum[:12]),
	}, nil
}

// parse reads the table of a job.
func (c *Catalog) parse(ctx context.Context, j job) (t *readers.Table, err error) {
	defer func() {
		// One file that our code can't take must not end the service for all the others.
		if r := recover(); r != nil {
			c.cfg.Log.Error().Str("name", j.entry.Name).Interface("panic", r).Stack().Msg("panic while parsing")
			t, err = nil, fmt.Errorf("%s: %s: internal error: %v", j.entry.Name, j.entry.Format, r)
		}
	}()
	if !settled(ctx, j.entry.Identity) {
		return nil, ctx.Err()
	}
	src, err := j.entry.read()
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w (%w)", j.entry.Name, source.ErrChanged, err)
		}
		return nil, fmt.Errorf("%s: %w", j.entry.Name, err)
	}
	defer src.Close()
	if src.Identity != j.entry.Identity {
		return nil, fmt.Errorf("%s: %w: was %v, is %v", j.entry.Name, source.ErrChanged, j.entry.Identity, src.Identity)
	}
	t, err = c.parseFile(ctx, j, src)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// Asked after an error too: half of one version and half of another make a malformed file.
	if changed := src.Unchanged(); changed != nil {
		return nil, changed
	}
	return t, err
}

func (c *Catalog) parseFile(ctx context.Context, j job, src *source.File) (*readers.Table, error) {
	layout, err := j.format.Open(ctx, src, j.options)
	if err != nil {
		return nil, err
	}
	t, err := c.read(ctx, j.format, j.format.CPU(layout), src, c.cfg.Limits)
	if err != nil {
		return nil, err
	}
	t.Measure() // a bbox is scanned by what it finds
	return t, nil
}

// clockTick is longer than the steps in which file systems count time.
const clockTick = 20 * time.Millisecond

// settled waits until a write would get another time than the one that the identity has: a file that is written again within one
// step of the file system's clock looks unchanged. It reports false if ctx ended.
func settled(ctx context.Context, id source.Identity) bool {
	age := time.Since(time.Unix(0, max(id.Mtime, id.Ctime)))
	if age < 0 || age >= clockTick {
		return ctx.Err() == nil
	}
	return sleep(ctx, clockTick-age)
}

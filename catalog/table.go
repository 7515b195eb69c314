package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Request asks for a table.
type Request struct {
	Name    string
	Options map[string]any // of the format; what the operator set holds where they say nothing
	Version string         // the only one wanted; "" for any
	// that are read of the table; nil: all. Without a cache on disk the others may have no values:
	// readers.Projection
	Columns []string

	awaited  bool // as job has them
	recorded *fileRecord
}

// Table gives the parsed table of an entry. Of those who ask for the same at the same time one
// parse serves all; it ends early when nobody waits for it any more. A file that changes while it
// is parsed is parsed once more, then an error that wraps source.ErrChanged is given.
//
// Errors: *NotFoundError, *ChangedError, *readers.LimitError, *readers.OptionError,
// *readers.ParseError, ErrClosed, that of ctx.
func (c *Catalog) Table(ctx context.Context, req Request) (*TableRef, error) {
	h, err := c.table(ctx, req)
	if errors.Is(err, source.ErrChanged) && ctx.Err() == nil {
		h, err = c.table(ctx, req)
	}
	return h, err
}

func (c *Catalog) table(ctx context.Context, req Request) (*TableRef, error) {
	j, err := c.request(req)
	if err != nil {
		return nil, err
	}
	e := j.entry
	// one may have been put there by a parse that ended after the change was seen
	c.tables.dropOthers(e.File(), e.Identity)
	p, cached, err := c.join(ctx, j)
	if err != nil {
		return nil, err
	}
	return &TableRef{
		Entry: e, Version: j.version, Table: p.table, Cached: cached, job: j, tables: c.tables,
		parsed: p,
	}, nil
}

// request is the job that a request asks for.
func (c *Catalog) request(req Request) (job, error) {
	e, err := c.lookupAs(req.Name, readers.FormatNamed(req.Options))
	if err != nil {
		return job{}, err
	}
	j, err := c.job(e, req.Options)
	if err != nil {
		return job{}, err
	}
	j.awaited, j.recorded = req.awaited, req.recorded
	if c.archive == nil { // else the whole table is parsed, to be kept
		j = j.ofColumns(readers.Project(req.Columns))
	}
	if req.Version != "" && req.Version != j.version {
		return job{}, &ChangedError{Name: req.Name, Want: req.Version, Have: j.version}
	}
	if limit := c.cfg.MaxFileBytes; limit > 0 && e.Size > limit {
		return job{}, &readers.LimitError{
			What: fmt.Sprintf("%s with its %d bytes", e.Name, e.Size),
			Flag: "--max-file-bytes", Limit: limit,
		}
	}
	return j, nil
}

// Check gives the error, if any, that Table would give before it looks for the table: there is no
// such entry, it has another version, an option is wrong, a limit is met.
func (c *Catalog) Check(req Request) error {
	_, err := c.request(req)
	return err
}

// Read is Table and Scan for who wants the rows at once; the columns that it asks for are those of
// the selection. Where the table was lost from the cache and its file is the one that was parsed
// then, rows are given while the file is parsed; Table of the answer has no batches then, and
// Cached is false. A bounding box that few batches meet has no more than these parsed then.
func (c *Catalog) Read(ctx context.Context, req Request, sel Selection) (*TableRef, *Scan, error) {
	req.Columns, req.awaited = sel.Reads(), true
	if h, s, err := c.readPart(ctx, req, sel); s != nil || err != nil {
		return h, s, err
	}
	h, err := c.readable(ctx, req)
	if errors.Is(err, source.ErrChanged) && ctx.Err() == nil {
		h, err = c.readable(ctx, req)
	}
	if err != nil {
		return nil, nil, err
	}
	s, err := c.Scan(h, sel)
	if err != nil {
		h.Release()
		return nil, nil, err
	}
	if h.flight != nil {
		s.live = h.flight.live
		s.finish, s.sound = h.finish, h.sound
	}
	return h, s, nil
}

// readable gives the table, or the parse of it if that gives rows already.
func (c *Catalog) readable(ctx context.Context, req Request) (*TableRef, error) {
	j, err := c.request(req)
	if err != nil {
		return nil, err
	}
	c.tables.dropOthers(j.entry.File(), j.entry.Identity)
	h := &TableRef{Entry: j.entry, Version: j.version, job: j, tables: c.tables}
	p, f, err := c.board(ctx, j)
	switch {
	case err != nil:
		return nil, err
	case p != nil:
		h.Cached = true
	default:
		select {
		case <-f.begun:
			if f.live != nil {
				h.Table, h.flight = f.live.table, f
				return h, nil
			}
		case <-ctx.Done(): // await sees it too
		}
		if p, h.Cached, err = c.await(ctx, f); err != nil {
			return nil, err
		}
	}
	h.Table, h.parsed = p.table, p
	return h, nil
}

// Peek gives the table of an entry with the operator's options, and its version, if it is parsed
// and the file is still the same. It parses nothing. The table is not pinned.
func (c *Catalog) Peek(name string) (*readers.Table, string, bool) {
	if file, _, _ := splitName(name); !c.tables.has(file) {
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

// Evict forgets the parsed tables of an entry, those of any options, in memory and in the cache,
// and says how many they were: by the name of a file those of all its layers. Who holds one keeps
// it.
func (c *Catalog) Evict(ctx context.Context, name string) (int, error) {
	file, named, _ := splitName(name)
	var evicted [][32]byte
	if named == "" {
		evicted = c.tables.evict(file, nil)
	}
	e, err := c.Lookup(name)
	if err != nil {
		return len(evicted), nil // a file that is gone has no table that anybody finds
	}
	var layer *string
	if named != "" {
		layer = &e.Layer
		evicted = c.tables.evict(file, layer)
	}
	if c.archive == nil {
		c.recent.forget(storeName(e))
		return len(evicted), nil
	}
	n := len(evicted)
	stored, err := c.archive.forgetFile(ctx, c.cfg.Formats, e, layer)
	for _, options := range stored {
		if !slices.Contains(evicted, options) {
			n++
		}
	}
	return n, err
}

// job is one parse to be done.
type job struct {
	key     key
	entry   Entry
	format  readers.Format
	options readers.Options
	columns readers.Projection
	version string

	awaited  bool        // somebody wants rows while they are parsed, the first ones soon
	recorded *fileRecord // what is known of the file; nil: that was not asked for
}

// job checks options and says what they and the file's identity make.
func (c *Catalog) job(e Entry, given map[string]any) (job, error) {
	f, ok := c.cfg.Formats.ByName(e.Format)
	if !ok {
		return job{}, fmt.Errorf("%s: no format %q", e.Name, e.Format)
	}
	all := map[string]any{}
	if c.cfg.Options != nil {
		maps.Copy(all, c.cfg.Options(e.File()))
	}
	maps.Copy(all, given)
	f, all, err := c.cfg.Formats.Choose(f, all)
	if err != nil {
		return job{}, err
	}
	e.Format = f.Name
	opts, err := f.ParseOptions(all)
	if err != nil {
		return job{}, err
	}
	digest := opts.Digest()
	sum := sha256.Sum256(append([]byte(e.Identity.Version()), digest[:]...))
	return job{entry: e, format: f, options: opts, version: hex.EncodeToString(sum[:12])}.ofLayer(e.Layer), nil
}

// ofLayer is the job for a layer of the same file.
func (j job) ofLayer(layer string) job {
	j.entry.Layer = layer
	j.key = key{
		name: j.entry.File(), layer: layer, format: j.format.Name, identity: j.entry.Identity,
		options: layerOptions(j.options.Digest(), layer), columns: j.columns.Key(),
	}
	return j
}

// ofColumns is the job for some columns of the same table.
func (j job) ofColumns(columns readers.Projection) job {
	j.columns, j.key.columns = columns, columns.Key()
	return j
}

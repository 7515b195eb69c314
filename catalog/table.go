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

// Held is a table that somebody uses, with one scan at a time. Release it when done with it: until then it is not evicted.
type Held struct {
	Entry   Entry
	Version string
	Table   *readers.Table
	Cached  bool // it was there already

	job      job
	tables   *tables
	parsed   *parsed
	flight   *flight // the parse, while there is no parsed yet
	released atomic.Bool
}

// Release says that the table is no longer used. Calls after the first do nothing. A table that lies in a file, and records made from it, may
// not be read any more: Retain keeps them.
func (h *Held) Release() {
	if h == nil || h.tables == nil || !h.released.CompareAndSwap(false, true) {
		return
	}
	if h.flight != nil {
		h.tables.leave(h.flight, h.job.key)
		return
	}
	h.tables.release(h.parsed)
}

// replace has the table of h parsed again because its file is damaged, and gives the new one, which h holds from now on.
func (c *Catalog) replace(ctx context.Context, h *Held, why error) (*readers.Table, error) {
	if h.parsed == nil || h.released.Load() {
		return nil, why
	}
	c.tables.mu.Lock()
	first := h.parsed.kept // else somebody else has seen it, and the file may be another one by now
	if first {
		c.tables.remove(h.parsed)
	}
	c.tables.mu.Unlock()
	if key, ok := h.parsed.place(); ok && first {
		c.archive.drop(h.Entry.Name, key, why)
	}
	p, _, err := c.join(ctx, h.job)
	if err != nil {
		return nil, err
	}
	c.tables.release(h.parsed)
	h.parsed, h.Table = p, p.table
	return p.table, nil
}

// Retain keeps the slices of the table readable until release is called, once, whatever becomes of h. It gives nil for a table that the garbage
// collector keeps.
func (h *Held) Retain() (release func()) {
	if h.parsed == nil {
		return nil
	}
	return h.parsed.retain()
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
	j, err := c.request(req)
	if err != nil {
		return nil, err
	}
	e := j.entry
	c.tables.dropOthers(e.Name, e.Identity) // one may have been put there by a parse that ended after the change was seen
	p, cached, err := c.join(ctx, j)
	if err != nil {
		return nil, err
	}
	return &Held{Entry: e, Version: j.version, Table: p.table, Cached: cached, job: j, tables: c.tables, parsed: p}, nil
}

// request is the job that a request asks for.
func (c *Catalog) request(req Request) (job, error) {
	e, err := c.Lookup(req.Name)
	if err != nil {
		return job{}, err
	}
	j, err := c.job(e, req.Options)
	if err != nil {
		return job{}, err
	}
	if req.Version != "" && req.Version != j.version {
		return job{}, &ChangedError{Name: req.Name, Want: req.Version, Have: j.version}
	}
	if limit := c.cfg.MaxFileBytes; limit > 0 && e.Size > limit {
		return job{}, &readers.LimitError{What: fmt.Sprintf("%s with its %d bytes", e.Name, e.Size), Flag: "--max-file-bytes", Limit: limit}
	}
	return j, nil
}

// Read is Table and Scan for who wants the rows at once. Where the table was lost from the cache and its file is the one that was parsed then, rows are given
// while the file is parsed; Table of the answer has no batches then, and Cached is false.
func (c *Catalog) Read(ctx context.Context, req Request, sel Selection) (*Held, *Scan, error) {
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
		s.finish = h.finish
	}
	return h, s, nil
}

// readable gives the table, or the parse of it if that gives rows already.
func (c *Catalog) readable(ctx context.Context, req Request) (*Held, error) {
	j, err := c.request(req)
	if err != nil {
		return nil, err
	}
	c.tables.dropOthers(j.entry.Name, j.entry.Identity)
	h := &Held{Entry: j.entry, Version: j.version, job: j, tables: c.tables}
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
		if p, h.Cached, err = c.await(ctx, f, j.key); err != nil {
			return nil, err
		}
	}
	h.Table, h.parsed = p.table, p
	return h, nil
}

// finish waits for the end of the parse and gives the table.
func (h *Held) finish(ctx context.Context) (*readers.Table, error) {
	select {
	case <-h.flight.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := h.flight.err; err != nil {
		return nil, err
	}
	h.parsed, h.flight = h.flight.parsed, nil
	h.Table = h.parsed.table
	return h.Table, nil
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

// Evict forgets the parsed tables of an entry, in memory and in the cache, and says how many they were. Who holds one keeps it.
func (c *Catalog) Evict(ctx context.Context, name string) (int, error) {
	n := c.tables.evict(name)
	if c.archive == nil {
		return n, nil
	}
	e, err := c.Lookup(name)
	if err != nil {
		return n, nil // a file that is gone has no table that anybody finds
	}
	j, err := c.job(e, nil)
	if err != nil {
		return n, err
	}
	dropped, err := c.archive.forget(ctx, j)
	if dropped && n == 0 {
		n = 1
	}
	return n, err
}

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

// obtain gives the table of a job: from the cache if it lies there, else parsed.
func (c *Catalog) obtain(ctx context.Context, f *flight, j job) (l *loaded, parsed bool, err error) {
	defer func() {
		// One file that our code can't take must not end the service for all the others.
		if r := recover(); r != nil {
			c.cfg.Log.Error().Str("name", j.entry.Name).Interface("panic", r).Stack().Msg("panic while parsing")
			l, err = nil, fmt.Errorf("%s: %s: internal error: %v", j.entry.Name, j.entry.Format, r)
		}
	}()
	if c.archive != nil {
		if l := c.archive.find(ctx, j); l != nil {
			return l, false, nil
		}
	}
	select {
	case c.tables.slots <- struct{}{}:
		defer func() { <-c.tables.slots }()
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	parsed, f.began = true, time.Now()
	l, err = c.parse(ctx, f, j)
	if err != nil && c.archive != nil && ctx.Err() == nil && !errors.Is(err, source.ErrChanged) {
		c.archive.fail(ctx, j, err)
	}
	return l, parsed, err
}

// parse reads the table of a job.
func (c *Catalog) parse(ctx context.Context, f *flight, j job) (*loaded, error) {
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
	f.reads(src)
	l, err := c.parseFile(ctx, f, j, src)
	if err == nil && ctx.Err() == nil {
		// Asked after an error too: half of one version and half of another make a malformed file.
		err = src.Unchanged()
	} else if changed := src.Unchanged(); changed != nil {
		err = changed
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		if l != nil {
			l.release()
		}
		return nil, err
	}
	return l, nil
}

func (c *Catalog) parseFile(ctx context.Context, f *flight, j job, src *source.File) (*loaded, error) {
	layout, err := j.format.Open(ctx, src, j.options)
	if err != nil {
		return nil, err
	}
	if c.archive == nil {
		t, err := c.read(ctx, j.format, j.format.CPU(layout), src, c.cfg.Limits, nil)
		if err != nil {
			return nil, err
		}
		t.Measure() // a bbox is scanned by what it finds
		return &loaded{table: t}, nil
	}
	s := c.spool(j)
	defer s.close()
	t, base, err := c.readGrown(ctx, j, layout, src, s)
	if err == nil && t == nil {
		t, err = c.readAll(ctx, f, j, layout, src, s)
	}
	if err != nil {
		return nil, err
	}
	t.Measure()
	l, err := s.finish(t)
	if base != nil {
		if err != nil || l.file != nil {
			base.release()
		} else {
			l.base = base
		}
	}
	return l, err
}

// readAll reads a file. Where it was read before, and only its table was lost, the rows are given as they come.
func (c *Catalog) readAll(ctx context.Context, f *flight, j job, layout readers.Layout, src *source.File, keep readers.Keeper) (*readers.Table, error) {
	shape, bbox := c.archive.shape(ctx, j)
	if shape == nil {
		f.begin(nil)
		return c.read(ctx, j.format, j.format.CPU(layout), src, c.cfg.Limits, keep)
	}
	l := newLive(shape, bbox)
	f.begin(l)
	return readers.ReadAs(ctx, j.format, j.format.CPU(layout), src, c.cfg.Limits, shape, keep, l.put)
}

// readGrown reads only what was appended to a file, where the table of what it held before lies in the cache. It gives that table too, which
// the new one shares slices with, or nothing where the file is to be read as a whole.
func (c *Catalog) readGrown(ctx context.Context, j job, layout readers.Layout, src *source.File, keep readers.Keeper) (*readers.Table, *loaded, error) {
	base := c.archive.grown(ctx, j, src)
	if base == nil {
		return nil, nil, nil
	}
	t, ok, err := readers.Extend(ctx, j.format, j.format.CPU(layout), src, c.cfg.Limits, base.table, keep)
	if errors.Is(err, readers.ErrDamaged) {
		c.archive.drop(j.entry.Name, base.cacheKey, err)
		ok, err = false, nil
	}
	if err != nil || !ok {
		base.release()
		return nil, nil, err
	}
	c.archive.extensions.Add(1)
	return t, base, nil
}

// save puts the table of a parse into the cache, behind the back of those who asked for it, and gives back its pin.
func (c *Catalog) save(j job, p *parsed) {
	defer c.tables.release(p)
	defer func() {
		if r := recover(); r != nil {
			c.cfg.Log.Error().Str("name", j.entry.Name).Interface("panic", r).Stack().Msg("panic while saving a table")
		}
	}()
	select {
	case c.saving <- struct{}{}:
		defer func() { <-c.saving }()
	case <-c.ctx.Done():
		return
	}
	if c.tables.forgotten(p) {
		return
	}
	err := c.archive.save(c.ctx, j, p.loaded)
	if err == nil && c.tables.forgotten(p) {
		_, err = c.archive.forget(c.ctx, j)
	}
	if err != nil && c.ctx.Err() == nil && !errors.Is(err, source.ErrChanged) {
		c.archive.saveErrors.Add(1)
		c.cfg.Log.Warn().Err(err).Str("name", j.entry.Name).Msg("the parsed table is not in the cache: it is parsed again when it is not in memory any more")
	}
}

// clockTick is longer than the steps in which file systems count time.
const clockTick = 20 * time.Millisecond

// settled waits until a write would get another time than the one that the identity has: a file that is written again within one
// step of the file system's clock looks unchanged. It reports false if ctx ended.
func settled(ctx context.Context, id source.Identity) bool {
	for _, at := range []int64{id.Mtime, id.Ctime} { // one of them may have been set, into the future even
		if age := time.Since(time.Unix(0, at)); age >= 0 && age < clockTick && !sleep(ctx, clockTick-age) {
			return false
		}
	}
	return ctx.Err() == nil
}

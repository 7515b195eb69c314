package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// obtain gives the table of a job: from the cache if it lies there, else parsed.
func (c *Catalog) obtain(ctx context.Context, f *parseCall, j job) (l *tableData, parsed bool, err error) {
	defer func() {
		// One file that our code can't take must not end the service for all the others.
		if r := recover(); r != nil {
			c.cfg.Log.Error().Str("name", j.entry.Name).Interface("panic", r).Stack().Msg("panic while parsing")
			l, err = nil, fmt.Errorf("%s: %s: internal error: %v", j.entry.Name, j.entry.Format, r)
		}
	}()
	f.record = c.recorded(ctx, j)
	if c.archive != nil {
		if l := c.archive.find(ctx, j, f.record); l != nil {
			return l, false, nil
		}
	}
	select {
	case c.tables.slots <- struct{}{}:
		defer func() { <-c.tables.slots }()
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	defer c.parsing()()
	parsed, f.began = true, time.Now()
	l, err = c.parse(ctx, f, j)
	if err == nil {
		logDeviations(c.cfg.Log, j.entry.Name, &l.table.Summary)
	}
	if err == nil && c.archive == nil {
		c.noteTable(j, l.table)
	}
	if err != nil && c.archive != nil && ctx.Err() == nil && !errors.Is(err, source.ErrChanged) &&
		!errors.Is(err, readers.ErrNoLayer) {
		c.archive.fail(ctx, j, err)
	}
	return l, parsed, err
}

// parse reads the table of a job.
func (c *Catalog) parse(ctx context.Context, f *parseCall, j job) (*tableData, error) {
	src, err := j.entry.read(j.format.Siblings)
	if err != nil {
		if source.IsGone(err) && !errors.Is(err, ErrClosed) {
			return nil, fmt.Errorf("%s: %w (%w)", j.entry.Name, source.ErrChanged, err)
		}
		return nil, fmt.Errorf("%s: %w", j.entry.Name, err)
	}
	defer src.Close()
	if src.Identity != j.entry.Identity {
		return nil, fmt.Errorf("%s: %w: was %v, is %v", j.entry.Name, source.ErrChanged, j.entry.Identity, src.Identity)
	}
	if !awaitClockTick(ctx, src) {
		return nil, ctx.Err()
	}
	l, err := c.parsePacked(ctx, f, j, src)
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

// parsePacked unpacks the file if it is packed, and reads it.
func (c *Catalog) parsePacked(ctx context.Context, f *parseCall, j job, src *source.File) (*tableData, error) {
	if packing, _ := source.PackingOf(src.Name); packing != source.Plain {
		f.unpacks(src)
	}
	content, err := c.cfg.Formats.UnpackLayer(ctx, j.format, src, j.entry.Layer, c.unpacking())
	if err != nil {
		return nil, err
	}
	if content != src {
		defer content.Close()
	}
	f.reads(content)
	return c.parseFile(ctx, f, j, content)
}

// unpacking says where and how far packed files are unpacked.
func (c *Catalog) unpacking() source.Unpacking {
	u := source.Unpacking{MaxBytes: c.cfg.MaxUnpacked, Workers: c.cfg.Limits.WithDefaults().Workers}
	if c.archive != nil {
		u.Dir = c.cfg.CacheDir
	}
	return u
}

func (c *Catalog) parseFile(ctx context.Context, f *parseCall, j job, src *source.File) (*tableData, error) {
	layout, err := j.format.Open(ctx, src, j.options)
	if err != nil {
		return nil, err
	}
	layout.Layer, layout.Columns = readers.LayerIn(src, j.entry.Layer), j.columns
	s := c.spool(j, src)
	defer s.close()
	t, base, err := c.readGrown(ctx, f, j, layout, src, s)
	if err == nil && t == nil {
		t, err = c.readAll(ctx, f, j, layout, src, s)
	}
	if err != nil {
		return nil, err
	}
	var l *tableData
	if err = t.Measure(ctx); err == nil { // a bbox is scanned by what it finds
		l, err = s.finish(ctx, t)
	}
	if base != nil {
		if err != nil || l.file != nil {
			base.release()
		} else {
			l.base = base
		}
	}
	return l, err
}

// readAll reads a file. Where it was read before, and only its table was lost, the rows are given
// as they come.
func (c *Catalog) readAll(ctx context.Context, f *parseCall, j job, layout readers.Layout, src *source.File,
	keep *spool,
) (*readers.Table, error) {
	k := c.known(j, f.record)
	if k == nil {
		f.begin(nil)
		return c.read(ctx, j.format, c.parser(j.format, layout, src.Size), src, c.cfg.Limits, keep)
	}
	shape := k.Project(j.columns)
	l := newLive(&shape, k.bbox, keep.budget)
	p := c.parser(j.format, layout, src.Size)
	req := readers.Request{Limits: c.cfg.Limits}
	if j.awaited && len(k.Spans) > 1 && readers.EngineOf(p) != readers.EngineCPU {
		req.First = &readers.First{End: k.Spans[0].To, Rest: l.rest}
	}
	f.begin(l)
	return readers.ReadAs(ctx, j.format, p, src, req, &shape, keep, l.put)
}

// readGrown reads only what was appended to a file, where the table of what it held before lies in
// the cache. It gives that table too, which the new one shares slices with, or nothing where the
// file is to be read as a whole.
func (c *Catalog) readGrown(ctx context.Context, f *parseCall, j job, layout readers.Layout, src *source.File,
	keep readers.Keeper,
) (*readers.Table, *tableData, error) {
	if c.archive == nil {
		return nil, nil, nil
	}
	base := c.archive.grown(ctx, j, f.record, src)
	if base == nil {
		return nil, nil, nil
	}
	t, ok, err := readers.Extend(ctx, j.format, c.parser(j.format, layout, src.Size), src, c.cfg.Limits,
		base.table, keep)
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

// clockTick is longer than the steps in which file systems count time.
const clockTick = 20 * time.Millisecond

// awaitClockTick waits until a write would get another time than the ones that the file and its
// siblings have: a file that is written again within one step of the file system's clock looks
// unchanged. It reports false if ctx ended.
func awaitClockTick(ctx context.Context, src *source.File) bool {
	times := []int64{src.Identity.Mtime, src.Identity.Ctime} // one of them may have been set, into the future even
	for _, s := range src.Siblings() {
		times = append(times, s.Identity.Mtime, s.Identity.Ctime)
	}
	for _, at := range times {
		if age := time.Since(time.Unix(0, at)); age >= 0 && age < clockTick && !sleep(ctx, clockTick-age) {
			return false
		}
	}
	return ctx.Err() == nil
}

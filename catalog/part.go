package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// partShare is the share of a file that is read at most in place of the whole.
const partShare = 4

// part is a file of which some batches are read for one scan, since its table is not there and it
// is known where they stand.
type part struct {
	c      *Catalog
	shape  readers.Shape
	spans  []readers.Span
	src    *source.File
	parser readers.Parser

	number int               // of batch
	batch  *geoarrow.Columns // that was read last; a scan asks for its geometries first
}

// readPart is Read for a bounding box that few batches of a file meet whose table was lost from the
// cache: these are parsed, and nothing is kept. Without an error and a scan the whole file is to be
// parsed.
func (c *Catalog) readPart(ctx context.Context, req Request, sel Selection) (*TableRef, *Scan, error) {
	if sel.BBox == nil {
		return nil, nil, nil
	}
	j, err := c.request(req)
	if err != nil {
		return nil, nil, err
	}
	packing, _ := source.PackingOf(j.entry.Path)
	if packing != source.Plain || j.format.Series || c.tables.serves(j) {
		return nil, nil, nil
	}
	k := c.known(j, c.recorded(ctx, j))
	if k == nil || c.lies(k) {
		return nil, nil, nil
	}
	columns := readers.Project(sel.Reads())
	p := &part{c: c, shape: k.Project(columns), spans: k.Spans}
	t := p.shape.Table()
	if t.BBox, t.Boxes = k.bbox, k.boxes(); t.Boxes == nil {
		return nil, nil, nil
	}
	if k.Outline != nil {
		k.tell(t, j.format.Name)
	}
	s, err := NewScan(t, sel)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", j.entry.Name, err)
	}
	var bytes int64
	for _, piece := range s.pieces {
		bytes += k.Spans[piece.batch].To - k.Spans[piece.batch].From
	}
	if !c.recent.lends(j, bytes) {
		return nil, nil, nil
	}
	c.parts.Add(1)
	if err := p.open(ctx, j, columns); err != nil {
		p.close()
		if errors.Is(err, source.ErrChanged) { // a parse says what it is now
			return nil, nil, nil
		}
		return nil, nil, err
	}
	s.fetch, s.outline = p.fetch, k.Outline
	return &TableRef{Entry: j.entry, Version: j.version, Table: t, job: j, tables: c.tables, part: p}, s, nil
}

// serves reports whether the table of a job is there, or is being parsed.
func (t *tables) serves(j job) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find(j) != nil || t.underWay(j) != nil
}

// lends reports whether so many bytes of a file are read in place of all of them. Parts that come
// to the size of the file have it parsed, so that reading parts never costs more than twice what
// the table would have.
func (r *recordCache) lends(j job, bytes int64) bool {
	k, size := storeKey(j), j.entry.Size
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes > size/partShare || r.owed[k]+bytes > size {
		delete(r.owed, k)
		return false
	}
	r.owed[k] += bytes
	return true
}

// open opens the file, which has to be the one that the entry is of.
func (p *part) open(ctx context.Context, j job, columns readers.Projection) (err error) {
	if p.src, err = j.entry.read(j.format.Siblings); err != nil {
		return fmt.Errorf("%s: %w (%w)", j.entry.Name, source.ErrChanged, err)
	}
	if p.src.Identity != j.entry.Identity {
		return fmt.Errorf("%s: %w", j.entry.Name, source.ErrChanged)
	}
	if !awaitClockTick(ctx, p.src) {
		return ctx.Err()
	}
	layout, err := j.format.Open(ctx, p.src, j.options)
	if err != nil {
		return err
	}
	layout.Layer, layout.Columns = j.entry.Layer, columns
	p.parser = j.format.CPU(layout)
	return nil
}

func (p *part) close() {
	if p.src != nil {
		_ = p.src.Close()
	}
}

// fetch gives batch i, unless the file has changed by the end of it.
func (p *part) fetch(ctx context.Context, i int) (*geoarrow.Columns, error) {
	if p.batch != nil && p.number == i {
		return p.batch, nil
	}
	if err := p.c.enterSent(); err != nil {
		return nil, err
	}
	defer p.c.tables.wg.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.c.ctx, func() { cancel(ErrClosed) })()
	select {
	case p.c.tables.slots <- struct{}{}:
		defer func() { <-p.c.tables.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	b, err := readers.Again(ctx, p.parser, p.src, p.c.cfg.Limits, &p.shape, i, p.spans[i])
	if changed := p.src.Unchanged(); changed != nil {
		err = changed
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	p.number, p.batch = i, b
	return b, nil
}

package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// part provides batches of a file whose table is not available, and whose batches have known
// places in the file. Batches are parsed when one of them is requested, several at a time. It is a
// scan.Source.
type part struct {
	loader  *Loader
	table   *readers.Table // without rows
	shape   readers.Shape
	spans   []readers.Span
	outline *persist.Outline // nil: not known
	job     job.Job
	src     *source.File
	parser  readers.Parser

	order  []int                     // batches that will be requested, ascending; nil: not known
	parsed map[int]*geoarrow.Columns // the last ones: a scan requests a batch twice, for its geometries first
}

// Part prepares a scan for a bounding box that few batches meet. Only these batches are parsed, and
// nothing is cached. It returns false if the whole file is to be parsed instead. described requires
// that the outline of the table is known.
func (c *Loader) Part(ctx context.Context, j job.Job, sel scan.Selection, described bool) (
	h *tables.Ref, s *scan.Scan, ok bool, err error,
) {
	packing, _ := source.PackingOf(j.Entry.Path)
	if sel.BBox == nil || packing != source.Plain || j.Format.Series {
		return nil, nil, false, nil
	}
	k := c.Archive.Meta(j, c.Archive.Recorded(ctx, j))
	if k == nil {
		k = c.Cover(ctx, j)
	}
	if k == nil || len(k.Spans) != len(k.Starts)-1 || c.Archive.Reaches(ctx, k) || described && k.Outline == nil {
		return nil, nil, false, nil
	}
	columns := readers.Project(sel.Reads())
	p := &part{loader: c, job: j, shape: k.Project(columns), spans: k.Spans, outline: k.Outline}
	p.table = p.shape.Table()
	if p.table.BBox, p.table.Boxes = k.BBox, k.BatchBoxes(); p.table.Boxes == nil {
		return nil, nil, false, nil
	}
	if k.Outline != nil {
		k.Complete(p.table, j.Format.Name)
	}
	if s, err = scan.Of(p, sel); err != nil {
		return nil, nil, false, fmt.Errorf("%s: %w", j.Entry.Name, err)
	}
	var bytes int64
	for _, i := range s.Batches() {
		bytes += k.Spans[i].To - k.Spans[i].From
	}
	if !c.Archive.Lends(j, bytes) {
		return nil, nil, false, nil
	}
	if err := p.open(ctx, j, columns); err != nil {
		p.close()
		if errors.Is(err, source.ErrChanged) { // a parse reads the present version
			return nil, nil, false, nil
		}
		return nil, nil, false, err
	}
	if sel.Limit == nil {
		p.order = s.Batches()
	}
	c.parts.Add(1)
	return tables.NewRef(j, p.table, p.close), s, true, nil
}

// Lend returns a use of a table of which only some batches are read: each is parsed when it is
// requested. ok is false if the whole file is to be parsed, or its table is in the archive.
func (c *Loader) Lend(ctx context.Context, j job.Job, batches []int) (h *tables.Ref, ok bool) {
	packing, _ := source.PackingOf(j.Entry.Path)
	if packing != source.Plain || j.Format.Series || len(j.Text) > 0 {
		return nil, false
	}
	k := c.Archive.Meta(j, c.Archive.Recorded(ctx, j))
	if k == nil {
		k = c.Cover(ctx, j)
	}
	if k == nil || c.Archive.Reaches(ctx, k) {
		return nil, false
	}
	p := &part{loader: c, job: j, shape: k.Shape, spans: k.Spans, outline: k.Outline, order: batches}
	p.table = p.shape.Table()
	if p.table.Boxes = k.BatchBoxes(); p.table.Boxes == nil {
		return nil, false
	}
	var bytes int64
	for _, i := range batches {
		if i >= len(k.Spans) {
			return nil, false
		}
		bytes += k.Spans[i].To - k.Spans[i].From
	}
	if !c.Archive.Lends(j, bytes) {
		return nil, false
	}
	// The table may be read after this call: Release ends the reads of an object.
	if err := p.open(context.WithoutCancel(ctx), j, readers.Projection{}); err != nil {
		p.close()
		return nil, false // a parse gives the error
	}
	c.parts.Add(1)
	return tables.NewSourceRef(j.Entry, j.Version, false, p, nil), true
}

// Retain implements tables.Source: the garbage collector owns the rows.
func (p *part) Retain() (release func()) { return nil }

// Release implements tables.Source.
func (p *part) Release() { p.close() }

// open opens the file, which must be the one that the entry is of.
func (p *part) open(ctx context.Context, j job.Job, columns readers.Projection) (err error) {
	if p.src, err = j.Entry.Open(ctx, j.Format); err != nil {
		return fmt.Errorf("%s: %w (%w)", j.Entry.Name, source.ErrChanged, err)
	}
	if p.src.Identity != j.Entry.Identity {
		return fmt.Errorf("%s: %w", j.Entry.Name, source.ErrChanged)
	}
	if !source.AwaitClockTick(ctx, p.src) {
		return ctx.Err()
	}
	layout, err := j.Format.Open(ctx, p.src, j.Options)
	if err != nil {
		return err
	}
	layout.Layer, layout.Columns = j.Entry.Layer, columns
	p.parser = j.Format.CPU(layout)
	return nil
}

func (p *part) close() {
	if p.src != nil {
		p.loader.partBytes.Add(p.src.BytesRead())
		_ = p.src.Close()
	}
}

// Table implements scan.Source.
func (p *part) Table() *readers.Table { return p.table }

// Search implements scan.Source.
func (p *part) Search(context.Context, int, [4]float64) ([]int32, bool, error) {
	return nil, false, nil
}

// Close implements scan.Source: Batch has checked the file each time.
func (p *part) Close(context.Context) error { return nil }

// Sizes implements scan.Source.
func (p *part) Sizes() (columns, batches []int64) {
	if p.outline == nil {
		return scan.ColumnBytes(p.table), scan.BatchBytes(p.table)
	}
	return p.outline.Columns, p.outline.Batches
}

// Batch implements scan.Source. It parses batch i and those that will be requested next, unless the
// file has changed by the end of it.
func (p *part) Batch(ctx context.Context, i int) (*geoarrow.Columns, error) {
	if b := p.parsed[i]; b != nil {
		return b, nil
	}
	c := p.loader
	end, ok := c.Begin()
	if !ok {
		return nil, tree.ErrClosed
	}
	defer end()
	ctx, cancel := c.untilClosed(ctx)
	defer cancel(nil)
	free, err := c.Slot(ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	p.parsed = nil
	batches, err := p.parse(ctx, p.group(i))
	if changed := p.src.Unchanged(); changed != nil {
		err = changed
	} else if errors.Is(err, source.ErrChanged) {
		c.Distrust(p.job) // what the file says of itself is wrong: the next call parses all of it
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	p.parsed = batches
	return batches[i], nil
}

// groupShare is the share of the memory that bounds the bytes of batches that are parsed at a time.
const groupShare = 32

// group returns batch i and the batches to parse with it. The bytes of the group that follows them
// are fetched meanwhile.
func (p *part) group(i int) []int {
	at, ok := slices.BinarySearch(p.order, i)
	if !ok {
		return []int{i}
	}
	limits := p.loader.Limits.WithDefaults()
	bytes, end := int64(0), at
	for end < len(p.order) && end-at < limits.Workers {
		span := p.spans[p.order[end]]
		if bytes += span.To - span.From; end > at && bytes > limits.Memory/groupShare {
			break
		}
		end++
	}
	p.prefetch(p.order[at:min(len(p.order), end+end-at)])
	return p.order[at:end]
}

// prefetch announces that batches will be read.
func (p *part) prefetch(batches []int) {
	rows, spans := make([][2]int64, len(batches)), make([][2]int64, len(batches))
	for k, i := range batches {
		rows[k] = [2]int64{p.shape.Starts[i], p.shape.Starts[i+1]}
		spans[k] = [2]int64{p.spans[i].From, p.spans[i].To}
	}
	if parser, ok := p.parser.(readers.RowPrefetcher); ok {
		parser.PrefetchRows(p.src, rows)
		return
	}
	p.src.Prefetch(spans...)
}

// parse parses batches at the same time. A batch after the first one that has an error is left out:
// the error is returned when it is requested.
func (p *part) parse(ctx context.Context, batches []int) (map[int]*geoarrow.Columns, error) {
	columns, errs := make([]*geoarrow.Columns, len(batches)), make([]error, len(batches))
	var running sync.WaitGroup
	for k, i := range batches {
		running.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					errs[k] = p.loader.Panicked(p.job, r)
				}
			}()
			columns[k], errs[k] = readers.Again(ctx, p.parser, p.src, p.loader.Limits, &p.shape, i, p.spans[i])
		})
	}
	running.Wait()
	parsed := map[int]*geoarrow.Columns{}
	for k, i := range batches {
		if errs[k] == nil {
			parsed[i] = columns[k]
		}
	}
	return parsed, errs[0]
}

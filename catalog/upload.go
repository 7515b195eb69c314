package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// DefaultMaxSent is how many files that clients send are parsed at the same time where nobody says.
const DefaultMaxSent = 4

// Upload says what a file is that a client sends to have it parsed. No entry of the catalog comes
// of it, and nothing of the file or of its table stays: what does not fit the memory lies in a
// temporary file of the cache as long as somebody holds the table.
type Upload struct {
	Format  string
	Options map[string]any // of the format, as in a Request
	Layer   string         // "": the first one
}

// UnknownFormatError says that there is no format of a name.
type UnknownFormatError struct {
	Name  string
	Known []string
}

func (e *UnknownFormatError) Error() string {
	return fmt.Sprintf("no format %q; known are %q", e.Name, e.Known)
}

// FormatOf gives the name of the format that a file's name promises, or "".
func (c *Catalog) FormatOf(name string) string {
	f, _ := c.cfg.Formats.ByExtension(name)
	return f.Name
}

// sent checks what a client says of a file.
func (c *Catalog) sent(how Upload, src *source.File) (job, error) {
	f, ok := c.cfg.Formats.ByName(how.Format)
	if !ok {
		none := &UnknownFormatError{Name: how.Format}
		for _, f := range c.cfg.Formats {
			none.Known = append(none.Known, f.Name)
		}
		return job{}, none
	}
	e := Entry{Name: "sent", Format: f.Name, Layer: how.Layer}
	if src != nil {
		e.Name, e.Size = src.Name, src.Size
		if packing, _ := source.PackingOf(src.Name); f.Binary && (packing == source.Gzip || packing == source.Zstd) {
			return job{}, &readers.ParseError{
				Name: src.Name, Format: f.Name, Row: -1,
				Err: fmt.Errorf("a file of this format is not read from %s: send it as it is", packing),
			}
		}
	}
	if packing, _ := source.PackingOf(e.Name); how.Layer != "" && !f.Layered && src != nil && packing != source.Zip {
		return job{}, &readers.NoLayerError{Name: e.Name, Layer: how.Layer}
	}
	return c.job(e, how.Options)
}

// Admit waits until a file that a client sends may be taken in: so many are at a time. The caller
// calls leave when it is done with the file and its table.
func (c *Catalog) Admit(ctx context.Context) (leave func(), err error) {
	select {
	case c.sending <- struct{}{}:
		return func() { <-c.sending }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.ctx.Done():
		return nil, ErrClosed
	}
}

// CheckSent gives the error of what a client says, before a byte of the file is there.
func (c *Catalog) CheckSent(how Upload) error {
	_, err := c.sent(how, nil)
	return err
}

// Parse gives the table of a file that a client has sent, or still sends: then it is parsed by the
// CPU engine while it comes. columns are those that will be asked for, nil being all. The caller
// releases the table, and closes src after that.
//
// Errors: those of Table, *UnknownFormatError, *readers.NoLayerError.
func (c *Catalog) Parse(ctx context.Context, src *source.File, how Upload, columns []string) (*TableRef, error) {
	j, err := c.sent(how, src)
	if err != nil {
		return nil, err
	}
	j = j.ofColumns(readers.Project(columns))
	var l *tableData
	err = c.parseSent(ctx, j, src, func(ctx context.Context, layout readers.Layout, content *source.File) (err error) {
		l, err = c.readSent(ctx, j, layout, content)
		return err
	})
	if err != nil {
		return nil, err
	}
	p := &cacheEntry{key: j.key, columns: j.columns, tableData: l, pins: 1} // nobody else finds it
	return &TableRef{Entry: j.entry, Version: j.version, Table: l.table, job: j, tables: c.tables, parsed: p}, nil
}

// Stream gives the rows of a file that a client sends while it comes: they are said to be of a
// shape that is known. each gets them as sel selects, in records of the schema of StreamSchema,
// which it releases. The answer is the table without its rows.
//
// Errors: those of Parse, *readers.ShapeError, those of each.
func (c *Catalog) Stream(ctx context.Context, src *source.File, how Upload, shape *readers.Shape,
	sel Selection, each func(arrow.Record) error,
) (t *readers.Table, err error) {
	j, err := c.sent(how, src)
	if err != nil {
		return nil, err
	}
	if err := c.cfg.Limits.CheckColumns("shape", len(shape.IDs)); err != nil {
		return nil, err
	}
	left := int64(math.MaxInt64)
	if sel.Limit != nil {
		left = *sel.Limit
	}
	err = c.parseSent(ctx, j, src, func(ctx context.Context, layout readers.Layout, content *source.File) (err error) {
		t, err = readers.Stream(ctx, j.format, c.parserOf(j.format, layout, content), content, c.cfg.Limits,
			shape, func(b *geoarrow.Columns) error {
				sel.Limit = &left
				n, err := scanBatch(ctx, b, shape.CRS, sel, each)
				left -= n
				return err
			})
		return err
	})
	return t, err
}

// StreamSchema is the schema of the records that Stream gives.
func StreamSchema(shape *readers.Shape, sel Selection) (*arrow.Schema, error) {
	scan, err := NewScan(shape.Table(), sel)
	if err != nil {
		return nil, err
	}
	return scan.Schema(), nil
}

// scanBatch gives the rows of one batch that are selected, and their number.
func scanBatch(ctx context.Context, b *geoarrow.Columns, crs geoarrow.CRS, sel Selection,
	each func(arrow.Record) error,
) (rows int64, err error) {
	if b.Rows == 0 {
		return 0, nil
	}
	everywhere := [4]float64{math.Inf(-1), math.Inf(-1), math.Inf(1), math.Inf(1)}
	t := &readers.Table{
		Batches: []*geoarrow.Columns{b}, Starts: []int64{0, int64(b.Rows)}, Rows: int64(b.Rows),
		CRS: crs, BBox: &everywhere,
	}
	scan, err := NewScan(t, sel)
	if err != nil {
		return 0, err
	}
	rec, err := scan.Next(ctx)
	if errors.Is(err, io.EOF) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	rows = rec.NumRows()
	return rows, each(rec)
}

// parseSent runs a parse of a file that a client sends.
func (c *Catalog) parseSent(ctx context.Context, j job, src *source.File, read func(context.Context,
	readers.Layout, *source.File) error,
) (err error) {
	if err := c.enterSent(); err != nil {
		return err
	}
	defer c.tables.wg.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.ctx, func() {
		cancel(ErrClosed)
		if up := src.Uploaded(); up != nil {
			up.Fail(ErrClosed)
		}
	})()
	defer func() {
		if r := recover(); r != nil {
			c.cfg.Log.Error().Str("name", j.entry.Name).Interface("panic", r).Stack().Msg("panic while parsing")
			err = fmt.Errorf("%s: %s: internal error: %v", j.entry.Name, j.entry.Format, r)
		}
		switch up := src.Uploaded(); {
		case err == nil:
		case up != nil && up.Err() != nil: // what the parser makes of missing bytes is not what is wrong
			err = up.Err()
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		}
	}()
	defer c.parsing()()
	content, err := c.cfg.Formats.UnpackLayer(ctx, j.format, src, j.entry.Layer, c.unpacking())
	if err != nil {
		return err
	}
	if content != src {
		defer content.Close()
	}
	layout, err := j.format.Open(ctx, content, j.options)
	if err != nil {
		return err
	}
	layout.Layer, layout.Columns = readers.LayerIn(content, j.entry.Layer), j.columns
	return read(ctx, layout, content)
}

// enterSent counts a parse that Close waits for.
func (c *Catalog) enterSent() error {
	c.tables.mu.Lock()
	defer c.tables.mu.Unlock()
	if c.tables.closed {
		return ErrClosed
	}
	c.tables.wg.Add(1)
	return nil
}

// readSent reads the whole file.
func (c *Catalog) readSent(ctx context.Context, j job, layout readers.Layout,
	content *source.File,
) (*tableData, error) {
	s := c.spool(j, content)
	defer s.close()
	s.share(c.cfg.MaxSent)
	t, err := c.read(ctx, j.format, c.parserOf(j.format, layout, content), content, c.cfg.Limits, s)
	if err != nil {
		return nil, err
	}
	if err := t.Measure(ctx); err != nil {
		return nil, err
	}
	return s.finish(ctx, t)
}

// parserOf is parser for a file that may not be whole yet: cards wait for no client.
func (c *Catalog) parserOf(f readers.Format, layout readers.Layout, content *source.File) readers.Parser {
	if up := content.Uploaded(); up != nil && !up.Whole() {
		return f.CPU(layout)
	}
	return c.parser(f, layout, content.Size)
}

// Temporary says where files lie that clients send, and how large one may be.
func (c *Catalog) Temporary(most int64) source.Unpacking {
	u := c.unpacking()
	u.MaxBytes = most
	return u
}

// OpenShape is the shape of a table that is held, for Stream of other files. ok is false for one of
// which only some columns were read.
func (c *Catalog) OpenShape(h *TableRef) (shape readers.Shape, ok bool) {
	unread := func(f geoarrow.Facts) bool { return f.Kinds&geoarrow.FactUnread != 0 }
	if h.parsed == nil || !h.parsed.columns.All() || slices.ContainsFunc(h.Table.Facts, unread) {
		return readers.Shape{}, false
	}
	return h.Table.Shape(c.cfg.Limits).Open(), true
}

package inbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Upload describes a file that a client sends to have it parsed. It does not become an entry, and
// nothing of it is kept: a table that does not fit the memory is in a temporary file of the cache
// as long as it is used.
type Upload struct {
	Format  string
	Options map[string]any // of the format
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

// job checks the description of a file. src is nil if no byte of it is there yet.
func (c *Inbox) job(how Upload, src *source.File) (job.Job, error) {
	f, ok := c.cfg.Formats.ByName(how.Format)
	if !ok {
		unknown := &UnknownFormatError{Name: how.Format}
		for _, f := range c.cfg.Formats {
			unknown.Known = append(unknown.Known, f.Name)
		}
		return job.Job{}, unknown
	}
	e := tree.Entry{Name: "sent", Format: f.Name, Layer: how.Layer}
	if src != nil {
		e.Name, e.Size = src.Name, src.Size
		if packing, _ := source.PackingOf(src.Name); f.Binary && (packing == source.Gzip || packing == source.Zstd) {
			return job.Job{}, &readers.ParseError{
				Name: src.Name, Format: f.Name, Row: -1,
				Err: fmt.Errorf("a file of this format is not read from %s: send it as it is", packing),
			}
		}
	}
	if packing, _ := source.PackingOf(e.Name); how.Layer != "" && !f.Layered && src != nil && packing != source.Zip {
		return job.Job{}, &readers.NoLayerError{Name: e.Name, Layer: how.Layer}
	}
	return job.New(c.cfg.Formats, c.cfg.Options, e, how.Options)
}

// Admit waits until a file may be sent: their number is limited. The caller calls leave when it is
// done with the file and its table.
func (c *Inbox) Admit(ctx context.Context) (leave func(), err error) {
	select {
	case c.sending <- struct{}{}:
		return func() { <-c.sending }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.ctx.Done():
		return nil, tree.ErrClosed
	}
}

// Check returns the error of a description, before a byte of the file is there.
func (c *Inbox) Check(how Upload) error {
	_, err := c.job(how, nil)
	return err
}

// Parse returns the table of a file that a client has sent, or is sending: then the CPU engine
// parses it while it arrives. columns are those that will be selected; nil: all. The caller
// releases the table, and closes src after that.
//
// Errors: those of Catalog.Table, *UnknownFormatError, *readers.NoLayerError.
func (c *Inbox) Parse(ctx context.Context, src *source.File, how Upload, columns []string) (*tables.Ref, error) {
	j, err := c.job(how, src)
	if err != nil {
		return nil, err
	}
	j = j.OfColumns(readers.Project(columns))
	var l *persist.Data
	read := func(ctx context.Context, layout readers.Layout, content *source.File) (err error) {
		l, err = c.cfg.Loader.ReadSent(ctx, j, layout, content, c.cfg.MaxSent)
		return err
	}
	if err := c.cfg.Loader.Sent(ctx, j, src, read); err != nil {
		return nil, err
	}
	return c.cfg.Cache.Uncached(j, l), nil
}

// Stream passes on the rows of a file while a client sends it. The file must have the given shape.
// each is called with the selected rows, in records of the schema of StreamSchema, which it
// releases. The result is the table without its rows.
//
// Errors: those of Parse, *readers.ShapeError, those of each.
func (c *Inbox) Stream(ctx context.Context, src *source.File, how Upload, shape *readers.Shape,
	sel scan.Selection, each func(arrow.Record) error,
) (t *readers.Table, err error) {
	j, err := c.job(how, src)
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
	read := func(ctx context.Context, layout readers.Layout, content *source.File) (err error) {
		emit := func(b *geoarrow.Columns) error {
			sel.Limit = &left
			n, err := scanBatch(ctx, b, shape.CRS, sel, each)
			left -= n
			return err
		}
		p := c.cfg.Loader.ParserOf(j.Format, layout, content)
		t, err = readers.Stream(ctx, j.Format, p, content, c.cfg.Limits, shape, emit)
		return err
	}
	err = c.cfg.Loader.Sent(ctx, j, src, read)
	return t, err
}

// StreamSchema returns the schema of the records that Stream gives.
func StreamSchema(shape *readers.Shape, sel scan.Selection) (*arrow.Schema, error) {
	s, err := scan.New(shape.Table(), sel)
	if err != nil {
		return nil, err
	}
	return s.Schema(), nil
}

// scanBatch calls each with the selected rows of one batch, and returns their number.
func scanBatch(ctx context.Context, b *geoarrow.Columns, crs geoarrow.CRS, sel scan.Selection,
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
	s, err := scan.New(t, sel)
	if err != nil {
		return 0, err
	}
	rec, err := s.Next(ctx)
	if errors.Is(err, io.EOF) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	rows = rec.NumRows()
	return rows, each(rec)
}

// Temporary returns where the files that clients send are written, and how large one may be.
func (c *Inbox) Temporary(maxBytes int64) source.UnpackOptions {
	u := c.cfg.Loader.Unpacking()
	u.MaxBytes = maxBytes
	return u
}

package rows

import (
	"context"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/flightsrv/internal/excerpt"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
)

// Source gives records of one schema, which the caller releases, and io.EOF after the last one.
type Source interface {
	Schema() *arrow.Schema
	Next(ctx context.Context) (arrow.Record, error)
}

// Table is what is known of the rows.
type Table struct {
	Name          string   // of the entry; empty for a query
	GeometryTypes []string // of all geometries, as readers.Table has them; nil: unknown
	Limit         *int64   // of rows that are sent; nil: none
}

// Send answers a request with rows in a format without a content coding.
func Send(ctx context.Context, w *httpcall.Writer, c httpcall.Call, f Format, from Source,
	by ticket.Compression,
) error {
	choice := Choice{Format: f, Compression: by, Coding: httpcall.Identity}
	return choice.Send(ctx, w.Body(choice.Coding), w, c, from, Table{})
}

// Send answers a request with rows. An error after the first byte ends the connection, so that the
// client notices that rows are missing. The body has the coding of the choice.
func (c Choice) Send(ctx context.Context, body *httpcall.Body, w *httpcall.Writer, call httpcall.Call, from Source,
	t Table,
) error {
	c.SetHeader(w, t.Name)
	body.SetHeader()
	to := &sink{Body: body}
	out, err := c.Format.open(to, from.Schema(), options{c.Compression, t.Name, t.GeometryTypes})
	if err != nil {
		return c.errorOf(to, err)
	}
	if err := c.copy(ctx, out, to, call, from, t.Limit); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return c.errorOf(to, err)
	}
	return body.Close()
}

// copy writes all rows, and flushes them batch by batch.
func (c Choice) copy(ctx context.Context, out writer, to *sink, call httpcall.Call, from Source,
	limit *int64,
) error {
	left := int64(math.MaxInt64)
	if limit != nil {
		left = *limit
	}
	for left > 0 {
		rec, err := from.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		rec, left = first(rec, left)
		if err = call.AddRows(rec.NumRows()); err == nil {
			err = c.errorOf(to, write(out, rec))
		}
		rec.Release()
		if err == nil {
			err = to.Flush()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// write writes a record, and what the writer keeps back.
func write(out writer, rec arrow.Record) error {
	err := out.Write(rec)
	if f, ok := out.(flusher); ok && err == nil {
		err = f.Flush()
	}
	return err
}

// first returns the first rows of a record, at most n, and how many of n are left. It takes the
// record.
func first(rec arrow.Record, n int64) (_ arrow.Record, left int64) {
	if rec.NumRows() <= n {
		return rec, n - rec.NumRows()
	}
	defer rec.Release()
	return rec.NewSlice(0, n), 0
}

// sink keeps the error of a body.
type sink struct {
	*httpcall.Body
	err error
}

func (s *sink) Write(p []byte) (n int, err error) {
	if n, err = s.Body.Write(p); err != nil {
		s.err = err
	}
	return n, err
}

// maxError bounds the text of an error.
const maxError = 2000

// errorOf returns the error of a writer: that of the body, or that a format can't hold a value or a
// column.
func (c Choice) errorOf(out *sink, err error) error {
	switch {
	case err == nil:
		return nil
	case out.err != nil:
		return out.err
	}
	return &httpcall.Error{
		Status: http.StatusUnprocessableEntity, Code: "INVALID_ARGUMENT",
		Detail: excerpt.Clip(c.Format.Name+": "+err.Error(), maxError), Err: err,
	}
}

// SetHeader sets the headers that tell of the format. name is that of the entry.
func (c Choice) SetHeader(w *httpcall.Writer, name string) {
	h := w.Header()
	h.Set("Content-Type", c.Format.contentType(c.Compression))
	h.Add("Vary", "Accept")
	if c.Download || c.Format.Name != "arrow" {
		disposition := "inline"
		if c.Download {
			disposition = "attachment"
		}
		file := mime.FormatMediaType(disposition, map[string]string{"filename": c.fileName(name)})
		h.Set("Content-Disposition", file)
	}
}

// fileName returns the name of a file with the rows of an entry.
func (c Choice) fileName(name string) string {
	base := path.Base(name)
	base = strings.ReplaceAll(strings.TrimSuffix(base, path.Ext(base)), "#", "-")
	if base == "" || base == "." || base == "/" {
		base = "rows"
	}
	return base + c.Format.Extension
}

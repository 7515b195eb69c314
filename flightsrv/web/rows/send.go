package rows

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
)

// Source gives records of one schema, which the caller releases, and io.EOF after the last one.
type Source interface {
	Schema() *arrow.Schema
	Next(ctx context.Context) (arrow.Record, error)
}

// Send answers a request with rows. An error after the first byte ends the connection, so that the
// client notices that rows are missing.
func Send(ctx context.Context, w *httpcall.Writer, c httpcall.Call, f Format, from Source,
	by ticket.Compression,
) error {
	w.Header().Set("Content-Type", f.MediaType)
	out, err := f.open(w, from.Schema(), by)
	if err != nil {
		return httpcall.BadRequest(err.Error())
	}
	for {
		rec, err := from.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out.Close()
		}
		if err != nil {
			return err
		}
		err = c.AddRows(rec.NumRows())
		if err == nil {
			err = out.Write(rec)
		}
		rec.Release()
		if err != nil {
			return err
		}
	}
}

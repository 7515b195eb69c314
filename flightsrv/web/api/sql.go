package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/flightsrv/web/rows"
)

// statement is the body of POST /v1/sql.
type statement struct {
	Query string `json:"query"`
}

// sql answers with the rows of a query.
func (a *handlers) sql(ctx context.Context, w *httpcall.Writer, r *http.Request, c httpcall.Call) error {
	if a.SQL == nil {
		return &httpcall.Error{
			Status: http.StatusNotImplemented, Code: "UNIMPLEMENTED",
			Detail: "this server has no SQL: it was started with --no-sql, or built without cgo",
		}
	}
	body, err := readBody(r)
	if err != nil {
		return err
	}
	var s statement
	if err := json.Unmarshal(body, &s); err != nil {
		return httpcall.BadRequest("the body is not a JSON object with the member query: " + err.Error())
	}
	ctx, clock, end, err := c.BeginQuery(ctx, s.Query)
	if err != nil {
		return err
	}
	defer end()
	prepared, err := a.SQL.Prepare(ctx, s.Query, "")
	if err != nil {
		return err
	}
	defer prepared.Close()
	result, err := prepared.Query(ctx, nil, 0)
	if err != nil {
		return err
	}
	defer result.Close()
	c.Opened()
	return rows.Send(ctx, w, c, rows.Formats[0], clockedRows{result, clock}, ticket.NoCompression)
}

// clockedRows counts the time in which a query computes rows.
type clockedRows struct {
	sql.Rows
	clock httpcall.Clock
}

func (t clockedRows) Next(ctx context.Context) (arrow.Record, error) {
	t.clock.Start()
	defer t.clock.Pause()
	return t.Rows.Next(ctx)
}

package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/flightsrv/web/rows"
)

// statement is the body of POST /v1/sql, with the fields of rows.Request.
type statement struct {
	Query      string
	Schema     string          // in which names are looked up first; "": the root
	Parameters json.RawMessage // an array, or an object by names; nil: none
	Limit      *int64          // of rows; nil: none
}

// sql answers with the rows of a query.
func (a *handlers) sql(ctx context.Context, w *httpcall.Writer, r *http.Request, c httpcall.Call) error {
	if a.SQL == nil {
		return &httpcall.Error{
			Status: http.StatusNotImplemented, Code: "UNIMPLEMENTED",
			Detail: "this server has no SQL: it was started with --no-sql, or built without cgo",
		}
	}
	s, asked, err := statementOf(r)
	if err != nil {
		return err
	}
	choice, err := rows.Choose(r, asked)
	if err != nil {
		return err
	}
	ctx, clock, end, err := c.BeginQuery(ctx, s.Query)
	if err != nil {
		return err
	}
	defer end()
	prepared, err := a.SQL.Prepare(ctx, s.Query, s.Schema)
	if err != nil {
		return err
	}
	defer prepared.Close()
	args, err := arguments(s.Parameters, prepared.Parameters())
	if err != nil {
		return err
	}
	if args != nil {
		defer args.Release()
	}
	result, err := prepared.Query(ctx, args, 0)
	if err != nil {
		return err
	}
	defer result.Close()
	c.Opened()
	w.Header().Set("Cache-Control", "no-store")
	body := w.Body(choice.Coding)
	defer body.Release()
	return choice.Send(ctx, body, w, c, clockedRows{result, clock}, rows.Table{Limit: s.Limit})
}

// statementOf reads the query of a request, and the format of the answer, which may also be given by
// parameters of the URL.
func statementOf(r *http.Request) (s statement, asked rows.Request, err error) {
	fields, err := readObject(r)
	if err != nil {
		return s, asked, err
	}
	query, err := parametersOf(r)
	if err != nil {
		return s, asked, err
	}
	for _, key := range []string{"format", "compression", "download"} {
		if value, ok := query[key]; ok {
			fields[key] = quote(value)
			delete(query, key)
		}
	}
	for key := range query {
		return s, asked, unknownField("parameter", key, "format, compression, download")
	}
	if asked, err = askedOf(fields); err != nil {
		return s, asked, err
	}
	for key, value := range fields {
		switch key {
		case "query":
			err = readField(value, &s.Query)
		case "schema":
			err = readField(value, &s.Schema)
		case "limit":
			s.Limit = new(int64)
			err = readField(value, s.Limit)
		case "parameters":
			s.Parameters = value
		default:
			return s, asked, unknownField("field", key,
				"query, schema, parameters, limit, format, compression, download")
		}
		if err != nil {
			return s, asked, httpcall.BadRequest(key + ": " + err.Error())
		}
	}
	switch {
	case s.Query == "":
		err = httpcall.BadRequest("query: is missing")
	case s.Limit != nil && *s.Limit < 0:
		err = httpcall.BadRequest("limit: is negative")
	}
	return s, asked, err
}

// readField reads a field of JSON that is not null.
func readField(v json.RawMessage, to any) error {
	if string(v) == "null" {
		return errors.New("is null")
	}
	var wrong *json.UnmarshalTypeError
	err := json.Unmarshal(v, to)
	if errors.As(err, &wrong) {
		return errors.New("want a value of type " + wrong.Type.String() + ", have " + wrong.Value)
	}
	return err
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

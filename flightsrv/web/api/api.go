// Package api answers the paths below /v1: the tables of the catalog and their rows, SQL, and the
// actions of the server.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Config is what is served.
type Config struct {
	Calls   httpcall.Server
	Catalog *catalog.Catalog
	SQL     sql.Engine   // nil: no SQL
	CRS84As geoarrow.CRS // name of the CRS of tables in OGC:CRS84, unless a request sets it
}

// Register adds the paths to a mux.
func Register(mux *http.ServeMux, cfg Config) {
	a := &handlers{cfg}
	mux.Handle("GET /v1/tables", httpcall.Handler(cfg.Calls, httpcall.Named("tables"), a.list))
	mux.Handle("GET /v1/tables/{name...}", httpcall.Handler(cfg.Calls, ofTable, a.table))
	mux.Handle("POST /v1/tables/{name...}", httpcall.Handler(cfg.Calls, ofTable, a.table))
	mux.Handle("POST /v1/sql", httpcall.Handler(cfg.Calls, httpcall.Named("sql"), a.sql))
	mux.Handle("POST /v1/actions/{action}", httpcall.Handler(cfg.Calls, httpcall.Named("action"), a.action))
	mux.HandleFunc("POST /v1/session", a.logIn)
	mux.HandleFunc("DELETE /v1/session", a.logOut)
}

type handlers struct{ Config }

// ofTable describes a request for the rows of an entry.
func ofTable(r *http.Request) (httpcall.Request, error) {
	return httpcall.Request{Method: "table", Name: r.PathValue("name")}, nil
}

// readBody returns the body of a request, which has JSON.
func readBody(r *http.Request) ([]byte, error) {
	b, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, ticket.MaxBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, &httpcall.Error{
			Status: http.StatusRequestEntityTooLarge, Code: "INVALID_ARGUMENT",
			Detail: fmt.Sprintf("the body has more than %d bytes", ticket.MaxBytes),
		}
	case err != nil:
		return nil, httpcall.BadRequest("the body of the request can't be read")
	}
	return b, nil
}

// writeJSON answers a request with JSON.
func writeJSON(w http.ResponseWriter, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	_, err = w.Write(append(b, '\n'))
	return err
}

// action runs an action of the server, whose body and answer are those of DoAction.
func (a *handlers) action(ctx context.Context, w *httpcall.Writer, r *http.Request, c httpcall.Call) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	answer, err := c.Action(ctx, r.PathValue("action"), body)
	if err != nil {
		return err
	}
	return writeJSON(w, answer)
}

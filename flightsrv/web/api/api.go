// Package api answers the paths below /v1: the tables of the catalog and their rows, SQL, and the
// actions of the server. It describes them by OpenAPI.
package api

import (
	"context"
	"net/http"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
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
	for _, r := range a.routes() {
		mux.Handle(r.pattern(), r.handler(cfg.Calls))
	}
}

type handlers struct{ Config }

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

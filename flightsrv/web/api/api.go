// Package api answers the paths below /v1: the tables of the catalog and their rows, SQL, and the
// actions of the server. It describes them by OpenAPI.
package api

import (
	"context"
	"net/http"
	"strings"

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
	known := http.NewServeMux()
	for _, r := range a.routes() {
		mux.Handle(r.pattern(), r.handler(cfg.Calls))
		known.Handle(r.pattern(), http.NotFoundHandler())
	}
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		httpcall.WriteProblem(w,
			missing(known, w, r))
	})
}

// missing returns the error of a path, or of a method of a path, that is not known.
func missing(known *http.ServeMux, w http.ResponseWriter, r *http.Request) error {
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete} {
		if _, pattern := known.Handler(&http.Request{Method: method, Host: r.Host, URL: r.URL}); pattern != "" {
			methods = append(methods, method)
		}
	}
	if methods == nil {
		return &httpcall.Error{
			Status: http.StatusNotFound, Code: "NOT_FOUND",
			Detail: "there is no such path; /v1/openapi.json has the paths",
		}
	}
	allow := strings.Join(methods, ", ")
	w.Header().Set("Allow", allow)
	return &httpcall.Error{
		Status: http.StatusMethodNotAllowed, Code: "UNIMPLEMENTED", Detail: "this path has the methods " + allow,
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
	return a.writeAnswer(w, answer)
}

// Package ogc answers the paths below /ogc as OGC API - Features does: Part 1 (OGC 17-069r4), Part 2,
// reference systems (18-058r1), and Part 3, filters (19-079r2) in CQL2 (21-065r2).
//
// A collection is an entry of the catalog, and a feature is a row. Its id is the number of the row,
// which is valid for one version of the file.
package ogc

import (
	"context"
	"net/http"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
)

// Config is what is served.
type Config struct {
	Calls   httpcall.Server
	Catalog *catalog.Catalog
	SQL     sql.Engine // nil: filters are boxes only
}

// Register adds the paths to a mux.
func Register(mux *http.ServeMux, cfg Config) {
	h := &handlers{Config: cfg}
	h.evaluator, _ = cfg.SQL.(restrict.Evaluator)
	mux.Handle("GET /ogc", httpcall.Handler(cfg.Calls, describe, h.answer))
	mux.Handle("GET /ogc/", httpcall.Handler(cfg.Calls, describe, h.answer))
}

type handlers struct {
	Config
	evaluator restrict.Evaluator // nil: there is no SQL
}

// spatial reports whether SQL has the functions of DuckDB's spatial extension.
func (h *handlers) spatial() bool { return h.evaluator != nil && h.SQL.Info().Spatial }

// describe describes a request for logs.
func describe(r *http.Request) (httpcall.Request, error) {
	at, err := parsePath(r.URL.EscapedPath())
	if err != nil {
		return httpcall.Request{}, err
	}
	return httpcall.Request{Method: "ogc", Name: at.collection}, nil
}

// request is a request that is answered.
type request struct {
	*http.Request
	w    *httpcall.Writer
	call httpcall.Call
	path path
	parameters
	base string // URL of the landing page, without a slash at its end
	html bool   // the client prefers HTML
}

// answer answers a request.
func (h *handlers) answer(ctx context.Context, w *httpcall.Writer, r *http.Request, c httpcall.Call) error {
	at, err := parsePath(r.URL.EscapedPath())
	if err != nil {
		return err
	}
	q := &request{Request: r, w: w, call: c, path: at, base: httpcall.BaseURL(r) + "/ogc"}
	if q.parameters, err = parseParameters(r.URL.RawQuery); err != nil {
		return err
	}
	w.Header().Add("Vary", "Accept")
	httpcall.SetCacheControl(w, h.Calls)
	if q.html, err = q.prefersHTML(); err != nil {
		return err
	}
	if at.collection != "" {
		if q.path.collection, err = h.Catalog.Resolve(ctx, access.Read, at.collection); err != nil {
			return err
		}
	}
	switch at.resource {
	case landing:
		return h.landing(q)
	case conformance:
		return h.conformance(q)
	case api:
		return h.api(q)
	case collections:
		return h.collections(ctx, q)
	case collection:
		return h.collection(ctx, q)
	case queryables:
		return h.queryables(ctx, q)
	case items:
		return h.items(ctx, q)
	}
	return h.item(ctx, q)
}

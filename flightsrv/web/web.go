// Package web serves the catalog by HTTP: tables as Arrow streams and other formats, SQL, OGC API
// Features, vector tiles, and the console. Metrics and health have the same address.
package web

import (
	"net/http"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/web/api"
	"github.com/vibeflight/vibeflight/flightsrv/web/console"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/flightsrv/web/ogc"
	"github.com/vibeflight/vibeflight/flightsrv/web/tiles"
	"github.com/vibeflight/vibeflight/flightsrv/web/tileserver"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Config is what is served.
type Config struct {
	Calls   httpcall.Server // runs requests
	Catalog *catalog.Catalog
	SQL     sql.Engine // nil: no SQL
	Tiles   *tiles.Set // draws vector tiles
	// name of the CRS of tables in OGC:CRS84, unless a request sets it
	CRS84As geoarrow.CRS
	// answers /metrics, /healthz and /readyz
	Telemetry http.Handler
	// /metrics needs the privilege admin if there is a login
	ProtectMetrics bool
	// origins of pages that may read answers, as https://example.org, or * (--http-origin)
	Origins []string
	// names of the server in URLs; IP addresses and localhost are always accepted (--http-host)
	Hosts []string
}

// New returns the handler of all paths.
func New(cfg Config) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", cfg.Telemetry)
	if cfg.ProtectMetrics {
		mux.Handle("GET /metrics", cfg.metrics())
	}
	api.Register(mux, api.Config{Calls: cfg.Calls, Catalog: cfg.Catalog, SQL: cfg.SQL, CRS84As: cfg.CRS84As})
	tileserver.Register(mux, tileserver.Config{Calls: cfg.Calls, Catalog: cfg.Catalog, Tiles: cfg.Tiles})
	ogc.Register(mux, ogc.Config{Calls: cfg.Calls, Catalog: cfg.Catalog, SQL: cfg.SQL})
	console.Register(mux)
	return cfg.protect(mux)
}

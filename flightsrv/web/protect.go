package web

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
)

// protect adds what keeps pages of other sites away from the answers.
func (cfg *Config) protect(h http.Handler) http.Handler {
	origins := http.NewCrossOriginProtection()
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		httpcall.WriteProblem(w, &httpcall.Error{
			Status: http.StatusForbidden, Code: "PERMISSION_DENIED",
			Detail: "a page of another site has sent this request; --http-origin allows sites",
		})
	}))
	for _, o := range cfg.Origins {
		if o != "*" {
			_ = origins.AddTrustedOrigin(o) // the command line has checked it
		}
	}
	safe := origins.Handler(h)
	if slices.Contains(cfg.Origins, "*") { // browsers send no cookie to another site's page
		safe = h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("X-Frame-Options", "DENY")
		head.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		if !cfg.allows(r.Host) {
			httpcall.WriteProblem(w, &httpcall.Error{
				Status: http.StatusMisdirectedRequest, Code: "PERMISSION_DENIED",
				Detail: fmt.Sprintf("the host %.100q is not a name of this server: --http-host adds names", r.Host),
			})
			return
		}
		if cfg.share(w, r) {
			return
		}
		safe.ServeHTTP(w, r)
	})
}

// allows reports whether a name may be that of the server. Without a login, a page of another site
// could let its name point to a loopback address, and read what programs of this machine may read. A
// server with a login needs no such check: the page has no credential.
func (cfg *Config) allows(host string) bool {
	if cfg.Calls.HasLogin() {
		return true
	}
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	return name == "localhost" || net.ParseIP(name) != nil || slices.Contains(cfg.Hosts, name)
}

// share lets pages of the configured origins read the answers (Fetch Standard, "CORS protocol"). It
// returns true if it has answered the request.
func (cfg *Config) share(w http.ResponseWriter, r *http.Request) (answered bool) {
	head := w.Header()
	head.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if origin == "" || len(cfg.Origins) == 0 {
		return false
	}
	switch {
	case slices.Contains(cfg.Origins, origin):
		head.Set("Access-Control-Allow-Origin", origin)
	case slices.Contains(cfg.Origins, "*"):
		head.Set("Access-Control-Allow-Origin", "*")
	default:
		return false
	}
	head.Set("Access-Control-Expose-Headers",
		"ETag, Link, Content-Disposition, Content-Crs, OGC-NumberMatched, OGC-NumberReturned")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	head.Set("Access-Control-Allow-Methods", "GET, HEAD, POST")
	head.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-None-Match, Accept")
	head.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// metrics answers /metrics for callers with the privilege admin.
func (cfg *Config) metrics() http.Handler {
	return httpcall.Handler(cfg.Calls, httpcall.Named("metrics"), func(ctx context.Context, w *httpcall.Writer,
		r *http.Request, _ httpcall.Call,
	) error {
		if err := access.Check(cfg.Catalog.Scope(ctx), access.Admin, access.Server); err != nil {
			return err
		}
		cfg.Telemetry.ServeHTTP(w, r)
		return nil
	})
}

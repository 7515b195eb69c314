package server

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/web"
	"github.com/vibeflight/vibeflight/flightsrv/web/tiles"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// httpFlags say what is served by HTTP.
type httpFlags struct {
	address string   // empty: none
	origins []string // of pages that may read answers
	hosts   []string // names of the server
	// of the vector tiles that are kept
	tileCache units.Size
}

func (c *httpFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&c.address, "http", "", "`address`, as HOST:PORT, where tables are served by HTTP, with the console, "+
		"metrics and health; without a value "+web.DefaultAddress)
	f.Lookup("http").NoOptDefVal = web.DefaultAddress
	f.StringArrayVar(&c.origins, "http-origin", nil,
		"`origin` of web pages that may read answers, as https://example.org, or * for all; may repeat")
	f.StringArrayVar(&c.hosts, "http-host", nil,
		"`name` of this server in URLs, needed without a login if it is neither localhost nor an IP address; "+
			"may repeat")
	c.tileCache = tiles.DefaultCacheBytes
	f.Var(&c.tileCache, "tile-cache", "memory for vector tiles that are kept, as 64MiB")
}

func (c *httpFlags) check() error {
	if c.tileCache < 0 {
		return usage.Errorf("--tile-cache: %v is less than 0", c.tileCache)
	}
	for _, o := range c.origins {
		u, err := url.Parse(o)
		if o != "*" && (err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != o) {
			return usage.Errorf("--http-origin: %q is not an origin, as https://example.org", o)
		}
	}
	for i, name := range c.hosts {
		c.hosts[i] = strings.ToLower(name)
	}
	return nil
}

// listenHTTP starts the listener of --http, which answers for metrics and health from the start; nil
// without the flag.
func (c *Config) listenHTTP(watch *observers, log zerolog.Logger) (*web.Listener, error) {
	if c.HTTP.address == "" {
		return nil, nil //nolint:nilnil // no listener
	}
	tls, err := flightsrv.HTTPConfig(&flightsrv.Config{
		TLSCert: c.TLSCert, TLSKey: c.TLSKey, TLSClientCA: c.Login.clientCA, TLSClientRequired: c.Login.clientNeeded,
		Log: log,
	})
	if err != nil {
		return nil, err
	}
	l, err := web.Listen(c.HTTP.address, web.Protection{TLS: tls, Login: c.Login.isSet(), Insecure: c.Insecure},
		watch.HTTP(), log)
	if err != nil {
		return nil, fmt.Errorf("--http %s: %w", c.HTTP.address, err)
	}
	log.Info().Msg("HTTP at " + l.URL())
	return l, nil
}

// serveHTTP lets a listener answer for the tables of a server, until end is called.
func (c *Config) serveHTTP(l *web.Listener, server *flightsrv.Server, files *catalog.Catalog, queries sql.Engine,
	watch *observers,
) (end func()) {
	if l == nil {
		return func() {}
	}
	crs84, _ := geoarrow.ParseCRS(c.CRS84As) // Check accepted it
	cache := int64(c.HTTP.tileCache)
	if cache == 0 {
		cache = -1 // 0 is the default of tiles.Config
	}
	drawn := tiles.New(tiles.Config{CacheBytes: cache})
	l.Handle(web.New(web.Config{
		Calls: server.Calls(), Catalog: files, SQL: queries, Tiles: drawn, CRS84As: crs84, Telemetry: watch.HTTP(),
		ProtectMetrics: c.Login.isSet() && !l.Loopback(), Origins: c.HTTP.origins, Hosts: c.HTTP.hosts,
	}))
	return func() {
		l.Handle(watch.HTTP())
		drawn.Close()
	}
}

// closeHTTP ends a listener.
func closeHTTP(l *web.Listener) error {
	if l == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return l.Close(ctx)
}

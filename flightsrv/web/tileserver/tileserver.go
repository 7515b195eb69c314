// Package tileserver answers the paths below /tiles: vector tiles of the tables of a catalog, and what
// TileJSON says of them.
package tileserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/flightsrv/web/tiles"
)

// MediaType is the media type of vector tiles.
const MediaType = "application/vnd.mapbox-vector-tile"

// Config is what is served.
type Config struct {
	Calls   httpcall.Server
	Catalog *catalog.Catalog
	Tiles   *tiles.Set
}

// Register adds the paths to a mux:
//
//	/tiles/{name}             TileJSON
//	/tiles/{name}/{z}/{x}/{y} a tile; y may end with .mvt or .pbf
func Register(mux *http.ServeMux, cfg Config) {
	h := &handlers{cfg}
	mux.Handle("GET /tiles/{path...}", httpcall.Handler(cfg.Calls, describe, h.serve))
}

type handlers struct{ Config }

// describe describes a request for a tile or its TileJSON.
func describe(r *http.Request) (httpcall.Request, error) {
	if at, ok := parseAddress(r.PathValue("path")); ok {
		return httpcall.Request{Method: "tile", Name: at.name}, nil
	}
	return httpcall.Request{Method: "tilejson", Name: r.PathValue("path")}, nil
}

// address is the address of a tile.
type address struct {
	name    string // of the entry
	z, x, y uint32
}

// parseAddress reads NAME/Z/X/Y. Names of entries have slashes too.
func parseAddress(path string) (at address, ok bool) {
	for _, to := range []*uint32{&at.y, &at.x, &at.z} {
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return address{}, false
		}
		text := path[i+1:]
		if to == &at.y {
			text = strings.TrimSuffix(strings.TrimSuffix(text, ".mvt"), ".pbf")
		}
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || text[0] == '+' {
			return address{}, false
		}
		*to, path = uint32(n), path[:i]
	}
	at.name = path
	return at, path != ""
}

// serve answers with a tile or with TileJSON.
func (h *handlers) serve(ctx context.Context, w *httpcall.Writer, r *http.Request, c httpcall.Call) error {
	columns, err := columnsOf(r)
	if err != nil {
		return err
	}
	at, ok := parseAddress(r.PathValue("path"))
	if !ok {
		return h.tileJSON(ctx, w, r, c, columns)
	}
	ref, err := h.open(ctx, c, at.name, columns)
	if err != nil {
		return err
	}
	defer ref.Release()
	tile, err := h.Tiles.Tile(ctx, ref, at.z, at.x, at.y, columns)
	if err != nil {
		return problemOf(err)
	}
	c.Opened()
	head := w.Header()
	httpcall.SetCacheControl(w, h.Calls)
	if len(tile) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	codec, err := httpcall.ChooseCodec(r, true)
	if err != nil {
		return err
	}
	body := w.Body(codec)
	defer body.Release()
	body.SetHeader()
	sum := sha256.Sum256(tile)
	tag := fmt.Sprintf(`"%s-%s"`, hex.EncodeToString(sum[:12]), body.Coding())
	head.Set("ETag", tag)
	if httpcall.IsKnown(r, tag) {
		head.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	head.Set("Content-Type", MediaType)
	if _, err := body.Write(tile); err != nil {
		return err
	}
	return body.Close()
}

// columnsOf returns the attributes that a request selects. nil selects all of them, and an empty list
// selects no attribute.
func columnsOf(r *http.Request) ([]string, error) {
	q := r.URL.Query()
	for key, values := range q {
		if key != "columns" {
			return nil, httpcall.BadRequest(fmt.Sprintf("the parameter %.100q is unknown; columns is known", key))
		}
		if len(values) > 1 {
			return nil, httpcall.BadRequest("the parameter columns is given twice")
		}
	}
	switch {
	case !q.Has("columns"):
		return nil, nil
	case q.Get("columns") == "":
		return []string{}, nil
	}
	return httpcall.ListOf(q.Get("columns"))
}

// open returns the table of an entry, parsed if necessary.
func (h *handlers) open(ctx context.Context, c httpcall.Call, name string, columns []string) (
	*catalog.TableRef, error,
) {
	t := ticket.Ticket{Name: name, Columns: columns}
	c.Selects(t)
	name, err := h.Catalog.Resolve(ctx, access.Read, name)
	if err != nil {
		return nil, err
	}
	t.Name = name
	c.Selects(t)
	return tiles.Open(ctx, h.Catalog, catalog.Request{Name: name})
}

// problemOf returns an error with its status.
func problemOf(err error) error {
	var at *tiles.AddressError
	var crs *tiles.CRSError
	switch {
	case errors.As(err, &at):
		return &httpcall.Error{Status: http.StatusNotFound, Code: "NOT_FOUND", Detail: err.Error(), Err: err}
	case errors.As(err, &crs):
		return &httpcall.Error{
			Status: http.StatusUnprocessableEntity, Code: "FAILED_PRECONDITION", Detail: err.Error(), Err: err,
		}
	}
	return err
}

package tileserver

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/flightsrv/web/tiles"
)

// tileJSON is TileJSON 3.0.
type tileJSON struct {
	TileJSON     string      `json:"tilejson"`
	Name         string      `json:"name"`
	Tiles        []string    `json:"tiles"`
	Scheme       string      `json:"scheme"`
	Format       string      `json:"format"`
	MinZoom      uint32      `json:"minzoom"`
	MaxZoom      uint32      `json:"maxzoom"`
	Bounds       *[4]float64 `json:"bounds,omitempty"`
	VectorLayers []layer     `json:"vector_layers"`
}

// layer is a layer of the tiles.
type layer struct {
	ID            string            `json:"id"`
	Fields        map[string]string `json:"fields"`
	MinZoom       uint32            `json:"minzoom"`
	MaxZoom       uint32            `json:"maxzoom"`
	GeometryTypes []string          `json:"geometry_types"` // not of TileJSON; as GeoParquet has them
	Rows          int64             `json:"rows"`           // not of TileJSON
}

// tileJSON answers with what TileJSON says of a table. A browser is shown the map of the console.
func (h *handlers) tileJSON(ctx context.Context, w *httpcall.Writer, r *http.Request, c httpcall.Call,
	columns []string,
) error {
	name := r.PathValue("path")
	ref, err := h.open(ctx, c, name, columns)
	if err != nil {
		return err
	}
	defer ref.Release()
	info, err := tiles.InfoOf(ref, columns)
	if err != nil {
		return problemOf(err)
	}
	c.Opened()
	httpcall.SetCacheControl(w, h.Calls)
	w.Header().Add("Vary", "Accept")
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		w.Header().Set("Location", "/#/table/"+url.PathEscape(name)+"/map?tiles=1")
		w.WriteHeader(http.StatusSeeOther)
		return nil
	}
	at := httpcall.BaseURL(r) + "/tiles/" + httpcall.PathOf(name) + "/{z}/{x}/{y}"
	if q := r.URL.RawQuery; q != "" {
		at += "?" + q
	}
	fields := map[string]string{}
	for _, f := range info.Fields {
		fields[f.Name] = f.Type
	}
	b, err := json.Marshal(tileJSON{
		TileJSON: "3.0.0", Name: name, Tiles: []string{at}, Scheme: "xyz", Format: "pbf",
		MinZoom: info.MinZoom, MaxZoom: info.MaxZoom, Bounds: info.Bounds,
		VectorLayers: []layer{{info.Layer, fields, info.MinZoom, info.MaxZoom, info.GeometryTypes, info.Rows}},
	})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(append(b, '\n'))
	return err
}

package ogc

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Tables have x first: the longitude or the easting. A reference system that a client names by its
// URI has the order of axes of its authority, so that EPSG/0/4326 has the latitude first.

const crs84URI = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"

var (
	epsg4326 = geoarrow.CRS{Authority: "EPSG", Code: "4326"}
	epsg3857 = geoarrow.CRS{Authority: "EPSG", Code: "3857"}
)

// uriOf returns the URI of a registered system; "" for any other one, and for a compound one.
func uriOf(c geoarrow.CRS) string {
	switch {
	case c == geoarrow.CRS84:
		return crs84URI
	case c.Authority == "" || strings.Contains(c.Code, "+") || c.Dimensions() == 0:
		return ""
	}
	return "http://www.opengis.net/def/crs/" + c.Authority + "/0/" + c.Code
}

// isCRS84 reports whether the coordinates of a system are longitudes and latitudes of WGS 84. A file
// without a system is taken to have them.
func isCRS84(c geoarrow.CRS) bool {
	return c == geoarrow.CRS84 || c == epsg4326 || c == geoarrow.CRS{}
}

// storage returns the system that the coordinates of a table are in.
func (t *featureTable) storage() geoarrow.CRS {
	if isCRS84(t.CRS) {
		return geoarrow.CRS84
	}
	return t.CRS
}

// checkPlaces refuses coordinates without a system that can't be longitudes and latitudes.
func (t *featureTable) checkPlaces() error {
	b := t.BBox
	if t.CRS != (geoarrow.CRS{}) || b == nil || b[0] >= -360 && b[2] <= 360 && b[1] >= -90 && b[3] <= 90 {
		return nil
	}
	return &httpcall.Error{
		Status: http.StatusUnprocessableEntity, Code: "FAILED_PRECONDITION",
		Detail: "the file names no reference system, and its coordinates are not longitudes and latitudes; " +
			"/v1/tables has its rows",
	}
}

// systems returns the systems that the features of a table can be had in, the default one first.
func (h *handlers) systems(t *featureTable) []geoarrow.CRS {
	own := t.storage()
	var all []geoarrow.CRS
	for _, c := range []geoarrow.CRS{geoarrow.CRS84, epsg4326, own, epsg3857} {
		if uriOf(c) != "" && !slices.Contains(all, c) && (c == own || h.transforms(own, c)) {
			all = append(all, c)
		}
	}
	return all
}

// uris returns the URIs of systems.
func uris(all []geoarrow.CRS) []string {
	out := make([]string, 0, len(all))
	for _, c := range all {
		out = append(out, uriOf(c))
	}
	return out
}

// system returns the system that a parameter names: CRS84 without it.
func (h *handlers) system(q *request, t *featureTable, parameter string) (geoarrow.CRS, error) {
	all := h.systems(t)
	text, ok := q.parameters[parameter]
	if !ok {
		text = crs84URI
	}
	c, known := geoarrow.ParseCRS(strings.Trim(text, "[]"))
	switch {
	case known && slices.Contains(all, c):
		return c, nil
	case !ok || c == geoarrow.CRS84:
		return c, noTransformation(t)
	}
	return c, httpcall.BadRequest(fmt.Sprintf("%s=%.100s is not one of the reference systems of this collection: %s",
		parameter, text, strings.Join(uris(all), " ")))
}

// noTransformation is the error of a server without PROJ.
func noTransformation(t *featureTable) error {
	hint := ""
	if uri := uriOf(t.storage()); uri != "" {
		hint = fmt.Sprintf("; with crs=%s, bbox-crs and filter-crs, the features are served as they are", uri)
	}
	return &httpcall.Error{
		Status: http.StatusNotImplemented, Code: "UNIMPLEMENTED", Detail: "the collection is not in CRS84, and this " +
			"server can't transform it: DuckDB's spatial extension is missing (--duckdb-extensions)" + hint,
	}
}

package ogc

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// collectionDocument describes a collection.
type collectionDocument struct {
	ID          string   `json:"id"`
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Links       []link   `json:"links"`
	Extent      *extent  `json:"extent,omitempty"`
	ItemType    string   `json:"itemType"`
	CRS         []string `json:"crs,omitempty"`
	StorageCRS  string   `json:"storageCrs,omitempty"`
}

// extent is where features are.
type extent struct {
	Spatial struct {
		BBox [][4]float64 `json:"bbox"`
		CRS  string       `json:"crs"`
	} `json:"spatial"`
}

func extentOf(b [4]float64) *extent {
	e := &extent{}
	e.Spatial.BBox, e.Spatial.CRS = [][4]float64{b}, crs84URI
	return e
}

// collectionsDocument is the list of collections.
type collectionsDocument struct {
	Links       []link               `json:"links"`
	Collections []collectionDocument `json:"collections"`
	CRS         []string             `json:"crs"`
}

// Numbers of collections of a page.
const (
	defaultCollections = 1000
	maxCollections     = 10_000
)

// collections answers with the entries that the caller may describe, page by page. It parses no file:
// what only a parse can tell is missing.
func (h *handlers) collections(ctx context.Context, q *request) error {
	if err := q.only("limit", "token"); err != nil {
		return err
	}
	limit := defaultCollections
	if text, ok := q.parameters["limit"]; ok {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n < 1 {
			return httpcall.BadRequest(fmt.Sprintf("limit=%.40s: want a number from 1 to %d", text, maxCollections))
		}
		limit = int(min(n, maxCollections))
	}
	after, err := base64.RawURLEncoding.DecodeString(q.parameters["token"])
	if err != nil {
		return httpcall.BadRequest("the token is not one of a link to a next page")
	}
	d := collectionsDocument{Links: q.selfLinks(typeJSON), Collections: []collectionDocument{}}
	d.CRS = []string{crs84URI, uriOf(epsg4326)}
	out := page{Title: "Collections", Header: []string{"collection", "format", "features"}}
	for e := range h.Catalog.Entries(ctx, "", "") {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if e.Name <= string(after) {
			continue
		}
		if len(d.Collections) == limit {
			token := base64.RawURLEncoding.EncodeToString([]byte(d.Collections[limit-1].ID))
			media := typeJSON
			if q.html {
				media = typeHTML
			}
			d.Links = append(d.Links, link{q.with("token", token), "next", media, "Next page"})
			break
		}
		c := h.collectionOf(q, e.Name)
		features := ""
		table, scan, _, err := h.Catalog.Peek(ctx, e.Name, catalog.Selection{})
		if err == nil && scan != nil {
			t := &featureTable{Table: table, types: table.Batches[0]}
			c.CRS, c.StorageCRS = uris(h.systems(t)), t.storageURI()
			if box := metadata.Finite(t.BBox); box != nil && t.storage() == geoarrow.CRS84 {
				c.Extent = extentOf(*box)
			}
			features = strconv.FormatInt(t.Rows, 10)
		}
		d.Collections = append(d.Collections, c)
		out.Rows = append(out.Rows, pageRow{q.collectionURL(e.Name) + "?f=html", []string{e.Name, e.Format, features}})
	}
	out.Links = d.Links
	return q.send(typeJSON, d, out)
}

// collectionOf returns what the name of a collection tells.
func (h *handlers) collectionOf(q *request, id string) collectionDocument {
	u := q.collectionURL(id)
	links := []link{
		{u, "self", typeJSON, "The collection"},
		{u + "/items", "items", typeGeoJSON, "Features as GeoJSON"},
		{u + "/items?f=html", "items", typeHTML, "Features as HTML"},
		{u + "/queryables", "http://www.opengis.net/def/rel/ogc/1.0/queryables", typeSchema, "Queryable properties"},
		{u + "/queryables", "queryables", typeJSON, "Queryable properties"}, // of a draft, for GDAL
	}
	return collectionDocument{ID: id, Title: id, Links: links, ItemType: "feature"}
}

// storageURI returns the URI of the system that the features are stored in; "" if it has none.
func (t *featureTable) storageURI() string { return uriOf(t.storage()) }

// collection describes a collection. The first request parses its file.
func (h *handlers) collection(ctx context.Context, q *request) error {
	t, err := h.open(ctx, access.Describe, q.path.collection)
	if err != nil {
		return err
	}
	defer t.release()
	if err := q.only(); err != nil {
		return err
	}
	d := h.collectionOf(q, q.path.collection)
	d.Links = append(q.selfLinks(typeJSON), d.Links[1:]...)
	d.CRS, d.StorageCRS = uris(h.systems(t)), t.storageURI()
	if t.CRS == (geoarrow.CRS{}) && t.types.Geometry != nil {
		d.Description = "The file names no reference system. Its coordinates are served as longitude and latitude."
	}
	box, err := h.extent(ctx, t)
	if err != nil {
		return err
	}
	facts := [][2]string{{"Features", strconv.FormatInt(t.Rows, 10)}, {"Format", t.Format}}
	if box != nil {
		d.Extent = extentOf(*box)
		facts = append(facts, [2]string{"Extent (CRS84)", fmt.Sprint(*box)})
	}
	if d.StorageCRS != "" {
		facts = append(facts, [2]string{"Stored in", d.StorageCRS})
	}
	for i := range t.types.Attributes {
		c := &t.types.Attributes[i]
		facts = append(facts, [2]string{c.Name, c.Type.String()})
	}
	return q.send(typeJSON, d, page{Title: d.Title, Text: d.Description, Facts: facts, Links: d.Links})
}

// extent returns the box of a table in CRS84; nil if it is not known.
func (h *handlers) extent(ctx context.Context, t *featureTable) (*[4]float64, error) {
	box := metadata.Finite(t.BBox)
	if box == nil || t.storage() == geoarrow.CRS84 {
		return box, nil
	}
	if !h.transforms(t.storage(), geoarrow.CRS84) {
		return nil, nil //nolint:nilnil // no extent
	}
	s, err := h.transformShape(ctx, shapeOfBox(*box), t.storage(), geoarrow.CRS84)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, nil //nolint:nilnil // coordinates that PROJ can't transform have no extent
	}
	b, ok := s.Bounds()
	if !ok {
		return nil, nil //nolint:nilnil // as above
	}
	return metadata.Finite(&b), nil
}

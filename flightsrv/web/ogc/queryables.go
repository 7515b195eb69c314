package ogc

import (
	"context"
	"regexp"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/web/ogc/cql2"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// schemaDocument is a JSON Schema of the properties that filters can name.
type schemaDocument struct {
	Schema               string         `json:"$schema"`
	ID                   string         `json:"$id"`
	Type                 string         `json:"type"`
	Title                string         `json:"title"`
	Properties           map[string]any `json:"properties"`
	AdditionalProperties bool           `json:"additionalProperties"`
	// Names has the properties in the form of a draft of the standard, which GDAL reads.
	Names []queryableName `json:"queryables"`
}

type queryableName struct {
	ID string `json:"id"`
}

// plainName matches names that GDAL can write without quotes.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// queryables answers with the properties that filters can name.
func (h *handlers) queryables(ctx context.Context, q *request) error {
	t, err := h.open(ctx, access.Describe, q.path.collection)
	if err != nil {
		return err
	}
	defer t.release()
	if err := q.only(); err != nil {
		return err
	}
	d := schemaDocument{
		Schema: "https://json-schema.org/draft/2020-12/schema", ID: q.collectionURL(q.path.collection) + "/queryables",
		Type: "object", Title: q.path.collection, Properties: map[string]any{}, Names: []queryableName{},
	}
	out := page{Title: "Queryables of " + q.path.collection, Links: q.selfLinks(typeSchema)}
	for i := range t.types.Attributes {
		c := &t.types.Attributes[i]
		schema := schemaOf(c)
		if schema == nil {
			continue
		}
		schema["title"], schema["x-ogc-propertySeq"] = c.Name, i+1
		d.Properties[c.Name] = schema
		if plainName.MatchString(c.Name) && !cql2.Reserved(c.Name) {
			d.Names = append(d.Names, queryableName{c.Name})
		}
		out.Facts = append(out.Facts, [2]string{c.Name, typeOf(c).String()})
	}
	if t.types.Geometry != nil {
		d.Properties[geoarrow.GeometryName] = map[string]any{
			"title": "geometry", "format": "geometry-any", "x-ogc-role": "primary-geometry",
			"$ref": "https://geojson.org/schema/Geometry.json", // by which QGIS knows a geometry
		}
	}
	media := typeSchema
	if q.wantsPlainJSON() {
		media = typeJSON
	}
	return q.send(media, d, out)
}

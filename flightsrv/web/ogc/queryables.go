package ogc

import (
	"context"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/web/ogc/cql2"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

func shapeOfBox(b [4]float64) cql2.Shape { return cql2.Shape{Box: &b} }

// schemaDocument is a JSON Schema of the properties that filters can name.
type schemaDocument struct {
	Schema               string         `json:"$schema"`
	ID                   string         `json:"$id"`
	Type                 string         `json:"type"`
	Title                string         `json:"title"`
	Properties           map[string]any `json:"properties"`
	AdditionalProperties bool           `json:"additionalProperties"`
}

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
		Type: "object", Title: q.path.collection, Properties: map[string]any{},
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
		out.Facts = append(out.Facts, [2]string{c.Name, typeOf(c).String()})
	}
	if t.types.Geometry != nil {
		d.Properties[geoarrow.GeometryName] = map[string]any{
			"title": "geometry", "format": "geometry-any", "x-ogc-role": "primary-geometry",
		}
	}
	return q.send(typeSchema, d, out)
}

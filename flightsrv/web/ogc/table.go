package ogc

import (
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/web/ogc/cql2"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// featureTable is the table of a collection.
type featureTable struct {
	*readers.Table
	ref   *catalog.TableRef
	types *geoarrow.Columns // the columns; it may have rows
}

// open returns the table of a collection for a caller that needs a privilege. The caller releases it.
func (h *handlers) open(ctx context.Context, p access.Privilege, id string) (*featureTable, error) {
	ref, err := h.Catalog.TableFor(ctx, p, catalog.Request{Name: id})
	if err != nil {
		return nil, err
	}
	return &featureTable{Table: ref.Table, ref: ref, types: ref.Table.Batches[0]}, nil
}

// release ends the use of a table.
func (t *featureTable) release() { t.ref.Release() }

// attribute returns the number of an attribute; -1 if no attribute has the name.
func (t *featureTable) attribute(name string) int {
	return slices.IndexFunc(t.types.Attributes, func(c geoarrow.Column) bool { return c.Name == name })
}

// typeOf returns the type of a property in filters.
func (t *featureTable) typeOf(name string) (cql2.Type, bool) {
	if name == geoarrow.GeometryName && t.types.Geometry != nil {
		return cql2.GeometryType, true
	}
	i := t.attribute(name)
	if i < 0 {
		return cql2.OtherType, false
	}
	return typeOf(&t.types.Attributes[i]), true
}

func typeOf(c *geoarrow.Column) cql2.Type {
	switch t := c.Type.(type) {
	case *arrow.NullType:
		return cql2.NullType
	case *arrow.BooleanType:
		return cql2.BooleanType
	case *arrow.StringType:
		return cql2.StringType
	case *arrow.Date32Type:
		return cql2.DateType
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			return cql2.InstantType
		}
		return cql2.TimestampType
	case *arrow.Decimal128Type:
		return cql2.NumberType
	}
	if arrow.IsInteger(c.Type.ID()) || arrow.IsFloating(c.Type.ID()) {
		return cql2.NumberType
	}
	return cql2.OtherType
}

// temporal returns the name of the only column of dates or timestamps; "" if there are none or
// several.
func (t *featureTable) temporal() (name string) {
	for i := range t.types.Attributes {
		switch typeOf(&t.types.Attributes[i]) {
		case cql2.DateType, cql2.TimestampType, cql2.InstantType:
			if name != "" {
				return ""
			}
			name = t.types.Attributes[i].Name
		}
	}
	return name
}

// schemaOf returns the JSON Schema of a property; nil for one that filters can't compare.
func schemaOf(c *geoarrow.Column) map[string]any {
	switch typeOf(c) {
	case cql2.BooleanType:
		return map[string]any{"type": "boolean"}
	case cql2.StringType, cql2.NullType:
		return map[string]any{"type": "string"}
	case cql2.DateType:
		return map[string]any{"type": "string", "format": "date"}
	case cql2.TimestampType, cql2.InstantType:
		return map[string]any{"type": "string", "format": "date-time"}
	case cql2.NumberType:
		if arrow.IsInteger(c.Type.ID()) {
			return map[string]any{"type": "integer"}
		}
		return map[string]any{"type": "number"}
	}
	return nil
}

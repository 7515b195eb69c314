package tiles

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Info has what TileJSON 3.0 says of the tiles of a table.
type Info struct {
	// Bounds are west, south, east and north in degrees; nil: no row has a position.
	Bounds *[4]float64
	// MinZoom and MaxZoom are the zooms to request. Clients enlarge tiles of MaxZoom, whose units are
	// 15 cm at the equator. Tiles exist up to the constant MaxZoom.
	MinZoom, MaxZoom uint32
	Layer            string // name of the only layer
	Fields           []Field
	GeometryTypes    []string // as in readers.Table
	Rows             int64
}

// Field is an attribute of a layer.
type Field struct {
	Name string
	Type string // "Number", "Boolean" or "String", as the values in the tiles are
}

// DefaultMaxZoom is Info.MaxZoom.
const DefaultMaxZoom = 16

// InfoOf describes the tiles of a table with the named columns; nil: all. The error is a *CRSError
// or a *catalog.UnknownColumnError.
func InfoOf(ref *catalog.TableRef, columns []string) (Info, error) {
	t := ref.Table
	p, ok := projectionOf(t.CRS)
	if !ok {
		return Info{}, &CRSError{ref.Entry.Name, t.CRS}
	}
	chosen, err := attributes(t, columns)
	if err != nil {
		return Info{}, err
	}
	info := Info{
		MaxZoom: DefaultMaxZoom, Layer: LayerName(ref), Fields: []Field{}, GeometryTypes: t.GeometryTypes, Rows: t.Rows,
	}
	for _, c := range chosen {
		a := &t.Batches[0].Attributes[c]
		info.Fields = append(info.Fields, Field{a.Name, fieldType(a)})
	}
	if t.BBox != nil {
		west, south := p.lonLat(t.BBox[0], t.BBox[1])
		east, north := p.lonLat(t.BBox[2], t.BBox[3])
		info.Bounds = &[4]float64{
			min(max(west, -180), 180), min(max(south, -maxLatitude), maxLatitude),
			min(max(east, -180), 180), min(max(north, -maxLatitude), maxLatitude),
		}
	}
	return info, nil
}

// fieldType returns the type of the values that newValueEncoder makes of a column.
func fieldType(c *geoarrow.Column) string {
	switch c.Type.ID() {
	case arrow.BOOL:
		return "Boolean"
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
		arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
		return "Number"
	}
	return "String"
}

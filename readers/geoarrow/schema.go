package geoarrow

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// GeometryName is the name of the geometry column.
const GeometryName = "geometry"

// Field metadata keys of the Arrow columnar format, "Extension Types", and our own.
const (
	extensionName     = "ARROW:extension:name"
	extensionMetadata = "ARROW:extension:metadata"
	mixedKey          = "vibeflight.mixed"
)

// Schema returns the schema of a table whose rows have the columns of proto: attributes in their
// order, then geometry, all nullable. Only names, types, kind and dimension of proto are read.
func Schema(proto *Columns, crs CRS, enc Encoding) *arrow.Schema {
	fields := make([]arrow.Field, 0, len(proto.Attributes)+1)
	for i := range proto.Attributes {
		fields = append(fields, proto.Attributes[i].field(crs))
	}
	if proto.Geometry != nil {
		fields = append(fields, proto.Geometry.field(crs, enc))
	}
	return arrow.NewSchema(fields, nil)
}

func (c *Column) field(crs CRS) arrow.Field {
	f := arrow.Field{Name: c.Name, Type: c.Type, Nullable: true}
	switch {
	case c.Role == RoleShape && c.Type.ID() == arrow.BINARY:
		f.Metadata = arrow.NewMetadata([]string{extensionName, extensionMetadata},
			[]string{"geoarrow.wkb", crs.Metadata()})
	case c.JSON:
		f.Metadata = arrow.NewMetadata([]string{extensionName, extensionMetadata}, []string{"arrow.json", ""})
	case c.Mixed:
		f.Metadata = arrow.NewMetadata([]string{mixedKey}, []string{"true"})
	}
	return f
}

func (g *Geometry) field(crs CRS, enc Encoding) arrow.Field {
	return arrow.Field{
		Name: GeometryName, Type: g.storage(enc), Nullable: true,
		Metadata: arrow.NewMetadata([]string{extensionName, extensionMetadata}, []string{
			g.extension(enc),
			crs.Metadata(),
		}),
	}
}

// extension returns the name of the column's GeoArrow extension type.
func (g *Geometry) extension(enc Encoding) string {
	switch {
	case enc.Geometry == AsWKT:
		return "geoarrow.wkt"
	case enc.Geometry == AsWKB, g.Kind == NoKind:
		return "geoarrow.wkb"
	}
	return "geoarrow." + strings.ToLower(g.Kind.String())
}

// storage returns the type under the extension, GeoArrow 0.2 "Memory layouts". Only the outermost
// level may hold nulls.
func (g *Geometry) storage(enc Encoding) arrow.DataType {
	switch {
	case enc.Geometry == AsWKT:
		return arrow.BinaryTypes.String
	case enc.Geometry == AsWKB, g.Kind == NoKind:
		return arrow.BinaryTypes.Binary
	}
	t := coordType(g.Dim, enc.Coords)
	levels := levelNames[g.Kind]
	for i := len(levels) - 1; i >= 0; i-- {
		t = arrow.ListOfField(arrow.Field{Name: levels[i], Type: t})
	}
	return t
}

// levelNames has the names of the lists' children, from the outside in.
var levelNames = [...][]string{
	Point:           nil,
	LineString:      {"vertices"},
	Polygon:         {"rings", "vertices"},
	MultiPoint:      {"points"},
	MultiLineString: {"linestrings", "vertices"},
	MultiPolygon:    {"polygons", "rings", "vertices"},
}

// ordinateNames returns the names of the children of a separated coordinate. Together they are the
// name of an interleaved one's child.
func (d Dim) ordinateNames() string {
	return [...]string{XY: "xy", XYZ: "xyz", XYM: "xym", XYZM: "xyzm"}[d]
}

// coordTypes has the types of positions, by dimension and layout, since every batch needs them.
var coordTypes = func() (t [4][2]arrow.DataType) {
	for _, d := range []Dim{XY, XYZ, XYM, XYZM} {
		for _, layout := range []CoordLayout{Separated, Interleaved} {
			t[d][layout] = makeCoordType(d, layout)
		}
	}
	return t
}()

func coordType(d Dim, layout CoordLayout) arrow.DataType { return coordTypes[d][layout] }

func makeCoordType(d Dim, layout CoordLayout) arrow.DataType {
	names := d.ordinateNames()
	if layout == Interleaved {
		return arrow.FixedSizeListOfField(int32(len(names)), arrow.Field{
			Name: names,
			Type: arrow.PrimitiveTypes.Float64,
		})
	}
	fields := make([]arrow.Field, len(names))
	for i := range names {
		fields[i] = arrow.Field{Name: names[i : i+1], Type: arrow.PrimitiveTypes.Float64}
	}
	return arrow.StructOf(fields...)
}

// Encoding is how geometries are encoded for a client: a ticket's geometry_encoding and coords.
type Encoding struct {
	Geometry GeometryEncoding
	Coords   CoordLayout
}

// GeometryEncoding is a ticket's geometry_encoding.
type GeometryEncoding uint8

const (
	Native GeometryEncoding = iota // the column's GeoArrow kind, or WKB if it has none
	AsWKB                          // geoarrow.wkb
	AsWKT                          // geoarrow.wkt
)

// CoordLayout is a ticket's coords; it affects only Native.
type CoordLayout uint8

const (
	Separated   CoordLayout = iota // struct<x, y, …>
	Interleaved                    // fixed_size_list<xy…>[2..4]
)

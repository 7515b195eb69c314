package geoarrow

// Encoding says how geometries leave: contract of a ticket's geometry_encoding and coords.
type Encoding struct {
	Geometry GeometryEncoding
	Coords   CoordLayout
}

// GeometryEncoding is a ticket's geometry_encoding.
type GeometryEncoding uint8

const (
	Native GeometryEncoding = iota // the column's GeoArrow kind, or WKB where it has none
	AsWKB                          // geoarrow.wkb
	AsWKT                          // geoarrow.wkt
)

// CoordLayout is a ticket's coords; it matters to Native only.
type CoordLayout uint8

const (
	Separated   CoordLayout = iota // struct<x, y, …>
	Interleaved                    // fixed_size_list<xy…>[2..4]
)

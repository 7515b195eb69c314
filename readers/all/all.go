// Package all lists the formats that this build reads.
package all

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/arrowipc"
	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/dbf"
	"github.com/vibeflight/vibeflight/readers/esrijson"
	"github.com/vibeflight/vibeflight/readers/filegdb"
	"github.com/vibeflight/vibeflight/readers/flatgeobuf"
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/gml"
	"github.com/vibeflight/vibeflight/readers/gpkg"
	"github.com/vibeflight/vibeflight/readers/gpx"
	"github.com/vibeflight/vibeflight/readers/kml"
	"github.com/vibeflight/vibeflight/readers/osmpbf"
	"github.com/vibeflight/vibeflight/readers/parquet"
	"github.com/vibeflight/vibeflight/readers/shapefile"
	"github.com/vibeflight/vibeflight/readers/topojson"
	"github.com/vibeflight/vibeflight/readers/wkt"
	"github.com/vibeflight/vibeflight/readers/xlsx"
)

// Formats returns every format, in the order in which they are asked whether a file is theirs:
// those whose first bytes say most stand first.
func Formats() readers.Registry {
	return readers.Registry{
		arrowipc.Format(),
		parquet.Format(),
		esrijson.Format(),
		topojson.Format(),
		geojson.Format(),
		shapefile.Format(),
		dbf.Format(),
		flatgeobuf.Format(),
		gpkg.Format(),
		filegdb.Format(),
		xlsx.Format(),
		osmpbf.Format(),
		kml.Format(),
		gml.Format(),
		gpx.Format(),
		wkt.Format(),
		csv.Format(),
	}
}

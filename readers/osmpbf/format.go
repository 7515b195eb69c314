// Package osmpbf reads OpenStreetMap data in the PBF format
// (https://wiki.openstreetmap.org/wiki/PBF_Format, fileformat.proto and osmformat.proto of
// openstreetmap/OSM-binary).
//
//	file    { length of the BlobHeader (4, big-endian), BlobHeader, Blob }
//	blob    raw, or packed with zlib or Zstandard; the first one is an OSMHeader, the others OSMData
//	data    PrimitiveBlock: table of strings, groups of nodes, dense nodes, ways or relations
//
// Messages are protocol buffers. Nothing in them is trusted: each length is compared with the bytes
// left, each number of a string with the table.
//
// A file has the five layers of GDAL's OSM driver, each with the rows, order and geometries that
// GDAL gives for a file whose objects are in the usual order:
//
//	points             nodes with a significant tag
//	lines              ways with a tag that are not polygons
//	multilinestrings   relations of the types multilinestring and route
//	multipolygons      relations of the types multipolygon and boundary, then closed ways that are polygons
//	other_relations    the other relations
//
// A layer of ways needs the nodes, which are in a file, and are found by their ids: see nodeIndex.
// So a layer takes several passes over the file, each of which several workers share:
//
//	pass        reads                layers
//	points      nodes                points
//	scan        nodes, relations     the others: locations of nodes, and members of relations
//	store       ways                 those of relations: the ways that are members
//	relations   relations            those of relations
//	ways        ways                 lines, multipolygons
//
// docs/formats/osm.md has the whole list of what is read and refused, and what GDAL does.
package osmpbf

import (
	"bytes"
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

const (
	formatName = "osm"
	unit       = "feature"
)

// Names of options.
const (
	optionTags    = "tags"
	optionColumns = "columns"
)

// Format returns OSM PBF.
func Format() readers.Format {
	return readers.Format{
		Name:       formatName,
		Extensions: []string{".pbf"},
		Unit:       unit,
		Version:    1,
		Binary:     true,
		Layered:    true,
		Series:     true,
		Sniff:      sniff,
		Options: []readers.Option{
			{
				Name: optionTags, Default: string(tagsJSON),
				Values: []string{string(tagsJSON), string(tagsHstore), string(tagsNone)},
				Doc: "how the column other_tags has the tags without a column: as a JSON object; as the hstore text " +
					"that GDAL gives, without the keys that GDAL leaves out; or not at all",
			},
			{
				Name: optionColumns,
				Doc: "keys of tags that have a column in each layer, separated by commas; by default those of " +
					"GDAL's osmconf.ini",
			},
		},
		Open: open,
		CPU:  func(l readers.Layout) readers.Parser { return parser{layout: l} },
	}
}

// sniff looks for the type of the first blob: 0a 09 "OSMHeader", after its length.
func sniff(head []byte) bool {
	return len(head) > 15 && head[0] == 0 && head[1] == 0 &&
		bytes.Contains(head[4:min(len(head), headBytes)], []byte(kindHeader))
}

func open(_ context.Context, src *source.File, opts readers.Options) (readers.Layout, error) {
	f, err := readHeader(src)
	return readers.Layout{Options: opts, Dialect: f}, err
}

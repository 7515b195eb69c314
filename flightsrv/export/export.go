// Package export writes record batches to files that other programs read: Arrow IPC, GeoParquet,
// GeoJSON, GeoJSONSeq, CSV with WKT, FlatGeobuf, GeoPackage and shapefiles.
package export

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// Writer writes records of one schema. The file is complete after Close. A value that a format
// can't hold is an error, and is never left out.
type Writer interface {
	Write(arrow.Record) error
	Close() error
}

// Format is a file format.
type Format struct {
	Name       string
	Extensions []string // lower case, with the dot
	// WKB means that geometries must be geoarrow.wkb, of the type and dimension in their file.
	WKB bool
	// Compressions are the compressions of the format; the first one is the default.
	Compressions []ticket.Compression

	// Siblings are the extensions of the other files of the format, which have the name of the file
	// otherwise. One that stays empty is left out.
	Siblings []string
	// Stale are the extensions of indexes that programs make of a file, and that a new one outdates.
	Stale []string

	open func(out *os.File, schema *arrow.Schema, compression ticket.Compression) (Writer, error)
	// openAll is open for a format with siblings: out is the file, followed by its siblings.
	openAll func(out []*os.File, schema *arrow.Schema, compression ticket.Compression) (Writer, error)
}

// Noter is a Writer that has changed what readers will find, as the format requires.
type Noter interface {
	// Notes returns a sentence for each change, after Close.
	Notes() []string
}

// The formats that are not chosen by a file's name alone.
var (
	ArrowStream = Format{
		Name: "an Arrow IPC stream", Extensions: []string{".arrows"}, Compressions: arrowCompressions,
		open: newArrowStream,
	}
	arrowFile = Format{
		Name: "an Arrow IPC file", Extensions: []string{".arrow", ".feather"},
		Compressions: arrowCompressions, open: newArrowFile,
	}
)

var (
	arrowCompressions = []ticket.Compression{ticket.NoCompression, ticket.LZ4, ticket.Zstd}
	noCompression     = []ticket.Compression{ticket.NoCompression}
)

// formats are all formats. A new one is a line here and a file in this package.
var formats = []Format{
	arrowFile,
	ArrowStream,
	{
		Name: "GeoParquet", Extensions: []string{".parquet"}, WKB: true,
		Compressions: []ticket.Compression{ticket.Zstd, ticket.NoCompression},
		open: func(out *os.File, schema *arrow.Schema, c ticket.Compression) (Writer, error) {
			return NewParquet(out, schema, c)
		},
	},
	{
		Name: "GeoJSON", Extensions: []string{".geojson", ".json"}, WKB: true, Compressions: noCompression,
		open: plain(NewGeoJSON),
	},
	{
		Name: "GeoJSONSeq", Extensions: []string{".geojsonl", ".geojsons", ".ndjson"}, WKB: true,
		Compressions: noCompression, open: plain(NewGeoJSONLines),
	},
	{Name: "CSV", Extensions: []string{".csv"}, WKB: true, Compressions: noCompression, open: plain(NewCSV)},
	{Name: "FlatGeobuf", Extensions: []string{".fgb"}, WKB: true, Compressions: noCompression, open: newFlatGeobuf},
	{Name: "GeoPackage", Extensions: []string{".gpkg"}, WKB: true, Compressions: noCompression, open: newGeoPackage},
	{
		Name: "a shapefile", Extensions: []string{".shp"}, WKB: true, Compressions: noCompression,
		Siblings: []string{".shx", ".dbf", ".prj", ".cpg"},
		Stale:    []string{".qix", ".sbn", ".sbx", ".qpj", ".idm", ".ind", ".shp.xml"}, openAll: newShapefile,
	},
}

// plain adapts a format that has no compression.
func plain(open func(io.Writer, *arrow.Schema) (Writer, error)) func(*os.File, *arrow.Schema, ticket.Compression) (
	Writer, error,
) {
	return func(out *os.File, schema *arrow.Schema, _ ticket.Compression) (Writer, error) {
		return open(out, schema)
	}
}

// ForPath returns the format for a file's name.
func ForPath(path string) (Format, error) {
	extension := strings.ToLower(filepath.Ext(path))
	var known []string
	for _, f := range formats {
		if slices.Contains(f.Extensions, extension) {
			return f, nil
		}
		known = append(known, f.Extensions...)
	}
	return Format{}, fmt.Errorf("can write %s only", strings.Join(known, ", "))
}

// Create starts a file of the format at the beginning of out, which the writer does not close. Each
// of the format's siblings has a file, in their order. A compression that the format does not have
// is ignored.
func (f Format) Create(schema *arrow.Schema, compression ticket.Compression, out *os.File, siblings ...*os.File) (
	Writer, error,
) {
	if !slices.Contains(f.Compressions, compression) {
		compression = f.Compressions[0]
	}
	if f.openAll != nil {
		return f.openAll(append([]*os.File{out}, siblings...), schema, compression)
	}
	return f.open(out, schema, compression)
}

// distinctNames refuses columns of the same name if readers would see only one of them.
func distinctNames(schema *arrow.Schema, where string) error {
	for _, f := range schema.Fields() {
		if len(schema.FieldIndices(f.Name)) > 1 {
			return fmt.Errorf("%s: two columns are called %q; give one another name with AS", where, f.Name)
		}
	}
	return nil
}

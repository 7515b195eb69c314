// Package rows sends the rows of a table or a query as the body of an answer, in the format that the
// client asks for.
package rows

import (
	"bufio"
	"io"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/flightsrv/export"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// Format is a format of answers.
type Format struct {
	Name      string // value of the parameter format
	MediaType string
	Aliases   []string // other values of the parameter format, and other media types that Accept may name
	Extension string   // of a file with an answer
	// WKB means that geometries must be geoarrow.wkb.
	WKB bool
	// RecordRows is the maximum number of rows of a record, so that a client that does not read holds
	// little memory. 0: those of a batch.
	RecordRows int
	// Compressions are the compressions inside of the format; the first one is the default. The body
	// has no content coding with another one than NoCompression.
	Compressions []ticket.Compression

	open func(out io.Writer, schema *arrow.Schema, o options) (writer, error)
}

// options are what a writer is told about the rows.
type options struct {
	compression ticket.Compression
	name        string   // of the table
	types       []string // of its geometries; nil: unknown
}

// writer writes records of one schema. The body is complete after Close.
type writer interface {
	Write(arrow.Record) error
	Close() error
}

// flusher is a writer that keeps rows back until Flush.
type flusher interface{ Flush() error }

// fewRows are those of a record of geometries that are encoded on the way.
const fewRows = 4096

var plain = []ticket.Compression{ticket.NoCompression}

// Formats are all formats. The first one is the default.
var Formats = []Format{
	{
		Name: "arrow", MediaType: "application/vnd.apache.arrow.stream", Extension: ".arrows",
		Compressions: []ticket.Compression{ticket.NoCompression, ticket.LZ4, ticket.Zstd}, open: newArrow,
	},
	{
		Name: "geojson", MediaType: "application/geo+json", Aliases: []string{"application/json"},
		Extension: ".geojson",
		WKB:       true, RecordRows: fewRows, Compressions: plain, open: simple(export.NewGeoJSON),
	},
	{
		Name: "geojsonseq", MediaType: "application/geo+json-seq", Extension: ".geojsons",
		WKB: true, RecordRows: fewRows, Compressions: plain, open: simple(export.NewGeoJSONTextSequence),
	},
	{
		Name: "geojsonl", MediaType: "application/x-ndjson", Aliases: []string{"ndjson", "application/geo+json-lines"},
		Extension: ".geojsonl", WKB: true, RecordRows: fewRows, Compressions: plain,
		open: simple(export.NewGeoJSONLines),
	},
	{
		Name: "csv", MediaType: "text/csv", Extension: ".csv",
		WKB: true, RecordRows: fewRows, Compressions: plain, open: simple(export.NewCSV),
	},
	{
		Name: "flatgeobuf", MediaType: "application/flatgeobuf", Aliases: []string{"fgb", "application/vnd.flatgeobuf"},
		Extension: ".fgb", WKB: true, RecordRows: fewRows, Compressions: plain,
		open: func(out io.Writer, schema *arrow.Schema, o options) (writer, error) {
			return export.NewFlatGeobufStream(out, schema, o.name, o.types)
		},
	},
	{
		Name: "geoparquet", MediaType: "application/vnd.apache.parquet", Extension: ".parquet",
		Aliases: []string{"parquet", "application/x-parquet"},
		WKB:     true, Compressions: []ticket.Compression{ticket.Zstd, ticket.NoCompression}, open: newParquet,
	},
}

// simple adapts a writer without options.
func simple(open func(io.Writer, *arrow.Schema) (export.Writer, error)) func(io.Writer, *arrow.Schema, options) (
	writer, error,
) {
	return func(out io.Writer, schema *arrow.Schema, _ options) (writer, error) { return open(out, schema) }
}

// parquet joins the pages of a file.
type parquet struct {
	export.Writer
	out *bufio.Writer
}

func newParquet(out io.Writer, schema *arrow.Schema, o options) (writer, error) {
	p := &parquet{out: bufio.NewWriterSize(out, maxShort)}
	var err error
	p.Writer, err = export.NewParquet(p.out, schema, o.compression)
	return p, err
}

// Flush writes the row groups that are complete.
func (p *parquet) Flush() error { return p.out.Flush() }

func (p *parquet) Close() error {
	if err := p.Writer.Close(); err != nil {
		return err
	}
	return p.out.Flush()
}

// contentType returns the value of Content-Type.
func (f Format) contentType(c ticket.Compression) string {
	switch {
	case f.Name == "csv":
		return f.MediaType + "; charset=utf-8; header=present"
	case f.Name == "arrow" && c == ticket.LZ4:
		return f.MediaType + "; codecs=lz4"
	case f.Name == "arrow" && c == ticket.Zstd:
		return f.MediaType + "; codecs=zstd"
	}
	return f.MediaType
}

// names are the names of the formats, for errors.
func names() string {
	var all []string
	for _, f := range Formats {
		all = append(all, f.Name)
	}
	return strings.Join(all, ", ")
}

// Package rows sends the rows of a table or a query as the body of an answer, in the format that the
// client asks for.
package rows

import (
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// Format is a format of answers.
type Format struct {
	Name      string // value of the parameter format
	MediaType string
	Extension string // of a file with an answer
	// WKB means that geometries must be geoarrow.wkb.
	WKB bool

	open func(out io.Writer, schema *arrow.Schema, c ticket.Compression) (writer, error)
}

// writer writes records of one schema. The body is complete after Close.
type writer interface {
	Write(arrow.Record) error
	Close() error
}

// Formats are all formats. The first one is the default.
var Formats = []Format{
	{
		Name: "arrow", MediaType: "application/vnd.apache.arrow.stream", Extension: ".arrows", open: newArrow,
	},
}

func newArrow(out io.Writer, schema *arrow.Schema, c ticket.Compression) (writer, error) {
	options := []ipc.Option{ipc.WithSchema(schema)}
	switch c {
	case ticket.LZ4:
		options = append(options, ipc.WithLZ4())
	case ticket.Zstd:
		options = append(options, ipc.WithZstd())
	}
	return ipc.NewWriter(out, options...), nil
}

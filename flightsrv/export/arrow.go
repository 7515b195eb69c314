package export

import (
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

func newArrowStream(out *os.File, schema *arrow.Schema, compression ticket.Compression) (Writer, error) {
	return ipc.NewWriter(out, ipcOptions(schema, compression)...), nil
}

func newArrowFile(out *os.File, schema *arrow.Schema, compression ticket.Compression) (Writer, error) {
	return ipc.NewFileWriter(out, ipcOptions(schema, compression)...)
}

func ipcOptions(schema *arrow.Schema, compression ticket.Compression) []ipc.Option {
	options := []ipc.Option{ipc.WithSchema(schema)}
	switch compression {
	case ticket.LZ4:
		options = append(options, ipc.WithLZ4())
	case ticket.Zstd:
		options = append(options, ipc.WithZstd())
	}
	return options
}

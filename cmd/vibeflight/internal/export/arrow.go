package export

import (
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/vibeflight/vibeflight/flightsrv"
)

func newArrowStream(out *os.File, schema *arrow.Schema, packed flightsrv.Compression) (Writer, error) {
	return ipc.NewWriter(out, ipcOptions(schema, packed)...), nil
}

func newArrowFile(out *os.File, schema *arrow.Schema, packed flightsrv.Compression) (Writer, error) {
	return ipc.NewFileWriter(out, ipcOptions(schema, packed)...)
}

func ipcOptions(schema *arrow.Schema, packed flightsrv.Compression) []ipc.Option {
	options := []ipc.Option{ipc.WithSchema(schema)}
	switch packed {
	case flightsrv.LZ4:
		options = append(options, ipc.WithLZ4())
	case flightsrv.Zstd:
		options = append(options, ipc.WithZstd())
	}
	return options
}

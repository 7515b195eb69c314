// Package arrowipc reads Apache Arrow's IPC formats: files, which Feather 2 is, and streams.
//
// The standard is the Arrow Columnar Format 1.5, "Serialization and Interprocess Communication":
//
//	file     "ARROW1" 0 0 | stream | footer | length of the footer, 4 bytes | "ARROW1"
//	stream   schema | dictionary or record batch … | [00000000]
//	message  ffffffff | length, 4 bytes | Message, a flatbuffer, padded | body
//
// The first 4 bytes of a message may be missing, as in files from before Arrow 0.15. Bodies
// may be compressed with LZ4 or Zstandard. readers/internal/records determines the columns of a
// table. Feather 1, tensors and files of other schemas after the first one are refused.
// docs/formats/arrow.md has the whole list.
package arrowipc

import (
	"bytes"
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/records"
	"github.com/vibeflight/vibeflight/readers/source"
)

const formatName = "arrow"

// Format returns Arrow IPC.
func Format() readers.Format {
	return readers.Format{
		Name:       formatName,
		Extensions: []string{".arrow", ".feather", ".ipc", ".arrows"},
		Unit:       records.Unit,
		Version:    2,
		Binary:     true,
		Series:     true,
		Sniff:      func(head []byte) bool { return bytes.HasPrefix(head, magic) },
		Open:       open,
		CPU: func(l readers.Layout) readers.Parser {
			f := l.Dialect.(*file)
			return records.Parser{
				Format: formatName, Plan: f.plan, Columns: l.Columns, Null: l.Options.NullErrors(),
				Check: true, Loads: f.loads,
			}
		},
	}
}

// open reads the schema.
func open(_ context.Context, src *source.File, opts readers.Options) (readers.Layout, error) {
	f := &file{}
	at, err := f.open(src)
	if err != nil {
		return readers.Layout{}, records.Parser{Format: formatName}.Fault(src, readers.Limits{}.WithDefaults(), at, err)
	}
	return readers.Layout{Options: opts, Dialect: f}, nil
}

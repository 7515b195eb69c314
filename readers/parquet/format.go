// Package parquet reads Apache Parquet and GeoParquet.
//
// The standards are Apache Parquet 2.11 (parquet-format) and GeoParquet 1.1:
//
//	file    "PAR1" | row group … | footer | length of the footer, 4 bytes | "PAR1"
//	footer  FileMetaData, in Thrift's compact protocol: schema, row groups, key-value metadata, "geo" among it
//
// Arrow's own code decodes pages, one column of a row group at a time. It trusts lengths in files,
// so they are checked here first. Lists and structs are assembled here, too.
// readers/internal/records determines the columns of a table. Encrypted files are refused.
// docs/formats/parquet.md has the whole list.
package parquet

import (
	"bytes"
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/records"
	"github.com/vibeflight/vibeflight/readers/source"
)

const formatName = "parquet"

// Format returns Parquet.
func Format() readers.Format {
	registerCodecs()
	return readers.Format{
		Name:       formatName,
		Extensions: []string{".parquet", ".geoparquet", ".pq"},
		Unit:       records.Unit,
		Version:    2,
		Binary:     true,
		Indexed:    true,
		Sniff:      func(head []byte) bool { return bytes.HasPrefix(head, magic) },
		Open:       open,
		Cover:      cover,
		CPU: func(l readers.Layout) readers.Parser {
			f := l.Dialect.(*footer)
			p := project{f, f.plan.Needs(l.Columns), maxGroupRows}
			return records.Parser{
				Format: formatName, Plan: f.plan, Columns: l.Columns, Null: l.Options.NullErrors(),
				Loads: p.loads, Announce: p.announce,
			}
		},
	}
}

// open reads the footer.
func open(_ context.Context, src *source.File, opts readers.Options) (readers.Layout, error) {
	f := &footer{}
	at, err := f.open(src)
	if err != nil {
		return readers.Layout{}, records.Parser{Format: formatName}.Fault(src, readers.Limits{}.WithDefaults(), at, err)
	}
	return readers.Layout{Options: opts, Dialect: f}, nil
}

package result

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/atomicfile"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv/export"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// FormatHelp lists the formats of -o, for the help of get and sql.
const FormatHelp = `.parquet            GeoParquet 1.1, geometries as WKB
.geojson .json      GeoJSON (RFC 7946), with a member "crs" unless the CRS is OGC:CRS84
.geojsonl .ndjson   GeoJSONSeq, a Feature per line
.csv                CSV (RFC 4180), geometries as WKT; null is empty, and "" is an empty text
.fgb                FlatGeobuf, rows in the order of its index
.arrow .feather     Arrow IPC, the file format
.arrows and -       Arrow IPC, the stream format; - is stdout

The file gets its name when it is complete, never before. A value that a format can't hold is an
error, which names the row.`

// FormatFor returns the format for the name of an output.
func FormatFor(path string) (export.Format, error) {
	if path == "-" {
		return export.ArrowStream, nil
	}
	f, err := export.ForPath(path)
	if err != nil {
		return f, usage.Errorf("-o %s: %w", path, err)
	}
	return f, nil
}

// CompressionFor returns the compression of a file: the given one, if the format has it.
func CompressionFor(f export.Format, path, name string, told bool) (ticket.Compression, error) {
	if !told {
		return f.Compressions[0], nil
	}
	compression, known := compressions[name]
	if !known || !slices.Contains(f.Compressions, compression) {
		return compression, usage.Errorf("--compression: %s is not for %s", name, path)
	}
	return compression, nil
}

// compressions are the values of --compression.
var compressions = map[string]ticket.Compression{
	"none": ticket.NoCompression, "lz4": ticket.LZ4,
	"zstd": ticket.Zstd,
}

// WriteTo calls write with a file that appears when it is complete, or with stdout for "-".
func WriteTo(std output.Stdio, path string, write func(*os.File) error) error {
	var out *atomicfile.File
	file := std.Out
	if path != "-" {
		var err error
		if out, err = atomicfile.Create(path); err != nil {
			return err
		}
		defer out.Discard()
		file = out.File
	}
	err := write(file)
	if out == nil {
		return err
	}
	if err == nil {
		err = out.Commit()
	}
	return out.Explain(err)
}

// WriteRows writes rows in a format.
func WriteRows(ctx context.Context, rows target.RowStream, file *os.File, path string, format export.Format,
	compression ticket.Compression, p *output.Progress,
) error {
	w, err := format.Create(file, rows.Schema(), compression)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return copyRows(ctx, rows, w, path, p)
}

// copyRows writes all rows, and completes the file.
func copyRows(ctx context.Context, rows target.RowStream, w export.Writer, path string, p *output.Progress) error {
	done, total := int64(0), rows.Rows()
	for {
		rec, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			if err = w.Close(); err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
			return err
		}
		if err != nil {
			return err
		}
		err = w.Write(rec)
		done += rec.NumRows()
		rec.Release()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		p.Set(done, total)
	}
}

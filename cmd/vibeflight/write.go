package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/export"
	"github.com/vibeflight/vibeflight/flightsrv"
)

// outputHelp says which files -o writes, for the help of get and sql.
const outputHelp = `.parquet            GeoParquet 1.1, geometries as WKB
.geojson .json      GeoJSON (RFC 7946), with a member "crs" where the reference system is another one than OGC:CRS84
.geojsonl .ndjson   GeoJSONSeq, a Feature a line
.csv                CSV (RFC 4180), geometries as WKT; nothing is null, and "" an empty text
.fgb                FlatGeobuf, its rows in the order of its index
.arrow .feather     Arrow IPC, the file format
.arrows and -       Arrow IPC, the stream format; - is stdout

The file appears under its name when it is complete, never before. What a format can't hold is an error that says the row.`

// outputFormat is what the name of an output asks for.
func outputFormat(path string) (export.Format, error) {
	if path == "-" {
		return export.ArrowStream, nil
	}
	f, err := export.ForPath(path)
	if err != nil {
		return f, wrongUsage("-o %s: %w", path, err)
	}
	return f, nil
}

// filePacking is the compression of a file: the one that was told, if the format has it.
func filePacking(f export.Format, path, name string, told bool) (flightsrv.Compression, error) {
	if !told {
		return f.Packings[0], nil
	}
	packed, known := packings[name]
	if !known || !slices.Contains(f.Packings, packed) {
		return packed, wrongUsage("--compression: %s is not for %s", name, path)
	}
	return packed, nil
}

// packings are the values of --compression.
var packings = map[string]flightsrv.Compression{
	"none": flightsrv.NoCompression, "lz4": flightsrv.LZ4,
	"zstd": flightsrv.Zstd,
}

// writeTo has write fill a file that appears when it is complete, or stdout for "-".
func writeTo(std stdio, path string, write func(*os.File) error) error {
	var out *newFile
	file := std.out
	if path != "-" {
		var err error
		if out, err = createFile(path); err != nil {
			return err
		}
		defer out.discard()
		file = out.File
	}
	err := write(file)
	if out == nil {
		return err
	}
	if err == nil {
		err = out.keep()
	}
	return out.problem(err)
}

// writeRows writes rows as a format has them.
func writeRows(ctx context.Context, rows rowStream, file *os.File, path string, format export.Format,
	packed flightsrv.Compression, p *progress,
) error {
	w, err := format.Create(file, rows.schema(), packed)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return copyRows(ctx, rows, w, path, p)
}

// copyRows writes all rows and the end of the format.
func copyRows(ctx context.Context, rows rowStream, w export.Writer, path string, p *progress) error {
	done, total := int64(0), rows.rows()
	for {
		rec, err := rows.next(ctx)
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
		p.set(done, total)
	}
}

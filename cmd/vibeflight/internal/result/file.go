package result

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
.gpkg               GeoPackage 1.4, a table with an index
.shp                a shapefile, with .shx, .dbf, .prj and .cpg next to it
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

// WriteTo calls write with a file that appears when it is complete, followed by the other files of
// its format, or with stdout for "-".
func WriteTo(std output.Stdio, path string, format export.Format, write func(out []*os.File) error) error {
	if path == "-" {
		return write([]*os.File{std.Out})
	}
	out, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer out.Discard()
	files := []*os.File{out.File}
	var siblings []*atomicfile.File
	for _, extension := range format.Siblings {
		f, err := atomicfile.Create(sibling(path, extension))
		if err != nil {
			return err
		}
		defer f.Discard()
		siblings, files = append(siblings, f), append(files, f.File)
	}
	if err = write(files); err == nil {
		err = commit(path, format, out, siblings)
	}
	return out.Explain(err)
}

// sibling returns a path with another extension.
func sibling(path, extension string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + extension
}

// commit gives all files their names, the main one last. What an older file of the name had in
// addition is removed.
func commit(path string, format export.Format, out *atomicfile.File, siblings []*atomicfile.File) error {
	gone := format.Stale
	for i, f := range siblings {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if info.Size() == 0 {
			gone = append(slices.Clone(gone), format.Siblings[i])
			continue
		}
		if err := f.Commit(); err != nil {
			return err
		}
	}
	for _, extension := range gone {
		if err := os.Remove(sibling(path, extension)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return out.Commit()
}

// WriteRows writes rows in a format, to a file and the other files of the format.
func WriteRows(ctx context.Context, rows target.RowStream, out []*os.File, path string, format export.Format,
	compression ticket.Compression, p *output.Progress,
) error {
	w, err := format.Create(rows.Schema(), compression, out[0], out[1:]...)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := copyRows(ctx, rows, w, path, p); err != nil {
		return err
	}
	if n, ok := w.(export.Noter); ok {
		for _, note := range n.Notes() {
			p.Note(note)
		}
	}
	return nil
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

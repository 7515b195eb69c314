package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/source"
)

// local is the files of this machine; an entry's name is its path. It keeps the last table that it parsed: one command
// describes and reads the same file with the same options.
type local struct {
	formats readers.Registry
	limits  readers.Limits

	source *source.File // of table, closed
	table  *readers.Table
}

func newLocal(limits readers.Limits) *local { return &local{formats: all.Formats(), limits: limits} }

func (l *local) close() {}

// walk gives the files below a folder, or the file at path, that are of a known format. A prefix is compared with paths below the
// folder, as a server would name them. It follows no link to a folder and looks into no hidden one.
func (l *local) walk(ctx context.Context, root, prefix, format string) ([]entry, error) {
	if _, known := l.formats.ByName(format); format != "" && !known {
		return nil, wrongUsage("--format: no format %q; known are %s", format, formatNames(l.formats))
	}
	if info, err := os.Stat(root); err == nil && info.IsDir() {
		root += string(filepath.Separator) // a link to a folder is that folder
	}
	var entries []entry
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		hidden := path != root && strings.HasPrefix(d.Name(), ".")
		if d.IsDir() && hidden {
			return fs.SkipDir
		}
		if d.IsDir() || hidden {
			return nil
		}
		info, err := os.Stat(path)
		if path != root && (err != nil || !info.Mode().IsRegular()) {
			return nil // a dangling link, a socket
		}
		if err != nil {
			return err
		}
		f, ok, err := detectIn(l.formats, path)
		if err != nil {
			return err
		}
		if !ok && path == root {
			return errNoFormat(l.formats, path)
		}
		below, err := filepath.Rel(root, path)
		if !ok || err != nil || format != "" && f.Name != format || !strings.HasPrefix(filepath.ToSlash(below), prefix) {
			return err
		}
		size, modified := info.Size(), info.ModTime()
		entries = append(entries, entry{Name: path, Format: f.Name, Bytes: &size, Modified: &modified})
		return nil
	})
	return entries, err
}

// detect finds the format of the file at path.
func detect(path string) (readers.Format, error) {
	formats := all.Formats()
	if _, err := os.Stat(path); err != nil {
		return readers.Format{}, err
	}
	f, ok, err := detectIn(formats, path)
	if err == nil && !ok {
		err = errNoFormat(formats, path)
	}
	return f, err
}

func detectIn(formats readers.Registry, path string) (readers.Format, bool, error) {
	return formats.Detect(path, func() ([]byte, error) {
		src, err := source.Open(path, path)
		if err != nil {
			return nil, err
		}
		defer src.Close()
		return src.Head(readers.SniffBytes)
	})
}

func errNoFormat(formats readers.Registry, path string) error {
	return fmt.Errorf("%s: is of no format that vibeflight reads; it reads %s", path, formatNames(formats))
}

func formatNames(formats readers.Registry) string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// open gives the table of the file at path.
func (l *local) open(ctx context.Context, path string, options map[string]any) (*readers.Table, error) {
	if l.table != nil && l.source.Path == path {
		return l.table, nil
	}
	format, err := detect(path)
	if err != nil {
		return nil, err
	}
	opts, err := format.ParseOptions(options)
	if err != nil {
		return nil, err
	}
	src, table, err := read(ctx, format, path, opts, l.limits, nil)
	if err != nil {
		return nil, err
	}
	table.Measure()
	l.source, l.table = src, table
	return table, nil
}

func (l *local) describe(ctx context.Context, name string, options map[string]any) (*description, error) {
	t, err := l.open(ctx, name, options)
	if err != nil {
		return nil, err
	}
	scan, err := catalog.NewScan(t, catalog.Selection{})
	if err != nil {
		return nil, err
	}
	d := &description{
		Name: name, FileBytes: l.source.Size, Modified: time.Unix(0, l.source.Identity.Mtime),
		Rows: t.Rows, Bytes: t.Bytes, Columns: columnsOf(scan.Schema()),
		Positions: t.Positions, UnclosedRings: t.Summary.UnclosedRings, ShortRings: t.Summary.ShortRings,
		ShortLines: t.Summary.ShortLines, Foreign: t.Summary.Foreign,
	}
	d.facts = facts{
		Format: t.Format, Engine: t.Engine, BBox: t.BBox, GeometryTypes: append([]string{}, t.GeometryTypes...),
		BytesRead: t.Summary.BytesRead, ParseSeconds: t.ParseTime.Seconds(), RoundedIntegers: t.RoundedIntegers,
		IgnoredOrdinates: t.Summary.IgnoredOrdinates, ReplacedCharacters: t.ReplacedCharacters,
	}
	if crs := t.CRS.String(); crs != "" {
		d.CRS = &crs
	}
	if t.Summary.Skipped.Count > 0 {
		d.Skipped = &t.Summary.Skipped
	}
	if d.Foreign == nil {
		d.Foreign = map[string]int64{}
	}
	return d, nil
}

func (l *local) scan(ctx context.Context, t flightsrv.Ticket) (rowStream, error) {
	table, err := l.open(ctx, t.Name, t.Options)
	if err != nil {
		return nil, err
	}
	scan, err := catalog.NewScan(table, catalog.Selection{Columns: t.Columns, BBox: t.BBox, Rows: t.Rows, Limit: t.Limit, Encoding: t.Encoding})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return localRows{scan}, nil
}

// localRows is a scan as a rowStream.
type localRows struct{ scan *catalog.Scan }

func (r localRows) schema() *arrow.Schema { return r.scan.Schema() }

func (r localRows) rows() int64 {
	n, err := r.scan.Rows(context.Background())
	if err != nil {
		return -1
	}
	return n
}

func (r localRows) next(ctx context.Context) (arrow.Record, error) { return r.scan.Next(ctx) }

func (r localRows) close() {}

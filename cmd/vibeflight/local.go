package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/source"
)

// local is the files of this machine; an entry's name is its path. It keeps the last table that it
// parsed: one command describes and reads the same file with the same options.
type local struct {
	formats readers.Registry
	limits  readers.Limits
	unpack  source.Unpacking

	leftOut func(path string, err error) // hears of folders that may not be read; may be nil

	name   string       // of table
	source *source.File // of table, closed
	table  *readers.Table
}

func newLocal(limits readers.Limits, unpack source.Unpacking) *local {
	return &local{formats: all.Formats(), limits: limits, unpack: unpack}
}

func (l *local) close() {}

// walk gives the files below a folder, or the file at path, that are of a known format. A prefix is
// compared with paths below the folder, as a server would name them. It follows no link to a folder
// and looks into no hidden one. A folder below root that may not be read has no entries; leftOut
// hears of it.
func (l *local) walk(ctx context.Context, root, prefix, format string) ([]entry, error) {
	if _, known := l.formats.ByName(format); format != "" && !known {
		return nil, wrongUsage("--format: no format %q; known are %s", format, formatNames(l.formats))
	}
	if info, err := os.Stat(root); err == nil && info.IsDir() {
		root += string(filepath.Separator) // a link to a folder is that folder
	}
	var entries []entry
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) && path != root && d.IsDir() {
			if l.leftOut != nil {
				l.leftOut(path, err)
			}
			return fs.SkipDir
		}
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
		if path != root && belongs(l.formats, path) {
			return nil
		}
		f, ok, err := detectIn(l.formats, path)
		if err != nil {
			return err
		}
		if !ok && path == root {
			return errNoFormat(l.formats, path)
		}
		below, err := filepath.Rel(root, path)
		if !ok || err != nil || format != "" && f.Name != format ||
			!strings.HasPrefix(filepath.ToSlash(below), prefix) {
			return err
		}
		size, modified := info.Size(), info.ModTime()
		entries = append(entries, entry{Name: path, Format: f.Name, Bytes: &size, Modified: &modified})
		return nil
	})
	return entries, err
}

// belongs reports whether the file at path is a part of another one beside it, as a .dbf of a .shp.
func belongs(formats readers.Registry, path string) bool {
	return slices.ContainsFunc(formats.MainsOf(path), func(main string) bool {
		info, err := os.Stat(main)
		return err == nil && info.Mode().IsRegular()
	})
}

// splitLayer gives the file and the layer that a name means: FILE#LAYER, unless there is a file of
// the whole name.
func splitLayer(name string) (path, layer string) {
	if _, err := os.Stat(name); err == nil {
		return name, ""
	}
	for i := range len(name) {
		if name[i] != '#' {
			continue
		}
		if info, err := os.Stat(name[:i]); err == nil && info.Mode().IsRegular() {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
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

// detectLayer is detect of the layer of a file, "" being the first one: those of an archive may be
// of different formats.
func detectLayer(path, layer string) (readers.Format, error) {
	f, err := detect(path)
	if err != nil || layer == "" {
		return f, err
	}
	_, tables, _, err := all.Formats().Inspect(path, func() (*source.File, error) { return source.Open(path, path) })
	if err != nil {
		return f, err
	}
	var layers []string
	for _, t := range tables {
		if t.Layer == layer {
			return t.Format, nil
		}
		layers = append(layers, t.Layer)
	}
	switch {
	case tables != nil:
		err = &readers.NoLayerError{Name: path, Layer: layer, Layers: layers}
	case !f.Layered:
		err = fmt.Errorf("%s: a %s file has no layers", path, f.Name)
	}
	return f, err
}

// chosen is the format of a layer of the file at path and its options: the format that these name,
// or else the one that the layer is of.
func chosen(path, layer string, options map[string]any) (f readers.Format, opts readers.Options, err error) {
	if _, named := options[readers.OptionFormat]; named {
		_, err = os.Stat(path)
	} else {
		f, err = detectLayer(path, layer)
	}
	if err != nil {
		return f, opts, err
	}
	f, rest, err := all.Formats().Choose(f, options)
	if err == nil && layer != "" && len(rest) < len(options) && !f.Layered {
		err = fmt.Errorf("%s: a %s file has no layers", path, f.Name)
	}
	if err == nil {
		opts, err = f.ParseOptions(rest)
	}
	return f, opts, err
}

func detectIn(formats readers.Registry, path string) (readers.Format, bool, error) {
	return formats.Detect(path, func() (*source.File, error) { return source.Open(path, path) })
}

func errNoFormat(formats readers.Registry, path string) error {
	return fmt.Errorf("%s: is of no format that vibeflight reads; it reads %s. --option format=csv reads it as one "+
		"of them", path, formatNames(formats))
}

func formatNames(formats readers.Registry) string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// open gives the table of a file, or of one of its layers.
func (l *local) open(ctx context.Context, name string, options map[string]any, p *progress) (*readers.Table, error) {
	if l.table != nil && l.name == name {
		return l.table, nil
	}
	path, layer := splitLayer(name)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: is a folder; vibeflight ls %s lists the files below it", path, path)
	}
	format, opts, err := chosen(path, layer, options)
	if err != nil {
		return nil, err
	}
	src, table, err := read(ctx, path, reading{
		formats: l.formats, format: format, options: opts,
		layer: layer, limits: l.limits, unpack: l.unpack, opened: func(src *source.File) {
			p.parsing(func() float64 { return float64(src.BytesRead()) / float64(max(1, src.Size)) })
		},
	})
	if err != nil {
		return nil, err
	}
	if err := table.Measure(ctx); err != nil {
		return nil, err
	}
	l.name, l.source, l.table = name, src, table
	return table, nil
}

func (l *local) describe(ctx context.Context, name string, options map[string]any, p *progress) (*description, error) {
	t, err := l.open(ctx, name, options, p)
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
		ShortLines: t.Summary.ShortLines, Foreign: t.Summary.Foreign, Layers: t.Summary.Layers,
	}
	if t.Summary.Links.Count > 0 {
		d.Links = &t.Summary.Links
	}
	d.facts = facts{
		Format: t.Format, Engine: t.Engine, BBox: t.BBox, GeometryTypes: append([]string{}, t.GeometryTypes...),
		BytesRead: t.Summary.BytesRead, ParseSeconds: t.ParseTime.Seconds(), RoundedIntegers: t.RoundedIntegers,
		IgnoredOrdinates: t.Summary.IgnoredOrdinates, ReplacedCharacters: t.ReplacedCharacters,
	}
	if d.UnreadCRS = t.CRS.Unread(); d.UnreadCRS == "" && t.CRS.String() != "" {
		crs := t.CRS.String()
		d.CRS = &crs
	}
	if t.Summary.Skipped.Count > 0 {
		d.Skipped = &t.Summary.Skipped
	}
	if !t.Summary.Deviations.IsEmpty() {
		d.Deviations = &t.Summary.Deviations
	}
	if d.Foreign == nil {
		d.Foreign = map[string]int64{}
	}
	return d, nil
}

func (l *local) scan(ctx context.Context, t flightsrv.Ticket, p *progress) (rowStream, error) {
	table, err := l.open(ctx, t.Name, t.Options, p)
	if err != nil {
		return nil, err
	}
	scan, err := catalog.NewScan(table, catalog.Selection{
		Columns: t.Columns, BBox: t.BBox, Rows: t.Rows,
		Limit: t.Limit, Encoding: t.Encoding,
	})
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

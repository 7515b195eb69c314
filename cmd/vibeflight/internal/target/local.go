package target

import (
	"context"
	"fmt"
	"os"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/localfile"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Local is the files of this machine. The name of an entry is its path. Local keeps the last table
// that it parsed: a command describes and reads the same file with the same options.
type Local struct {
	formats readers.Registry
	limits  readers.Limits
	unpack  source.UnpackOptions
	// Filter returns the rows of a table for which a predicate is true, as a table. It must be set for
	// tickets with a filter.
	Filter func(ctx context.Context, t *readers.Table, where string, limits readers.Limits) (*catalog.TableRef, error)

	name   string       // of table
	source *source.File // of table, closed
	table  *readers.Table
}

// NewLocal returns the files of this machine, of all formats.
func NewLocal(limits readers.Limits, unpack source.UnpackOptions) *Local {
	return &Local{formats: all.Formats(), limits: limits, unpack: unpack}
}

// Close does nothing: files are closed when they are parsed.
func (l *Local) Close() {}

// open returns the table of a file, or of one of its layers.
func (l *Local) open(
	ctx context.Context, name string, options map[string]any, p *output.Progress,
) (*readers.Table, error) {
	if l.table != nil && l.name == name {
		return l.table, nil
	}
	path, layer := localfile.SplitLayer(name)
	if info, err := os.Stat(path); err == nil && info.IsDir() && !localfile.IsBundle(path) {
		return nil, fmt.Errorf("%s: is a folder; vibeflight ls %s lists the files below it", path, path)
	}
	format, opts, err := localfile.Choose(ctx, path, layer, options)
	if err != nil {
		return nil, err
	}
	src, table, err := localfile.Read(ctx, path, localfile.Reader{
		Formats: l.formats, Format: format, Options: opts,
		Layer: layer, Limits: l.limits, Unpack: l.unpack, Opened: func(src *source.File) {
			p.Parsing(func() float64 { return float64(src.BytesRead()) / float64(max(1, src.AllBytes())) })
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

// Describe parses a file and describes its table.
func (l *Local) Describe(
	ctx context.Context, name string, options map[string]any, p *output.Progress,
) (*metadata.Description, error) {
	t, err := l.open(ctx, name, options, p)
	if err != nil {
		return nil, err
	}
	scan, err := catalog.NewScan(t, catalog.Selection{})
	if err != nil {
		return nil, err
	}
	d := metadata.Describe(t, scan.Schema(), false)
	d.Name, d.FileBytes, d.Modified = name, l.source.AllBytes(), l.source.Modified
	d.BBox, d.Identity = t.BBox, l.source.Identity.Kind()
	return &d, nil
}

// Scan parses a file and returns the rows that a ticket selects.
func (l *Local) Scan(ctx context.Context, t ticket.Ticket, p *output.Progress) (RowStream, error) {
	table, err := l.open(ctx, t.Name, t.Options, p)
	if err != nil {
		return nil, err
	}
	sel := catalog.Selection{
		Columns: t.Columns, BBox: t.BBox, Rows: t.Rows,
		Limit: t.Limit, Encoding: t.Encoding, CRS: t.CRS,
	}
	if t.Where != "" {
		return l.scanFiltered(ctx, t, table, sel)
	}
	scan, err := catalog.NewScan(table, sel)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return localRows{scan, nil}, nil
}

// scanFiltered is Scan for a ticket with a filter.
func (l *Local) scanFiltered(ctx context.Context, t ticket.Ticket, table *readers.Table, sel catalog.Selection) (
	RowStream, error,
) {
	ref, err := l.Filter(ctx, table, t.Where, l.limits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	scan, err := ref.Scan(sel)
	if err != nil {
		ref.Release()
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return localRows{scan, ref}, nil
}

// localRows is a scan as a RowStream.
type localRows struct {
	scan *catalog.Scan
	of   *catalog.TableRef // that Close releases; nil: none
}

func (r localRows) Schema() *arrow.Schema { return r.scan.Schema() }

func (r localRows) Rows() int64 {
	n, err := r.scan.Rows(context.Background())
	if err != nil {
		return -1
	}
	return n
}

func (r localRows) Next(ctx context.Context) (arrow.Record, error) { return r.scan.Next(ctx) }

func (r localRows) Close() {
	if r.of != nil {
		r.of.Release()
	}
}

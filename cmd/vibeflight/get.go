package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/flightsrv"
)

// getConfig is what get's flags say.
type getConfig struct {
	from                     targetConfig
	out                      string
	columns                  []string
	bbox, rows               string
	limit                    int64
	encoding, coords, packed string
}

// headRows is how many rows get shows unless it is told.
const headRows = 10

const getLong = `Read rows of a file, from a server or straight from the file.

Without -o the first rows are shown as a table. With -o they are written as Arrow IPC: the file format for NAME.arrow and
NAME.feather, the stream format for NAME.arrows, and the stream format on stdout for "-". The file appears under its name when
it is complete, never before.

The selections apply in the order rows, bbox, limit.`

func newGet(std stdio) *cobra.Command {
	var c getConfig
	cmd := &cobra.Command{
		Use:   "get NAME|FILE",
		Short: "Show or write rows of a file",
		Long:  getLong,
		Args:  oneArgument("name or file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := c.ticket(cmd.Flags(), args[0])
			if err != nil {
				return err
			}
			if c.out == "" && cmd.Flags().Changed("compression") {
				return wrongUsage("--compression: needs -o")
			}
			if _, err := outputFormat(c.out); c.out != "" && err != nil {
				return err
			}
			if c.out == "-" && isTerminal(std.out) {
				return wrongUsage("-o -: stdout is a terminal, which can't show Arrow's bytes")
			}
			from, err := c.from.open(cmd.Flags())
			if err != nil {
				return err
			}
			defer from.close()
			if c.out == "" {
				return show(cmd.Context(), std, from, t)
			}
			return write(cmd.Context(), std, from, t, c.out)
		},
	}
	c.flags(cmd.Flags())
	return cmd
}

func (c *getConfig) flags(f *pflag.FlagSet) {
	f.StringVarP(&c.out, "output", "o", "", "file to write, or - for stdout")
	f.StringSliceVar(&c.columns, "columns", nil, "only these columns, in this order, separated by commas")
	f.StringVar(&c.bbox, "bbox", "", "only rows whose bounding box meets XMIN,YMIN,XMAX,YMAX")
	f.StringVar(&c.rows, "rows", "", "only rows FROM:TO of the file, TO not included; each may be left out")
	f.Int64Var(&c.limit, "limit", headRows, "at most so many rows; with -o all, unless it is given")
	f.StringVar(&c.encoding, "geometry-encoding", "native", "geometries as native (GeoArrow), wkb or wkt; shown as wkt unless given")
	f.StringVar(&c.coords, "coords", "separated", "native coordinates: separated or interleaved")
	f.StringVar(&c.packed, "compression", "none", "of what is written and of what a server sends: none, lz4 or zstd")
	c.from.flags(f)
}

// ticket is what the flags ask for. A ticket's own reader checks it, so that a file and a server refuse the same.
func (c *getConfig) ticket(f *pflag.FlagSet, name string) (flightsrv.Ticket, error) {
	options, err := parseOptions(c.from.options)
	if err != nil {
		return flightsrv.Ticket{}, err
	}
	fields := map[string]any{"name": "-", "geometry_encoding": c.encoding, "coords": c.coords, "compression": c.packed, "options": options}
	if c.out == "" && !f.Changed("geometry-encoding") && !f.Changed("coords") {
		fields["geometry_encoding"] = "wkt"
	}
	if f.Changed("columns") {
		fields["columns"] = append([]string{}, c.columns...)
	}
	if c.out == "" || f.Changed("limit") {
		fields["limit"] = c.limit
	}
	if f.Changed("bbox") {
		if fields["bbox"], err = parseBBox(c.bbox); err != nil {
			return flightsrv.Ticket{}, err
		}
	}
	if f.Changed("rows") {
		if fields["rows"], err = parseRows(c.rows); err != nil {
			return flightsrv.Ticket{}, err
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return flightsrv.Ticket{}, err
	}
	t, err := flightsrv.ParseTicket(text)
	var field *flightsrv.TicketError
	if errors.As(err, &field) {
		return flightsrv.Ticket{}, wrongUsage("--%s: %w", strings.ReplaceAll(field.Field, "_", "-"), field.Err)
	}
	if err != nil {
		return flightsrv.Ticket{}, err
	}
	t.Name = name // a path of this machine may be no UTF-8, which JSON can't say
	return t, nil
}

// parseBBox reads "xmin,ymin,xmax,ymax". What they may be is the ticket's business, except that JSON has no NaN and no infinity.
func parseBBox(text string) ([]float64, error) {
	var box []float64
	for _, part := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, wrongUsage("--bbox: %q is no number; want XMIN,YMIN,XMAX,YMAX", part)
		}
		box = append(box, v)
	}
	if len(box) != 4 {
		return nil, wrongUsage("--bbox: want XMIN,YMIN,XMAX,YMAX, got %d numbers", len(box))
	}
	return box, nil
}

// parseRows reads "from:to".
func parseRows(text string) ([]int64, error) {
	from, to, ok := strings.Cut(text, ":")
	rows := []int64{0, math.MaxInt64}
	for i, part := range []string{from, to} {
		if part == "" {
			continue
		}
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			ok = false
			break
		}
		rows[i] = n
	}
	if !ok {
		return nil, wrongUsage("--rows: %q is not FROM:TO", text)
	}
	return rows, nil
}

// container is one of Arrow's two IPC formats.
type container uint8

const (
	arrowStream container = iota
	arrowFile
)

// outputFormat is what the name of an output asks for.
func outputFormat(path string) (container, error) {
	if path == "-" {
		return arrowStream, nil
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".arrows":
		return arrowStream, nil
	case ".arrow", ".feather":
		return arrowFile, nil
	}
	return 0, wrongUsage("-o %s: can write .arrow, .feather, .arrows and - only", path)
}

// write writes the rows of a ticket to a file, or to stdout.
func write(ctx context.Context, std stdio, from target, t flightsrv.Ticket, path string) error {
	p := newProgress(std.err, t.Name, " rows")
	defer p.close()
	return writeTo(std, path, func(file *os.File) error {
		rows, err := from.scan(ctx, t)
		if err != nil {
			return err
		}
		defer rows.close()
		return writeRows(ctx, rows, file, path, t.Compression, p)
	})
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
	if err != nil || out == nil {
		return err
	}
	return out.keep()
}

// writeRows writes rows as the name of the output asks for.
func writeRows(ctx context.Context, rows rowStream, file *os.File, path string, packed flightsrv.Compression, p *progress) error {
	format, err := outputFormat(path)
	if err != nil {
		return err
	}
	options := []ipc.Option{ipc.WithSchema(rows.schema())}
	switch packed {
	case flightsrv.LZ4:
		options = append(options, ipc.WithLZ4())
	case flightsrv.Zstd:
		options = append(options, ipc.WithZstd())
	}
	if format == arrowStream {
		return copyRows(ctx, rows, ipc.NewWriter(file, options...), p)
	}
	w, err := ipc.NewFileWriter(file, options...)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return copyRows(ctx, rows, w, p)
}

// copyRows writes all rows and the end of the format.
func copyRows(ctx context.Context, rows rowStream, w recordWriter, p *progress) error {
	var done int64
	for {
		rec, err := rows.next(ctx)
		if errors.Is(err, io.EOF) {
			return w.Close()
		}
		if err != nil {
			return err
		}
		err = w.Write(rec)
		done += rec.NumRows()
		rec.Release()
		if err != nil {
			return err
		}
		p.set(done, rows.rows())
	}
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/localfile"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/result"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/sqlengine"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv/export"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// getConfig is the values of get's flags.
type getConfig struct {
	from                          target.Flags
	engine                        sqlengine.Flags // of --where
	out, where                    string
	columns                       []string
	bbox, rows, crs               string
	limit                         int64
	encoding, coords, compression string
	asJSON, asCSV                 bool
}

// headRows is how many rows get shows by default.
const headRows = 10

const getLong = `Read rows of a file, from a server or directly from the file.

Without -o, the first rows are shown as a table. With --json or --csv, all rows are printed, with
geometries as WKT. With -o, all rows are written in the format of the file's name:

` + result.FormatHelp + `

The selections apply in the order where, rows, bbox, limit. --where is a condition of SQL, such as
"height > 10 AND name LIKE 'A%'", over all columns of the file.`

func newGet(std output.Stdio) *cobra.Command {
	var c getConfig
	cmd := &cobra.Command{
		Use:   "get NAME|FILE",
		Short: "Show or write rows of a file",
		Long:  getLong,
		Example: `  # the first rows
  vibeflight get data/roads.geojson
  # some columns of the rows that meet a box, as GeoParquet
  vibeflight get data/roads.geojson --columns name,geometry --bbox -10,35,5,45 -o roads.parquet
  # the rows that meet a condition, as CSV
  vibeflight get data/roads.geojson --where "kind = 'primary' AND v > 100" --csv
  # an entry of a server, a JSON object per line
  vibeflight get roads.geojson --server grpc://127.0.0.1:8815 --limit 1000 --json
  # in another reference system
  vibeflight get data/roads.geojson --crs EPSG:3857 -o roads.fgb
  # for another program
  vibeflight get data/roads.geojson --csv | head -n 3`,
		Args: usage.OneArgument("name or file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(cmd.Flags(), std); err != nil {
				return err
			}
			t, err := c.ticket(cmd.Flags(), args[0])
			if err != nil {
				return err
			}
			from, err := c.from.Open(cmd.Flags())
			if err != nil {
				return err
			}
			defer from.Close()
			if local, ok := from.(*target.Local); ok && t.Where != "" {
				filter, err := sqlengine.OpenFilter(cmd.Context(), &c.engine)
				if err != nil {
					return err
				}
				defer filter.Close()
				local.Filter = filter.Rows
			}
			ask := func(p *output.Progress) (target.RowStream, error) { return from.Scan(cmd.Context(), t, p) }
			switch {
			case c.asJSON:
				return result.Print(cmd.Context(), std, t.Name, ask, export.NewJSONLines)
			case c.asCSV:
				return result.Print(cmd.Context(), std, t.Name, ask, export.NewCSV)
			case c.out == "":
				return result.ShowTicket(cmd.Context(), std, from, t)
			}
			return c.write(cmd.Context(), std, from, t, cmd.Flags().Changed("compression"))
		},
	}
	c.flags(cmd.Flags())
	return cmd
}

func (c *getConfig) flags(f *pflag.FlagSet) {
	f.StringVarP(&c.out, "output", "o", "", "`FILE` to write, or - for stdout")
	f.StringSliceVar(&c.columns, "columns", nil, "only these `COLUMNS`, in this order, separated by commas")
	f.StringVar(&c.where, "where", "", "only rows for which this SQL `CONDITION` over the columns is true")
	f.StringVar(&c.bbox, "bbox", "", "only rows whose bounding box meets `XMIN,YMIN,XMAX,YMAX`")
	f.StringVar(&c.crs, "crs", "", "geometries, and the box of --bbox, in the reference system `NAME`, such as "+
		"EPSG:3857; without a server only longitude and latitude, Web Mercator and UTM")
	f.StringVar(&c.rows, "rows", "", "only rows `FROM:TO` of the file, or of those that --where keeps, TO not "+
		"included; each may be left out")
	f.Int64Var(&c.limit, "limit", headRows, "maximum number of rows; without it, all rows with --json, --csv and -o")
	f.BoolVar(&c.asJSON, "json", false, "print a JSON object per line")
	f.BoolVar(&c.asCSV, "csv", false, "print CSV (RFC 4180) with a header; null is empty, and \"\" is an empty text")
	f.StringVar(&c.encoding, "geometry-encoding", "native",
		"geometries as native (GeoArrow), wkb or wkt; shown as wkt unless given")
	f.StringVar(&c.coords, "coords", "separated", "native coordinates: separated or interleaved")
	f.StringVar(&c.compression, "compression", "none",
		"of what is written (Arrow IPC; GeoParquet, which has zstd unless told) and of what a server sends: none, "+
			"lz4 or zstd")
	settings.Add(f, c.engine.DefineFilter)
	c.from.Define(f)
}

// check refuses combinations of flags that have no meaning.
func (c *getConfig) check(f *pflag.FlagSet, std output.Stdio) error {
	chosen := f.Changed("geometry-encoding") || f.Changed("coords")
	if c.from.Server.Address != "" {
		if err := target.RefuseFileFlags(f, "duckdb-extensions"); err != nil {
			return err
		}
	}
	if err := cmp.Or(
		usage.OneOf("geometry-encoding", c.encoding, "native", "wkb", "wkt"),
		usage.OneOf("coords", c.coords, "separated", "interleaved"),
		usage.OneOf("compression", c.compression, "none", "lz4", "zstd"),
	); err != nil {
		return err
	}
	switch {
	case usage.Several(c.asJSON, c.asCSV, c.out != ""):
		return usage.Errorf("want one of --json, --csv and -o")
	case c.out == "" && f.Changed("compression"):
		return usage.Errorf("--compression: needs -o")
	case (c.asJSON || c.asCSV) && chosen:
		return usage.Errorf("--json and --csv have geometries as WKT; --geometry-encoding and --coords are for " +
			"Arrow IPC")
	case c.out == "-" && output.IsTerminal(std.Out):
		return usage.Errorf("-o -: stdout is a terminal, which can't show Arrow's bytes")
	}
	return nil
}

// ticket makes a ticket of the flags. The reader of tickets checks it, so that files and servers
// refuse the same values.
func (c *getConfig) ticket(f *pflag.FlagSet, name string) (ticket.Ticket, error) {
	options, err := localfile.ParseOptions(c.from.Options)
	if err != nil {
		return ticket.Ticket{}, err
	}
	fields := map[string]any{
		"name": "-", "geometry_encoding": c.encoding, "coords": c.coords,
		"compression": c.compression, "options": options,
	}
	switch chosen := f.Changed("geometry-encoding") || f.Changed("coords"); {
	case c.asJSON || c.asCSV:
		fields["geometry_encoding"] = "wkb"
	case c.out == "" && !chosen:
		fields["geometry_encoding"] = "wkt"
	case c.out != "":
		format, err := result.FormatFor(c.out)
		if err != nil {
			return ticket.Ticket{}, err
		}
		if format.WKB && chosen {
			return ticket.Ticket{}, usage.Errorf(
				"-o %s: %s has geometries in its own way; --geometry-encoding and --coords are for Arrow IPC",
				c.out, format.Name,
			)
		}
		if format.WKB {
			fields["geometry_encoding"] = "wkb"
		}
	}
	if f.Changed("columns") {
		fields["columns"] = append([]string{}, c.columns...)
	}
	if c.out == "" && !c.asJSON && !c.asCSV || f.Changed("limit") {
		fields["limit"] = c.limit
	}
	if f.Changed("where") {
		fields["where"] = c.where
	}
	if f.Changed("bbox") {
		if fields["bbox"], err = parseBBox(c.bbox); err != nil {
			return ticket.Ticket{}, err
		}
	}
	if f.Changed("crs") {
		fields["crs"] = c.crs
	}
	if f.Changed("rows") {
		if fields["rows"], err = parseRows(c.rows); err != nil {
			return ticket.Ticket{}, err
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return ticket.Ticket{}, err
	}
	t, err := ticket.Parse(text)
	var field *ticket.Error
	if errors.As(err, &field) {
		return ticket.Ticket{}, usage.Errorf("--%s: %w", strings.ReplaceAll(field.Field, "_", "-"), field.Err)
	}
	if err != nil {
		return ticket.Ticket{}, err
	}
	t.Name = name // a path of this machine may be invalid UTF-8, which JSON can't hold
	return t, nil
}

// parseBBox reads "xmin,ymin,xmax,ymax". The reader of tickets checks the values, except NaN and
// infinity, which JSON can't hold.
func parseBBox(text string) ([]float64, error) {
	var box []float64
	for _, part := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, usage.Errorf("--bbox: %q is no number; want XMIN,YMIN,XMAX,YMAX", part)
		}
		box = append(box, v)
	}
	if len(box) != 4 {
		return nil, usage.Errorf("--bbox: want XMIN,YMIN,XMAX,YMAX, got %d numbers", len(box))
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
		return nil, usage.Errorf("--rows: %q is not FROM:TO", text)
	}
	return rows, nil
}

// write writes the rows of a ticket to a file, or to stdout.
func (c *getConfig) write(
	ctx context.Context, std output.Stdio, from target.Target, t ticket.Ticket, compressionGiven bool,
) error {
	format, err := result.FormatFor(c.out)
	if err != nil {
		return err
	}
	compression, err := result.CompressionFor(format, c.out, c.compression, compressionGiven)
	if err != nil {
		return err
	}
	if _, local := from.(*target.Local); local {
		if err := notItself(t.Name, c.out); err != nil {
			return err
		}
	}
	p := output.NewProgress(std.Err, t.Name, " rows")
	defer p.Close()
	return result.WriteTo(std, c.out, format, func(out []*os.File) error {
		rows, err := from.Scan(ctx, t, p)
		if err != nil {
			return err
		}
		defer rows.Close()
		return result.WriteRows(ctx, rows, out, c.out, format, compression, p)
	})
}

// notItself refuses to write a file over the one that is read.
func notItself(name, out string) error {
	path, _ := localfile.SplitLayer(name)
	in, err := os.Stat(path)
	if err != nil || out == "-" {
		return nil // the read gives a better error
	}
	if to, err := os.Stat(out); err == nil && os.SameFile(in, to) {
		return usage.Errorf("-o %s: is the file that is read; name another one", out)
	}
	return nil
}

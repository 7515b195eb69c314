package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/result"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/sqlengine"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv/export"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// sqlConfig is the values of sql's flags.
type sqlConfig struct {
	from   target.Flags
	engine sqlengine.Flags
	out    string
	asJSON bool
	asCSV  bool
	limit  int64 // -1: no limit

	compressionName string

	format      export.Format // of -o
	compression ticket.Compression
}

// tableRows is how many rows sql shows by default.
const tableRows = 100

const sqlLong = `Run an SQL query on a server, or on the files below the given folders, by default the current one.

The name of a table is that of its file, "roads.geojson", or without the extension if that is
unambiguous. A text after FROM or JOIN may be the URL of files, 's3://bucket/*.parquet'. A file in a
folder is "north/roads.geojson" or north."roads.geojson". The dialect is
DuckDB's. "-" reads the query from stdin.

Without -o, the first rows are shown as a table. With --json or --csv, all rows are printed, with
geometries as WKT. With -o, all rows are written in the format of the file's name:

` + result.FormatHelp

func newSQL(std output.Stdio) *cobra.Command {
	var c sqlConfig
	cmd := &cobra.Command{
		Use:   "sql QUERY [DIR|FILE…]",
		Short: "Run an SQL query",
		Long:  sqlLong,
		Example: `  vibeflight sql 'SELECT kind, count(*) AS n FROM roads GROUP BY kind ORDER BY n DESC' data
  # the answer as a file for other programs
  vibeflight sql 'SELECT name, geometry FROM "roads.geojson" WHERE v > 100' data -o large.geojson
  # a server answers
  vibeflight sql 'SELECT count(*) AS n FROM roads' --server grpc://127.0.0.1:8815 --json
  # a query in a file
  vibeflight sql - data <report.sql`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage.Errorf("want a query")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(cmd.Flags(), std, args); err != nil {
				return err
			}
			query, err := queryText(args[0], std.In)
			if err != nil {
				return err
			}
			return c.run(cmd.Context(), std, query, args[1:])
		},
	}
	c.flags(cmd.Flags())
	return cmd
}

func (c *sqlConfig) flags(f *pflag.FlagSet) {
	settings.Add(f, c.engine.Define)
	f.StringVarP(&c.out, "output", "o", "", "`FILE` to write, or - for stdout")
	f.BoolVar(&c.asJSON, "json", false, "print a JSON object per line")
	f.BoolVar(&c.asCSV, "csv", false, "print CSV (RFC 4180) with a header; null is empty, and \"\" is an empty text")
	f.Int64Var(&c.limit, "limit", tableRows, "maximum number of rows; without it, all rows with --json, --csv and -o")
	f.StringVar(&c.compressionName, "compression", "none",
		"of what -o writes: none, lz4 (Arrow IPC) or zstd (Arrow IPC and GeoParquet, of which it is the default)")
	c.from.Define(f)
}

// check refuses combinations of flags that have no meaning.
func (c *sqlConfig) check(f *pflag.FlagSet, std output.Stdio, args []string) error {
	if err := c.from.Server.Check(f); err != nil {
		return err
	}
	if err := usage.OneOf("compression", c.compressionName, "none", "lz4", "zstd"); err != nil {
		return err
	}
	switch {
	case usage.Several(c.asJSON, c.asCSV, c.out != ""):
		return usage.Errorf("want one of --json, --csv and -o")
	case f.Changed("limit") && c.limit < 0:
		return usage.Errorf("--limit: %d is negative", c.limit)
	case c.out == "" && f.Changed("compression"):
		return usage.Errorf("--compression: needs -o")
	case c.out == "-" && output.IsTerminal(std.Out):
		return usage.Errorf("-o -: stdout is a terminal, which can't show Arrow's bytes")
	case c.from.Server.Address != "" && len(args) > 1:
		return target.ServerOrPathsError(f, "a server has its own folders")
	}
	if c.out != "" {
		var err error
		if c.format, err = result.FormatFor(c.out); err != nil {
			return err
		}
		given := f.Changed("compression")
		if c.compression, err = result.CompressionFor(c.format, c.out, c.compressionName, given); err != nil {
			return err
		}
	}
	if (c.asJSON || c.asCSV || c.out != "") && !f.Changed("limit") {
		c.limit = -1
	}
	if c.from.Server.Address != "" {
		return target.RefuseFileFlags(f, "option")
	}
	return c.engine.Check()
}

// queryText returns the query in arg, or on stdin for "-".
func queryText(arg string, in *os.File) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	const limit = 1 << 20 // the limit of a server
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && len(text) > limit {
		err = fmt.Errorf("stdin: the query is longer than %v", units.Size(limit))
	}
	return string(text), err
}

// run runs the query and prints the result.
func (c *sqlConfig) run(ctx context.Context, std output.Stdio, query string, paths []string) error {
	from, err := c.open(ctx, paths, query)
	if err != nil {
		return err
	}
	defer from.Close()
	ask := func(limit int64) result.Query {
		return func(*output.Progress) (target.RowStream, error) {
			rows, err := from.Query(ctx, query)
			return result.Limit(rows, limit), queryError(err)
		}
	}
	switch {
	case c.out != "":
		return result.WriteFile(ctx, std, ask(c.limit), c.out, c.format, c.compression)
	case c.asJSON:
		return result.Print(ctx, std, "sql", ask(c.limit), export.NewJSONLines)
	case c.asCSV:
		return result.Print(ctx, std, "sql", ask(c.limit), export.NewCSV)
	}
	return result.ShowQuery(ctx, std, ask(-1), c.limit) // which says whether there are more
}

// queryError adds the position in the query to an error, if it is known.
func queryError(err error) error {
	var q *engine.Error
	if errors.As(err, &q) && q.Position >= 0 {
		return fmt.Errorf("byte %d of the query: %w", q.Position, err)
	}
	return err
}

// querier runs queries: a server, or an engine of this process.
type querier interface {
	Query(ctx context.Context, text string) (target.RowStream, error)
	Close()
}

func (c *sqlConfig) open(ctx context.Context, paths []string, query string) (querier, error) {
	if c.from.Server.Address != "" {
		return c.from.Server.Dial()
	}
	return sqlengine.OpenLocal(ctx, &c.engine, &c.from, paths, query)
}

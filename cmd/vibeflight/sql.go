package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/export"
	"github.com/vibeflight/vibeflight/flightsrv"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
)

// sqlConfig is what sql's flags say.
type sqlConfig struct {
	from   targetConfig
	engine engineConfig
	out    string
	asJSON bool
	asCSV  bool
	limit  int64 // -1: no limit

	packing string

	format export.Format // of -o
	packed flightsrv.Compression
}

// tableRows is how many rows sql shows unless it is told.
const tableRows = 100

const sqlLong = `Ask a question in SQL, of a server or straight of files: those below the folders that are named, below the current one if none is.

A table is a file by its name, "roads.geojson", or where that is clear without extension; a file in a folder is "north/roads.geojson" or north."roads.geojson".
The dialect is DuckDB's. "-" reads the query from stdin.

Without -o the first rows are shown as a table, or all of them printed with --json or --csv, geometries as WKT. With -o all rows are written, in the format that
the name asks for:

` + outputHelp

func newSQL(std stdio) *cobra.Command {
	var c sqlConfig
	cmd := &cobra.Command{
		Use:   "sql QUERY [DIR|FILE…]",
		Short: "Ask a question in SQL",
		Long:  sqlLong,
		Example: `  vibeflight sql 'SELECT kind, count(*) AS n FROM roads GROUP BY kind ORDER BY n DESC' data
  # the answer as a file for other programs
  vibeflight sql 'SELECT name, geometry FROM "roads.geojson" WHERE v > 100' data -o large.geojson
  # a server answers
  vibeflight sql 'SELECT count(*) AS n FROM roads' --server grpc://127.0.0.1:8815 --json
  # a query that stands in a file
  vibeflight sql - data <report.sql`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return wrongUsage("want a query")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(cmd.Flags(), std, args); err != nil {
				return err
			}
			query, err := queryText(args[0], std.in)
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
	settings(f, c.engine.flags)
	f.StringVarP(&c.out, "output", "o", "", "`FILE` to write, or - for stdout")
	f.BoolVar(&c.asJSON, "json", false, "print a JSON object a line")
	f.BoolVar(&c.asCSV, "csv", false, "print CSV (RFC 4180) with a header; nothing is null, and \"\" an empty text")
	f.Int64Var(&c.limit, "limit", tableRows, "at most so many rows; with --json, --csv and -o all, unless it is given")
	f.StringVar(&c.packing, "compression", "none",
		"of what -o writes: none, lz4 (Arrow IPC) or zstd (Arrow IPC and GeoParquet, of which it is the default)")
	c.from.flags(f)
}

// check refuses flags that do not go together.
func (c *sqlConfig) check(f *pflag.FlagSet, std stdio, args []string) error {
	if err := c.from.server.check(f); err != nil {
		return err
	}
	if err := oneOf("compression", c.packing, "none", "lz4", "zstd"); err != nil {
		return err
	}
	switch {
	case several(c.asJSON, c.asCSV, c.out != ""):
		return wrongUsage("want one of --json, --csv and -o")
	case f.Changed("limit") && c.limit < 0:
		return wrongUsage("--limit: %d is negative", c.limit)
	case c.out == "" && f.Changed("compression"):
		return wrongUsage("--compression: needs -o")
	case c.out == "-" && isTerminal(std.out):
		return wrongUsage("-o -: stdout is a terminal, which can't show Arrow's bytes")
	case c.from.server.address != "" && len(args) > 1:
		return serverOrPaths(f, "a server has its own folders")
	}
	if c.out != "" {
		var err error
		if c.format, err = outputFormat(c.out); err != nil {
			return err
		}
		if c.packed, err = filePacking(c.format, c.out, c.packing, f.Changed("compression")); err != nil {
			return err
		}
	}
	if (c.asJSON || c.asCSV || c.out != "") && !f.Changed("limit") {
		c.limit = -1
	}
	if c.from.server.address != "" {
		return refuseFileFlags(f, "option")
	}
	return c.engine.check()
}

// queryText is the query itself, or that on stdin.
func queryText(arg string, in *os.File) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	const most = 1 << 20 // a server takes no larger one
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("stdin: the query is longer than %v", byteSize(most))
	}
	return string(text), err
}

// run asks and prints the answer.
func (c *sqlConfig) run(ctx context.Context, std stdio, query string, paths []string) error {
	from, err := c.open(ctx, paths)
	if err != nil {
		return err
	}
	defer from.close()
	ask := func(limit int64) asking {
		return func(*progress) (rowStream, error) {
			rows, err := from.query(ctx, query)
			return limited(rows, limit), queryError(err)
		}
	}
	switch {
	case c.out != "":
		return writeAnswer(ctx, std, ask(c.limit), c.out, c.format, c.packed)
	case c.asJSON:
		return printAnswer(ctx, std, "sql", ask(c.limit), export.NewJSONLines)
	case c.asCSV:
		return printAnswer(ctx, std, "sql", ask(c.limit), export.NewCSV)
	}
	return showAnswer(ctx, std, ask(-1), c.limit) // which says whether there are more
}

// queryError is an error with the place in the query, where it is known.
func queryError(err error) error {
	var q *engine.Error
	if errors.As(err, &q) && q.Position >= 0 {
		return fmt.Errorf("byte %d of the query: %w", q.Position, err)
	}
	return err
}

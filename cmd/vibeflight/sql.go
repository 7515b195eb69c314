package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/prompt"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/result"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/sqlengine"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/sqltext"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv/export"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/readers/remote"
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

const sqlLong = `Run SQL on a server, or on the files below the given folders, by default the current one.

Without a query it is a prompt on a terminal, with history, completion and the commands that \? lists.
Otherwise it reads statements from stdin, each with a semicolon at its end, and stops at the first
error.

The name of a table is that of its file, "roads.geojson", or without the extension if that is
unambiguous. A text after FROM or JOIN may be the URL of files, 's3://bucket/*.parquet'. A file in a
folder is "north/roads.geojson" or north."roads.geojson". The dialect is
DuckDB's. "-" in place of the query is the same as none.

Without -o, the first rows are shown as a table. With --json or --csv, all rows are printed, with
geometries as WKT. With -o, all rows are written in the format of the file's name:

` + result.FormatHelp

func newSQL(std output.Stdio, lookup func(string) (string, bool)) *cobra.Command {
	var c sqlConfig
	cmd := &cobra.Command{
		Use:   "sql [QUERY] [DIR|FILE…]",
		Short: "Run SQL, or prompt for it",
		Long:  sqlLong,
		Example: `  vibeflight sql 'SELECT kind, count(*) AS n FROM roads GROUP BY kind ORDER BY n DESC' data
  # the answer as a file for other programs
  vibeflight sql 'SELECT name, geometry FROM "roads.geojson" WHERE v > 100' data -o large.geojson
  # a server answers
  vibeflight sql 'SELECT count(*) AS n FROM roads' --server grpc://127.0.0.1:8815 --json
  # a prompt over a folder
  vibeflight sql data
  # statements in a file
  vibeflight sql - data <report.sql`,
		RunE: func(cmd *cobra.Command, args []string) error {
			query, paths := queryAndPaths(args)
			if err := c.check(cmd.Flags(), std, paths); err != nil {
				return err
			}
			if query == nil {
				return c.session(cmd.Context(), std, lookup, paths)
			}
			return c.run(cmd.Context(), std, *query, paths)
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
func (c *sqlConfig) check(f *pflag.FlagSet, std output.Stdio, paths []string) error {
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
	case c.from.Server.Address != "" && len(paths) > 0:
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

// queryAndPaths divides the arguments. The query is the first one, unless that is a path or a URL; it
// is nil for "-", and without one.
func queryAndPaths(args []string) (query *string, paths []string) {
	switch {
	case len(args) == 0 || isPath(args[0]):
		return nil, args
	case args[0] == "-":
		return nil, args[1:]
	}
	return &args[0], args[1:]
}

// isPath reports whether an argument is a folder or a file, perhaps after ALIAS=, or a URL. No query
// is: it has a space.
func isPath(text string) bool {
	if strings.ContainsAny(text, " \t\n") {
		_, err := os.Stat(text)
		return err == nil
	}
	_, path, _ := strings.Cut(text, "=")
	for _, p := range []string{text, path} {
		if _, err := os.Stat(p); p != "" && err == nil || remote.IsURL(p) {
			return true
		}
	}
	return false
}

// run runs the statements of the command line, and prints their results.
func (c *sqlConfig) run(ctx context.Context, std output.Stdio, text string, paths []string) error {
	statements := sqltext.Split(text)
	switch {
	case len(statements) == 0:
		return usage.Errorf("want a query, got %q", text)
	case len(statements) > 1 && c.out != "":
		return usage.Errorf("-o %s: is for one statement, and the query has %d", c.out, len(statements))
	}
	from, err := c.open(paths)
	if err != nil {
		return err
	}
	defer from.Close()
	for _, one := range statements {
		ask := func(*output.Progress) (target.RowStream, error) { return from.Query(ctx, one.Text) }
		if err := c.show(ctx, std, ask, c.view()); err != nil {
			return sqltext.Explain(err, one.Text, one.Line, "")
		}
	}
	return nil
}

// view is how results are shown as tables.
func (c *sqlConfig) view() result.View {
	return result.View{Limit: c.limit, More: "--limit shows more"}
}

// show prints or writes the result of a statement.
func (c *sqlConfig) show(ctx context.Context, std output.Stdio, ask result.Query, view result.View) error {
	limited := func(p *output.Progress) (target.RowStream, error) {
		rows, err := ask(p)
		if err != nil {
			return nil, err
		}
		return result.Limit(rows, c.limit), nil
	}
	switch {
	case c.out != "":
		return result.WriteFile(ctx, std, limited, c.out, c.format, c.compression)
	case c.asJSON:
		return result.Print(ctx, std, "sql", limited, export.NewJSONLines)
	case c.asCSV:
		return result.Print(ctx, std, "sql", limited, export.NewCSV)
	}
	return result.ShowQuery(ctx, std, ask, view) // which says whether there are more
}

// session runs statements from a terminal or from stdin.
func (c *sqlConfig) session(ctx context.Context, std output.Stdio, lookup func(string) (string, bool),
	paths []string,
) error {
	terminal := output.IsTerminal(std.In) && output.IsTerminal(std.Out)
	if c.out != "" && terminal {
		return usage.Errorf(`-o %s: needs a query; at the prompt, \o %s writes the next result`, c.out, c.out)
	}
	if c.out != "" {
		text, err := io.ReadAll(std.In)
		if err != nil {
			return fmt.Errorf("stdin: %w", err)
		}
		return c.run(ctx, std, string(text), paths)
	}
	from, err := c.open(paths)
	if err != nil {
		return err
	}
	defer from.Close()
	s := &prompt.Session{Std: std, From: from, Source: c.source(paths), View: c.view(), Lookup: lookup}
	s.Show = func(ctx context.Context, ask result.Query, view result.View) error {
		return c.show(ctx, std, ask, view)
	}
	if !terminal {
		return s.RunInput(ctx, std.In)
	}
	s.View.Count, s.View.More = true, `\limit ROWS shows more, \o FILE writes all`
	s.View.Pager, _ = lookup("PAGER")
	return s.RunTerminal(ctx, thisBuild().Version)
}

// source is what answers, for people.
func (c *sqlConfig) source(paths []string) string {
	switch {
	case c.from.Server.Address != "":
		return c.from.Server.Address
	case len(paths) == 0:
		return "the current folder"
	}
	return strings.Join(paths, ", ")
}

// querier runs queries: a server, or an engine of this process.
type querier interface {
	prompt.Querier
	Close()
}

func (c *sqlConfig) open(paths []string) (querier, error) {
	if c.from.Server.Address != "" {
		return c.from.Server.Dial()
	}
	return &sqlengine.Folders{Engine: &c.engine, From: &c.from, Paths: paths}, nil
}

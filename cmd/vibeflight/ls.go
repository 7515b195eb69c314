package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

func newLs(std stdio) *cobra.Command {
	var (
		server         serverConfig
		prefix, format string
		asJSON         bool
	)
	cmd := &cobra.Command{
		Use:   "ls [PATH…]",
		Short: "List the files that can be read",
		Long: `List what a server has, or the files below folders of this machine (the current one where none is named).

Nothing is parsed: the rows of a server's entry are known once somebody has asked for it.`,
		Example: `  # the files below a folder, as a server would serve them
  vibeflight ls data
  # what a server has of a format, a JSON object a line
  vibeflight ls --server grpc://127.0.0.1:8815 --format geojson --json`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := server.check(cmd.Flags()); err != nil {
				return err
			}
			if server.address != "" && len(paths) > 0 {
				return serverOrPaths(cmd.Flags(), "--prefix chooses among a server's names")
			}
			leftOut := func(_ string, err error) {
				_, _ = fmt.Fprintf(std.err, "vibeflight: left out: %s\n", oneLine(reason(err)))
			}
			entries, err := ls(cmd.Context(), server, paths, prefix, format, leftOut)
			if err != nil {
				return err
			}
			if asJSON {
				for _, e := range entries {
					if err := writeJSON(std.out, e); err != nil {
						return err
					}
				}
				return nil
			}
			g := entryGrid(entries)
			_, err = g.write(std.out, 0)
			return err
		},
	}
	f := cmd.Flags()
	settings(f, server.flags)
	f.StringVar(&prefix, "prefix", "", "only names that start so")
	f.StringVar(&format, "format", "", "only files of this format, as geojson")
	f.BoolVar(&asJSON, "json", false, "print a JSON object a line")
	return cmd
}

// ls lists a server, or files, in the order of their names. leftOut hears of folders that may not
// be read.
func ls(
	ctx context.Context, server serverConfig, paths []string, prefix, format string,
	leftOut func(path string, err error),
) ([]entry, error) {
	var entries []entry
	if server.address != "" {
		r, err := server.dial()
		if err != nil {
			return nil, err
		}
		defer r.close()
		if entries, err = r.list(ctx, prefix, format); err != nil {
			return nil, err
		}
	} else {
		if len(paths) == 0 {
			paths = []string{"."}
		}
		l := newLocal(readers.Limits{}, source.Unpacking{})
		l.leftOut = leftOut
		for _, path := range paths {
			found, err := l.walk(ctx, path, prefix, format)
			if err != nil {
				return nil, err
			}
			entries = append(entries, found...)
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.Name, b.Name) })
	return entries, nil
}

// entryGrid has the columns of which something is known.
func entryGrid(entries []entry) *grid {
	g := &grid{}
	column := func(name string, right bool, cell func(entry) string) {
		for _, e := range entries {
			if cell(e) == "" {
				continue
			}
			g.header, g.right = append(g.header, name), append(g.right, right)
			for i, e := range entries {
				g.rows[i] = append(g.rows[i], oneLine(cell(e)))
			}
			return
		}
	}
	g.rows = make([][]string, len(entries))
	column("NAME", false, func(e entry) string { return e.Name })
	column("FORMAT", false, func(e entry) string { return e.Format })
	column("SIZE", true, func(e entry) string { return orEmpty(e.Bytes, humanBytes) })
	column("ROWS", true, func(e entry) string { return orEmpty(e.Rows, humanCount) })
	column("MODIFIED", false, func(e entry) string {
		return orEmpty(e.Modified, func(t time.Time) string { return t.Format(time.DateTime) })
	})
	return g
}

// orEmpty is the text of what v points to, or "".
func orEmpty[T any](v *T, text func(T) string) string {
	if v == nil {
		return ""
	}
	return text(*v)
}

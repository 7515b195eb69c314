package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
)

func newLs(std output.Stdio) *cobra.Command {
	var (
		server         target.Server
		prefix, format string
		asJSON         bool
	)
	cmd := &cobra.Command{
		Use:   "ls [PATH…]",
		Short: "List the files that can be read",
		Long: `List the entries of a server, or the files below folders of this machine, by default the current
one.

Nothing is parsed. The number of rows of a server's entry is known after its first use.`,
		Example: `  # the files below a folder, as a server would serve them
  vibeflight ls data
  # what a server has of a format, a JSON object per line
  vibeflight ls --server grpc://127.0.0.1:8815 --format geojson --json`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := server.Check(cmd.Flags()); err != nil {
				return err
			}
			if server.Address != "" && len(paths) > 0 {
				return target.ServerOrPathsError(cmd.Flags(), "--prefix chooses among a server's names")
			}
			leftOut := func(_ string, err error) {
				_, _ = fmt.Fprintf(std.Err, "vibeflight: left out: %s\n", output.OneLine(output.ErrorText(err)))
			}
			entries, err := target.List(cmd.Context(), server, paths, prefix, format, leftOut)
			if err != nil {
				return err
			}
			if asJSON {
				for _, e := range entries {
					if err := output.WriteJSON(std.Out, e); err != nil {
						return err
					}
				}
				return nil
			}
			g := entryGrid(entries)
			_, err = g.Write(std.Out, 0)
			return err
		},
	}
	f := cmd.Flags()
	settings.Add(f, server.Define)
	f.StringVar(&prefix, "prefix", "", "only names with this prefix")
	f.StringVar(&format, "format", "", "only files of this format, as geojson")
	f.BoolVar(&asJSON, "json", false, "print a JSON object per line")
	return cmd
}

// entryGrid makes a grid of the columns that have a value.
func entryGrid(entries []target.Entry) *output.Grid {
	g := &output.Grid{}
	column := func(name string, right bool, cell func(target.Entry) string) {
		for _, e := range entries {
			if cell(e) == "" {
				continue
			}
			g.Header, g.Right = append(g.Header, name), append(g.Right, right)
			for i, e := range entries {
				g.Rows[i] = append(g.Rows[i], output.OneLine(cell(e)))
			}
			return
		}
	}
	g.Rows = make([][]string, len(entries))
	column("NAME", false, func(e target.Entry) string { return e.Name })
	column("FORMAT", false, func(e target.Entry) string { return e.Format })
	column("SIZE", true, func(e target.Entry) string { return orEmpty(e.Bytes, units.Bytes) })
	column("ROWS", true, func(e target.Entry) string { return orEmpty(e.Rows, units.Count) })
	column("MODIFIED", false, func(e target.Entry) string {
		return orEmpty(e.Modified, func(t time.Time) string { return t.Format(time.DateTime) })
	})
	return g
}

// orEmpty returns the text of the value that v points to; "" for nil.
func orEmpty[T any](v *T, text func(T) string) string {
	if v == nil {
		return ""
	}
	return text(*v)
}

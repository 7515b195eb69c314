package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/readers/all"
)

const cacheLsLong = `List the parsed tables in the cache folder of servers, the most recently used first.

Each line has the first characters of the table's name in the folder, the time of its last use, its
rows, its size on disk, and the file that it was parsed from. The last line is the number of tables
and their total size.`

const cacheClearLong = `Remove the parsed tables in the cache folder of servers.

Servers may be running: a table in use stays readable for them. Only the time of parsing again is
lost.`

const cacheLong = `List or remove the tables in the cache folder, in which servers keep parsed tables.

Servers may be running: a table in use stays readable for them. Only the time of parsing again is
lost.`

func newCache(std output.Stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use: "cache", Short: "List or clear the tables that servers have parsed",
		Long: cacheLong, Args: usage.NoArguments,
	}
	cmd.AddCommand(newCacheLs(std), newCacheClear(std))
	for _, sub := range cmd.Commands() {
		sub.PreRunE = func(cmd *cobra.Command, _ []string) error { return cacheFolder(cmd.Flags()) }
	}
	cmd.RunE = func(*cobra.Command, []string) error { return usage.Errorf("want ls or clear") }
	return cmd
}

// cacheOf adds the setting of the cache that a command reads.
func cacheOf(cmd *cobra.Command, dir *string) {
	settings.Add(cmd.Flags(), func(f *pflag.FlagSet) { settings.CacheDirFlag(f, dir, "`folder` of the cache") })
}

// cacheFolder returns an error if the folder does not exist: reading a cache creates none.
func cacheFolder(f *pflag.FlagSet) error {
	dir := f.Lookup("cache-dir").Value.String()
	if dir == "" || dir == settings.NoCache {
		return usage.Errorf("--cache-dir: say which folder")
	}
	_, err := os.Stat(dir)
	return err
}

func newCacheLs(std output.Stdio) *cobra.Command {
	var dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "ls", Short: "List the parsed tables of the cache, those used last first", Long: cacheLsLong,
		Args:    usage.NoArguments,
		Example: "  vibeflight cache ls --cache-dir /var/cache/vibeflight",
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := output.NewLog(std.Err, "warn", "auto")
			if err != nil {
				return err
			}
			tables, err := catalog.ListCache(cmd.Context(), dir, all.Formats(), log)
			if err != nil {
				return err
			}
			if asJSON {
				for _, t := range tables {
					if err := output.WriteJSON(std.Out, t); err != nil {
						return err
					}
				}
				return nil
			}
			g := &output.Grid{
				Header: []string{"TABLE", "USED", "ROWS", "SIZE", "FILE"},
				Right:  []bool{false, false, true, true, false},
			}
			var bytes int64
			for _, t := range tables {
				bytes += t.Bytes
				rows := ""
				if t.File != "" {
					rows = units.Count(t.Rows)
				}
				file := t.File
				if t.Layer != "" {
					file += "#" + t.Layer
				}
				g.Rows = append(g.Rows, []string{
					t.Key[:12], t.Used.Format(time.DateTime), rows,
					units.Bytes(t.Bytes), output.OneLine(file),
				})
			}
			if _, err = g.Write(std.Out, 0); err != nil {
				return err
			}
			_, err = fmt.Fprintf(std.Out, "%s, %s\n", units.Counted(int64(len(tables)), "table"), units.Bytes(bytes))
			return err
		},
	}
	cacheOf(cmd, &dir)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object per line")
	return cmd
}

func newCacheClear(std output.Stdio) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "clear", Short: "Remove the parsed tables of the cache", Long: cacheClearLong, Args: usage.NoArguments,
		Example: "  vibeflight cache clear --cache-dir /var/cache/vibeflight",
		RunE: func(*cobra.Command, []string) error {
			log, err := output.NewLog(std.Err, "warn", "auto")
			if err != nil {
				return err
			}
			tables, bytes, err := catalog.ClearCache(dir, log)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(std.Out, "removed %s, %s\n", units.Counted(int64(tables), "table"), units.Bytes(bytes))
			return err
		},
	}
	cacheOf(cmd, &dir)
	return cmd
}

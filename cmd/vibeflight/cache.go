package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers/all"
)

const cacheLsLong = `List the parsed tables of the folder where servers keep them, those used last first: the beginning of the table's name there, when it was used, its rows, its size on
the disk, and the file that it was parsed from. The last line is the number of tables and their size.`

const cacheClearLong = `Remove the parsed tables of the folder where servers keep them.

Servers may be running: a table that one of them uses stays readable for it. Nothing is lost by clearing but the time of parsing again.`

const cacheLong = `Look at the folder where servers keep parsed tables, or empty it.

Servers may be running: a table that one of them uses stays readable for it. Nothing is lost by clearing but the time of parsing again.`

func newCache(std stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use: "cache", Short: "List or clear the tables that servers have parsed",
		Long: cacheLong, Args: noArguments,
	}
	cmd.AddCommand(newCacheLs(std), newCacheClear(std))
	for _, sub := range cmd.Commands() {
		sub.PreRunE = func(cmd *cobra.Command, _ []string) error { return cacheFolder(cmd.Flags()) }
	}
	cmd.RunE = func(*cobra.Command, []string) error { return wrongUsage("want ls or clear") }
	return cmd
}

// cacheDirFlag adds --cache-dir. Its help says where the default is in words: the folder itself is
// another one for each user.
func cacheDirFlag(f *pflag.FlagSet, dir *string, usage string) {
	f.StringVar(dir, "cache-dir", defaultCacheDir(), usage+" (default: vibeflight in $XDG_CACHE_HOME or ~/.cache)")
	f.Lookup("cache-dir").DefValue = ""
}

// cacheOf adds the setting of the cache that a command looks at.
func cacheOf(cmd *cobra.Command, dir *string) {
	settings(cmd.Flags(), func(f *pflag.FlagSet) { cacheDirFlag(f, dir, "`folder` of the cache") })
}

// cacheFolder makes sure that the folder is there: looking at a cache makes none.
func cacheFolder(f *pflag.FlagSet) error {
	dir := f.Lookup("cache-dir").Value.String()
	if dir == "" || dir == noCache {
		return wrongUsage("--cache-dir: say which folder")
	}
	_, err := os.Stat(dir)
	return err
}

func newCacheLs(std stdio) *cobra.Command {
	var dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "ls", Short: "List the parsed tables of the cache, those used last first", Long: cacheLsLong,
		Args:    noArguments,
		Example: "  vibeflight cache ls --cache-dir /var/cache/vibeflight",
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := newLog(std.err, "warn", "auto")
			if err != nil {
				return err
			}
			tables, err := catalog.ListCache(cmd.Context(), dir, all.Formats(), log)
			if err != nil {
				return err
			}
			if asJSON {
				for _, t := range tables {
					if err := writeJSON(std.out, t); err != nil {
						return err
					}
				}
				return nil
			}
			g := &grid{
				header: []string{"TABLE", "USED", "ROWS", "SIZE", "FILE"},
				right:  []bool{false, false, true, true, false},
			}
			var bytes int64
			for _, t := range tables {
				bytes += t.Bytes
				rows := ""
				if t.File != "" {
					rows = humanCount(t.Rows)
				}
				file := t.File
				if t.Layer != "" {
					file += "#" + t.Layer
				}
				g.rows = append(g.rows, []string{
					t.Key[:12], t.Used.Format(time.DateTime), rows,
					humanBytes(t.Bytes), oneLine(file),
				})
			}
			if _, err = g.write(std.out, 0); err != nil {
				return err
			}
			_, err = fmt.Fprintf(std.out, "%s, %s\n", counted(int64(len(tables)), "table"), humanBytes(bytes))
			return err
		},
	}
	cacheOf(cmd, &dir)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object a line")
	return cmd
}

func newCacheClear(std stdio) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "clear", Short: "Remove the parsed tables of the cache", Long: cacheClearLong, Args: noArguments,
		Example: "  vibeflight cache clear --cache-dir /var/cache/vibeflight",
		RunE: func(*cobra.Command, []string) error {
			log, err := newLog(std.err, "warn", "auto")
			if err != nil {
				return err
			}
			tables, bytes, err := catalog.ClearCache(dir, log)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(std.out, "removed %s, %s\n", counted(int64(tables), "table"), humanBytes(bytes))
			return err
		},
	}
	cacheOf(cmd, &dir)
	return cmd
}

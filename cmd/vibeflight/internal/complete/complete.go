// Package complete completes the command line in a shell: the names of a server's entries, files,
// columns, options, and values of flags.
package complete

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/gen"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/localfile"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/server"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/source"
)

// completeWithin is the maximum time for an answer of a server or a file.
const completeWithin = 2 * time.Second

// completer completes arguments and flags.
type completer struct {
	lookup func(string) (string, bool) // of the environment
}

// fixed are the flags with a fixed set of values.
var fixed = map[string][]string{
	"compression": {"none", "lz4", "zstd"}, "geometry-encoding": {"native", "wkb", "wkt"},
	"coords":    {"separated", "interleaved"},
	"log-level": {"trace", "debug", "info", "warn", "error"}, "log-format": {"auto", "console", "json"},
	"on-error": {"fail", "skip", "null", "repair"},
}

// folders are the flags whose value is a folder.
var folders = []string{"cache-dir", "unlisted", "sql-spill-dir", "duckdb-extensions"}

// Register sets the completions of all commands below root.
func Register(root *cobra.Command, lookup func(string) (string, bool)) {
	c := &completer{lookup}
	arguments := map[string]cobra.CompletionFunc{
		"ls": c.paths, "serve": files, "get": c.name, "info": c.name, "sql": c.afterQuery, "gen": kinds, "bench": files,
		"completion": nil, "man": files,
	}
	for _, cmd := range root.Commands() {
		known, ok := arguments[cmd.Name()]
		if !ok {
			known = cobra.NoFileCompletions
		}
		if len(cmd.ValidArgs) == 0 {
			cmd.ValidArgsFunction = known
		}
		for _, cmd := range append(cmd.Commands(), cmd) {
			cmd.Flags().VisitAll(func(f *pflag.Flag) { c.flag(cmd, f) })
		}
	}
}

// flag sets the completion of a flag's value. Shells complete other texts as files.
func (c *completer) flag(cmd *cobra.Command, f *pflag.Flag) {
	var values cobra.CompletionFunc
	switch {
	case f.Name == "engine" && cmd.Name() == "bench":
		values = fixedValues("cpu", "cuda", "cpu,cuda")
	case f.Name == "engine":
		values = fixedValues(server.EngineNames...)
	case fixed[f.Name] != nil:
		values = fixedValues(fixed[f.Name]...)
	case slices.Contains(folders, f.Name):
		values = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case f.Name == "data":
		values = files
	case f.Name == "columns":
		values = c.columns
	case f.Name == "option":
		values = c.options
	case f.Name == "format":
		values = formats
	case f.Name == "prefix":
		values = c.prefix
	case f.Name == "bbox" || f.Name == "rows" || f.Name == "server" || f.Value.Type() != "string":
		values = cobra.NoFileCompletions
	default:
		return
	}
	// It fails only for a flag that already has a completion.
	_ = cmd.RegisterFlagCompletionFunc(f.Name, values)
}

func fixedValues(values ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

func files(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func kinds(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return gen.Kinds(), cobra.ShellCompDirectiveNoFileComp
}

func formats(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, f := range all.Formats() {
		names = append(names, cobra.CompletionWithDesc(f.Name, strings.Join(f.Extensions, " ")))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// server returns the server of the command line or the environment.
func (c *completer) server(cmd *cobra.Command) target.Server {
	f := cmd.Flags()
	if settings.FromEnvironment(f, c.lookup) != nil {
		return target.Server{}
	}
	value := func(name string) string {
		if flag := f.Lookup(name); flag != nil {
			return flag.Value.String()
		}
		return ""
	}
	return target.Server{
		Address: value("server"), CA: value("tls-ca"), Unverified: value("tls-insecure") == "true",
		ClientCert: value("tls-client-cert"), ClientKey: value("tls-client-key"),
		Login: target.Login{User: value("user"), Password: value("password"), Token: value("token"), Silent: true},
	}
}

// serverEntries returns the entries of a server whose names begin with prefix.
func serverEntries(cmd *cobra.Command, server target.Server, prefix string) []target.Entry {
	ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
	defer cancel()
	entries, err := target.List(ctx, server, nil, prefix, "", nil)
	if err != nil {
		cobra.CompDebugln(err.Error(), false)
	}
	return entries
}

// paths completes ls: a server has no paths.
func (c *completer) paths(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if c.server(cmd).Address != "" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// name completes NAME|FILE.
func (c *completer) name(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective,
) {
	server := c.server(cmd)
	switch {
	case len(args) > 0:
		return nil, cobra.ShellCompDirectiveNoFileComp
	case server.Address == "":
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []cobra.Completion
	for _, e := range serverEntries(cmd, server, typed) {
		names = append(names, cobra.CompletionWithDesc(e.Name, e.Format))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// prefix completes the folders of a server's names, one level at a time.
func (c *completer) prefix(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective,
) {
	server := c.server(cmd)
	if server.Address == "" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []cobra.Completion
	for _, e := range serverEntries(cmd, server, typed) {
		if folder, _, ok := strings.Cut(e.Name[len(typed):], "/"); ok {
			found = append(found, typed+folder+"/")
		}
	}
	return slices.Compact(found), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// afterQuery completes the folders after a query.
func (c *completer) afterQuery(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective,
) {
	if len(args) == 0 || c.server(cmd).Address != "" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// columns completes the last of several columns from the named file.
func (c *completer) columns(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective,
) {
	const no = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	if len(args) == 0 {
		return nil, no
	}
	chosen := strings.Split(typed, ",")
	chosen = chosen[:len(chosen)-1]
	ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
	defer cancel()
	d, err := c.describe(ctx, cmd, args[0])
	if err != nil {
		cobra.CompDebugln(err.Error(), false)
		return nil, no
	}
	var names []cobra.Completion
	for _, column := range d.Columns {
		// A name with a comma or a quote would need quotes.
		if !slices.Contains(chosen, column.Name) && !strings.ContainsAny(column.Name, ",\"\t\n") {
			names = append(names, cobra.CompletionWithDesc(strings.Join(append(slices.Clone(chosen), column.Name), ","),
				column.TypeName()))
		}
	}
	return names, no
}

func (c *completer) describe(ctx context.Context, cmd *cobra.Command, name string) (*metadata.Description, error) {
	given, err := cmd.Flags().GetStringArray("option")
	if err != nil { // bench has options and no server
		return nil, err
	}
	options, err := localfile.ParseOptions(given)
	if err != nil {
		return nil, err
	}
	var from target.Target = target.NewLocal(readers.Limits{}, source.UnpackOptions{})
	if server := c.server(cmd); server.Address != "" {
		if from, err = server.Dial(); err != nil {
			return nil, err
		}
	}
	defer from.Close()
	return from.Describe(ctx, name, options, &output.Progress{})
}

// options completes KEY=VALUE for the format of the named file, or for all formats if it is
// unknown.
func (c *completer) options(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective,
) {
	known := append(slices.Clone(readers.CommonOptions), formatOption())
	for _, f := range c.formatsOf(cmd, args) {
		for _, o := range f.Options {
			if !slices.ContainsFunc(known, func(k readers.Option) bool { return k.Name == o.Name }) {
				known = append(known, o)
			}
		}
	}
	key, _, valued := strings.Cut(typed, "=")
	var found []cobra.Completion
	for _, o := range known {
		switch {
		case !valued:
			found = append(found, cobra.CompletionWithDesc(o.Name+"=", o.Doc))
		case o.Name == key:
			for _, v := range o.Values {
				found = append(found, key+"="+v)
			}
			return found, cobra.ShellCompDirectiveNoFileComp
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// formatOption is the option that sets the format.
func formatOption() readers.Option {
	o := readers.Option{Name: readers.OptionFormat, Doc: "the format of the file, whatever its name says"}
	for _, f := range all.Formats() {
		o.Values = append(o.Values, f.Name)
	}
	return o
}

// formatsOf returns the format of the named file, or all formats.
func (c *completer) formatsOf(cmd *cobra.Command, args []string) readers.Registry {
	known := all.Formats()
	if len(args) == 0 || cmd.Name() == "sql" {
		return known
	}
	name := ""
	if server := c.server(cmd); server.Address != "" {
		for _, e := range serverEntries(cmd, server, args[0]) {
			if e.Name == args[0] {
				name = e.Format
			}
		}
	} else if info, err := os.Stat(args[0]); err == nil && info.Mode().IsRegular() {
		if f, err := localfile.Detect(cmd.Context(), args[0]); err == nil {
			name = f.Name
		}
	}
	if f, ok := known.ByName(name); ok {
		return readers.Registry{f}
	}
	return known
}

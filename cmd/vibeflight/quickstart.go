package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/quickstart"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/server"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv"
	"github.com/vibeflight/vibeflight/flightsrv/web"
)

// quickstartFolder is where the sample data is written by default.
const quickstartFolder = "vibeflight-data"

func newQuickstart(std output.Stdio, lookup func(string) (string, bool)) *cobra.Command {
	var noBrowser bool
	cmd := &cobra.Command{
		Use:   "quickstart [FOLDER]",
		Short: "Serve sample data, and show how to read it",
		Long: `Write the countries of Natural Earth to a folder, by default ` + quickstartFolder + `, and serve the
folder to programs of this machine, with HTTP and the console.

It opens the console in a browser, and prints programs to paste that read the data. Other ports are
used if those of serve are taken. Ctrl-C ends it; the folder stays.`,
		Example: `  vibeflight quickstart
  # the files of a folder of your own, in addition to the sample
  vibeflight quickstart ~/geodata --no-browser`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage.Errorf("want one folder, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			folder := quickstartFolder
			if len(args) == 1 {
				folder = args[0]
			}
			return runQuickstart(cmd, std, lookup, folder, !noBrowser)
		},
	}
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "do not open the console in a browser")
	return cmd
}

func runQuickstart(cmd *cobra.Command, std output.Stdio, lookup func(string) (string, bool), folder string,
	browse bool,
) error {
	written, err := quickstart.WriteSample(folder)
	if err != nil {
		return err
	}
	flight, err := quickstart.Address(flightsrv.DefaultListen)
	if err != nil {
		return err
	}
	http, err := quickstart.Address(web.DefaultAddress)
	if err != nil {
		return err
	}
	path, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	c := server.Config{Version: thisBuild().Version}
	f := pflag.NewFlagSet("quickstart", pflag.ContinueOnError)
	settings.Add(f, c.Define)
	for name, value := range map[string]string{"listen": flight, "http": http, "log-level": "warn"} {
		if err := f.Set(name, value); err != nil {
			return err
		}
	}
	c.Data = []string{path} // not by the flag: a path may have "="
	if strings.Contains(path, "=") {
		c.Data = []string{"sample=" + path}
	}
	c.Ready = func(address, console string) {
		fate := "is there already"
		if written {
			fate = "is written"
		}
		_, _ = fmt.Fprintf(std.Out, "%s %s: the countries of Natural Earth, public domain\nserving %s at %s\n"+
			"console at %s\n\n%s", filepath.Join(folder, quickstart.SampleFile), fate, folder, address, console,
			quickstart.Text(quickstart.Snippets(address, console)))
		if browse && quickstart.OpenBrowser(console, lookup) {
			_, _ = fmt.Fprintln(std.Out, "the console is open in the browser")
		}
		_, _ = fmt.Fprintln(std.Out, "Ctrl-C ends it")
	}
	if err := c.Check(); err != nil {
		return err
	}
	log, err := output.NewLog(std.Err, c.LogLevel, c.LogFormat)
	if err != nil {
		return err
	}
	return server.Serve(cmd.Context(), &c, log)
}

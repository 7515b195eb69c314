package main

import (
	"github.com/spf13/cobra"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/server"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/readers/all"
)

const serveLong = `Serve the geospatial files of folders as Arrow tables over Arrow Flight.

Arguments are folders or files, like those of --data; without any, and without a setting that says
what to serve, it is the current folder. Then the server prints its address on standard output, and a
folder without a file that can be read is an error.

Each flag has an environment variable: VIBEFLIGHT_ and its name in upper case with "_" for "-", as
VIBEFLIGHT_MAX_DEPTH=64. There, the values of a flag that may repeat are separated by commas. --config
names a file with settings. The command line has precedence over the environment, and the
environment over the file.

SIGINT and SIGTERM end the server after the calls in progress; a second signal ends it at once.`

func newServe(std output.Stdio) *cobra.Command {
	c := server.Config{Version: thisBuild().Version, Stdio: std}
	cmd := &cobra.Command{
		Use:   "serve [FOLDER…]",
		Short: "Serve the files of folders over Arrow Flight",
		Long:  serveLong,
		Example: `  # the files of the current folder, for programs of this machine
  vibeflight serve
  # two folders, the second one under a name
  vibeflight serve data west=/srv/west
  # two folders, the second one under a name, on a unix socket
  vibeflight serve --data data --data west=/srv/west --listen unix:///run/vibeflight.sock --memory 8GiB
  # many files as one table
  vibeflight serve --dataset 'all=data/**/*.geojson'
  # settings from a file
  vibeflight serve --config vibeflight.toml
  # settings from the environment
  VIBEFLIGHT_DATA=data,west=/srv/west VIBEFLIGHT_LOG_FORMAT=json vibeflight serve`,
		Args: func(cmd *cobra.Command, args []string) error { return c.Arguments(cmd.Flags(), args) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.Config != "" {
				var err error
				if c.File, err = settings.FromFile(cmd.Flags(), c.Config, all.Formats()); err != nil {
					return err
				}
			}
			c.UseCurrentFolder()
			if err := c.Check(); err != nil {
				return err
			}
			log, err := output.NewLog(std.Err, c.LogLevel, c.LogFormat)
			if err != nil {
				return err
			}
			return server.Serve(cmd.Context(), &c, log)
		},
	}
	settings.Add(cmd.Flags(), c.Define)
	return cmd
}

package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/doctor"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/server"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/readers/all"
)

const doctorLong = `Report what this machine has for the server, and what to do about what is missing.

It examines cores and memory, open files and watched folders, the data folders and addresses of
serve, the SQL engine, the driver, GPUs and run-time compiler, the cache folder, and the folder for
temporary files.

ok   it exists; there may be advice below
--   it is missing, and the server works without: without a GPU the CPU parses files to the same tables
!!   serve would not start; the exit status is 1

The settings are those of serve, from the command line, the environment and --config.`

// doctorFlags are the flags of the command.
type doctorFlags struct {
	serve   server.Config // all of serve's flags; the command has some, and --config may set all
	nvrtc   string
	compile bool
	asJSON  bool
}

func newDoctor(std output.Stdio) *cobra.Command {
	var c doctorFlags
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check what this machine has for the server, and what is missing", Long: doctorLong,
		Args: usage.NoArguments,
		Example: "  vibeflight doctor\n  # for what serve is started with; for a script\n  vibeflight doctor " +
			"--config vibeflight.toml --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.configure(all); err != nil {
				return err
			}
			check := doctor.Checkup{Serve: &c.serve, NVRTC: c.nvrtc, Compile: c.compile, Build: thisBuild().String()}
			findings := check.Examine(cmd.Context())
			if err := doctor.WriteFindings(std.Out, findings, c.asJSON); err != nil {
				return err
			}
			return doctor.Fatal(findings)
		},
	}
	settings.Add(all, c.serve.Define)
	for _, name := range []string{
		"config", "data", "listen", "tls-cert", "tls-key", "engine", "cache-dir",
		"cache-bytes", "duckdb-extensions",
	} {
		cmd.Flags().AddFlag(all.Lookup(name))
	}
	settings.Add(cmd.Flags(), func(f *pflag.FlagSet) {
		f.StringVar(&c.nvrtc, "nvrtc", "", "`library` of the run-time compiler (default: where the loader and "+
			"CUDA's installers put it)")
	})
	cmd.Flags().BoolVar(&c.compile, "compile", false,
		"compile every kernel for each GPU now, into the cache folder, so that the first start finds them")
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "print a JSON object per line")
	return cmd
}

// configure reads the file of --config into all of serve's flags.
func (c *doctorFlags) configure(flags *pflag.FlagSet) error {
	if err := usage.OneOf("engine", c.serve.Engine, server.EngineNames...); err != nil {
		return err
	}
	if c.serve.Config == "" {
		return nil
	}
	_, err := settings.FromFile(flags, c.serve.Config, all.Formats())
	return err
}

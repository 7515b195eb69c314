package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
	"github.com/vibeflight/vibeflight/flightsrv/sql/worker"
	"github.com/vibeflight/vibeflight/readers/all"
)

const doctorLong = `Say what this machine has for the server, and what to do about what is missing: cores and memory, open files and watched folders, the data folders and addresses of
serve, the SQL engine, driver, GPUs and run-time compiler, the cache folder and the one for temporary files.

ok   it is there; advice may stand below it
--   it is missing, and the server does without: without a GPU files are parsed on the processor, with the same tables
!!   serve would not start like this; then the exit status is 1

Its settings are those of serve, from the command line, the environment and --config.`

// finding is one thing that was looked for.
type finding struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Fatal  bool   `json:"fatal,omitempty"`  // serve would not start
	Found  string `json:"found"`            // what it is, or why it is missing
	Advice string `json:"advice,omitempty"` // what to do about it
}

// doctor is the flags of the command.
type doctor struct {
	serve   serveConfig // of which flags sets some, and --config all
	nvrtc   string
	compile bool
	asJSON  bool
}

func newDoctor(std stdio) *cobra.Command {
	var c doctor
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd := &cobra.Command{
		Use: "doctor", Short: "Say what this machine has for the server, and what is missing", Long: doctorLong,
		Args: noArguments,
		Example: "  vibeflight doctor\n  # for what serve is started with; for a script\n  vibeflight doctor " +
			"--config vibeflight.toml --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.configure(all); err != nil {
				return err
			}
			findings := c.examine(cmd.Context())
			if err := writeFindings(std.out, findings, c.asJSON); err != nil {
				return err
			}
			return fatal(findings)
		},
	}
	settings(all, c.serve.flags)
	for _, name := range []string{
		"config", "data", "listen", "tls-cert", "tls-key", "engine", "cache-dir",
		"cache-bytes", "duckdb-extensions",
	} {
		cmd.Flags().AddFlag(all.Lookup(name))
	}
	settings(cmd.Flags(), func(f *pflag.FlagSet) {
		f.StringVar(&c.nvrtc, "nvrtc", "", "`library` of the run-time compiler (default: where the loader and "+
			"CUDA's installers put it)")
	})
	cmd.Flags().BoolVar(&c.compile, "compile", false,
		"compile every kernel for each GPU now, into the cache folder, so that the first start finds them")
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "print a JSON object a line")
	return cmd
}

// configure reads the file that --config names into all of serve's flags.
func (c *doctor) configure(flags *pflag.FlagSet) error {
	if err := oneOf("engine", c.serve.Engine, serveEngines...); err != nil {
		return err
	}
	if c.serve.Config == "" {
		return nil
	}
	_, err := fromConfig(flags, c.serve.Config, all.Formats())
	return err
}

// writeFindings prints the list, for people with what to do under what is missing.
func writeFindings(w io.Writer, findings []finding, asJSON bool) error {
	for _, f := range findings {
		if asJSON {
			if err := writeJSON(w, f); err != nil {
				return err
			}
			continue
		}
		mark := "ok"
		switch {
		case f.Fatal:
			mark = "!!"
		case !f.OK:
			mark = "--"
		}
		line := fmt.Sprintf("%s  %-9s  %s\n", mark, f.Name, oneLine(f.Found))
		if f.Advice != "" {
			line += fmt.Sprintf("    %-9s  %s\n", "", f.Advice)
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	return nil
}

// fatal is an error if one of the findings keeps serve from starting.
func fatal(findings []finding) error {
	var names []string
	for _, f := range findings {
		if f.Fatal {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return errors.New("serve would not start: " + strings.Join(names, ", "))
}

// examine looks at everything, in the order in which one thing needs another.
func (c *doctor) examine(ctx context.Context) []finding {
	findings := []finding{{Name: "build", OK: true, Found: thisBuild().String()}, examineHost(), examineOpenFiles()}
	folders, found := c.examineData(ctx)
	findings = append(findings, found...)
	findings = append(findings, examineWatches(folders))
	findings = append(findings, c.examineListen(ctx)...)
	findings = append(findings, c.examineTLS()...)
	findings = append(findings, c.examineSQL()...)
	findings = append(findings, c.examineGPUs()...)
	return append(findings, c.examineCache(ctx), examineTemporary())
}

// examineSQL opens the engine, so that an extension that can't be loaded is found here.
func (c *doctor) examineSQL() []finding {
	db, err := duck.Open(duck.Config{}, nil)
	if err != nil {
		return []finding{{
			Name: "SQL", Found: err.Error(),
			Advice: "files are served all the same; SQL wants a build with a C compiler at hand (make build)",
		}}
	}
	found := []finding{{Name: "SQL", OK: true, Found: "DuckDB " + strings.TrimPrefix(duck.LibraryVersion(), "v")}}
	if err := db.Close(); err != nil {
		return []finding{{Name: "SQL", Found: err.Error()}}
	}
	return append(found, c.examineSpatial(), examineWorkers())
}

// examineWorkers looks for what confines the processes of a server's SQL.
func examineWorkers() finding {
	missing := worker.Missing()
	if len(missing) == 0 {
		return finding{Name: "SQL workers", OK: true, Found: "confined by Landlock and seccomp"}
	}
	return finding{
		Name: "SQL workers", Found: "without " + strings.Join(missing, "; "),
		Advice: "SQL works all the same; a kernel of Linux 5.13 or later, with Landlock and seccomp, confines its " +
			"processes",
	}
}

// examineSpatial looks for the functions that DuckDB has in a file of its own.
func (c *doctor) examineSpatial() finding {
	f := finding{
		Name: "spatial", Found: "not looked for",
		Advice: "SQL has no ST_Area and the like, but for what DuckDB itself has; make spatial fetches them, " +
			"--duckdb-extensions says where " + spatialFile + " is",
	}
	if c.serve.SQL.extensions == "" {
		return f
	}
	path := engine.FindSpatial(c.serve.SQL.extensions)
	if path == "" {
		f.Found = "not in " + c.serve.SQL.extensions
		return f
	}
	db, err := duck.Open(duck.Config{Spatial: path}, nil)
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		f.Found = err.Error()
		return f
	}
	return finding{Name: "spatial", OK: true, Found: path}
}

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/doctor"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
)

// What packaging/build sets with the linker, so that a package says it wherever it was built. The
// one source of release is __version__ of the Python package.
var (
	release   string
	commit    string
	committed string // time of the commit, RFC 3339
	modified  string // "true" or ""
)

// build is the version information of this binary.
type build struct {
	Version  string `json:"version"` // of the module; "(devel)" for a build from a working tree
	Commit   string `json:"commit"`  // empty if the build has none
	Modified bool   `json:"modified"`
	Time     string `json:"time,omitempty"` // of the commit, RFC 3339
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisBuild() build {
	b := build{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	switch {
	case release != "":
		b.Version = release
	case info.Main.Version != "":
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "vcs.time":
			b.Time = s.Value
		}
	}
	if commit != "" {
		b.Commit, b.Time, b.Modified = commit, committed, modified == "true"
	}
	return b
}

func (b build) String() string {
	commit := b.Commit
	if commit == "" {
		commit = "unknown"
	}
	if b.Modified {
		commit += " (modified)"
	}
	return fmt.Sprintf("vibeflight %s, commit %s, %s, %s", b.Version, commit, b.Go, b.Platform)
}

func newVersion(std output.Stdio) *cobra.Command {
	var asJSON, check bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  vibeflight version --check",
		Args:    usage.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			if check {
				return checkParts(std, asJSON)
			}
			if asJSON {
				return output.WriteJSON(std.Out, thisBuild())
			}
			_, err := fmt.Fprintln(std.Out, thisBuild())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object; with --check, one per line")
	cmd.Flags().BoolVar(&check, "check", false, "examine whether the parts of this installation fit: DuckDB and its "+
		"spatial extension, the Python package, kernels, driver; nothing outside of this machine is asked")
	return cmd
}

// checkParts prints the version and what lies next to the executable. A part that does not fit is
// an error.
func checkParts(std output.Stdio, asJSON bool) error {
	findings := []doctor.Finding{{Name: "build", OK: true, Found: thisBuild().String()}}
	findings = append(findings, doctor.Parts(release)...)
	if err := doctor.WriteFindings(std.Out, findings, asJSON); err != nil {
		return err
	}
	for _, f := range findings {
		if f.Fatal {
			return fmt.Errorf("the %s does not fit", f.Name)
		}
	}
	return nil
}

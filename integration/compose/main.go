// Command compose reads a Compose file as `docker compose config` does, by the reference
// implementation of its specification, and prints the services of the chosen profiles as JSON. An
// unknown key or a variable without a value is an error.
//
//	compose [--profile NAME]... FILE
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/cli"
)

type list []string

func (l *list) String() string     { return fmt.Sprint(*l) }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

func main() {
	var profiles list
	flag.Var(&profiles, "profile", "`name` of a profile; may repeat")
	flag.Parse()
	text, err := load(context.Background(), flag.Arg(0), profiles)
	if err != nil {
		fmt.Fprintln(os.Stderr, "compose:", err)
		os.Exit(1)
	}
	fmt.Println(string(text))
}

// load reads the file with the environment and the .env of its folder, which choose profiles if the
// command line does not.
func load(ctx context.Context, file string, profiles []string) ([]byte, error) {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithWorkingDirectory(filepath.Dir(file)),
		cli.WithOsEnv, cli.WithEnvFiles(), cli.WithDotEnv, cli.WithDefaultProfiles(profiles...),
		cli.WithResolvedPaths(false))
	if err != nil {
		return nil, err
	}
	project, err := options.LoadProject(ctx)
	if err != nil {
		return nil, err
	}
	return project.MarshalJSON()
}

// Command vibeflight serves geospatial files as Arrow tables, and also reads them without a server.
//
// It knows the command line: flags, environment, terminal, exit status. Each command has a file
// here, and the packages below internal do the work. Commands on data use a target, which is a
// server or the files of this machine. An error is one line on stderr, and a line of SQL if it marks
// a place there; the exit status is 1, and 2 for wrong usage.
package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
)

// gcPercent is GOGC unless the environment sets it. The heap is a few large buffers without
// pointers, so a collection frees little and takes 4 % of a parse. The memory limit that serve sets
// bounds the garbage.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	std := output.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	os.Exit(run(context.Background(), os.Args[1:], std, os.LookupEnv))
}

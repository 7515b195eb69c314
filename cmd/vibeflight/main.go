// Command vibeflight serves geospatial files as Arrow tables, and reads them without a server too.
//
// It knows the command line: flags, environment, terminal, exit status. A command that works on
// data asks a target, which is a server or the files of this machine. What goes wrong is one line
// on stderr; the exit status is 1, and 2 for wrong usage.
package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
)

// gcPercent is GOGC unless the environment says another: the heap is a few large buffers without
// pointers, so that a collection frees little and takes 4 % of a parse. What garbage may pile up to
// is bounded by the memory limit that serve sets.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	std := output.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	os.Exit(run(context.Background(), os.Args[1:], std, os.LookupEnv))
}

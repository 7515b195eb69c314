package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// stdio is the process's three files: commands ask them whether they are a terminal, so they are no
// plain readers and writers.
type stdio struct{ in, out, err *os.File }

// usageError is wrong usage: exit status 2 instead of 1.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func wrongUsage(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// closedPipe is the exit status where nobody reads stdout any more: the one that a shell shows for
// a program that SIGPIPE ends.
const closedPipe = 128 + int(syscall.SIGPIPE)

// run is the whole program: it gives the exit status.
func run(ctx context.Context, args []string, std stdio, lookup func(string) (string, bool)) int {
	root := newRoot(std, lookup)
	root.SetArgs(args)
	root.SetOut(std.out)
	root.SetErr(std.err)

	// A reader that went away is an error of the write, so that what was begun is undone before the
	// end: vibeflight sql … --csv | head.
	signal.Ignore(syscall.SIGPIPE)

	// The first signal ends the work in order; the second one finds no handler any more and ends
	// the process.
	ctx, stop := signal.NotifyContext(ctx, ending()...)
	defer stop()
	context.AfterFunc(ctx, stop)

	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	if errors.Is(err, syscall.EPIPE) {
		return closedPipe
	}
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		err = errors.New("interrupted")
	}
	var usage *usageError
	if errors.As(err, &usage) {
		_, _ = fmt.Fprintf(std.err, "vibeflight: %s (see %s --help)\n", oneLine(err.Error()), cmd.CommandPath())
		return 2
	}
	_, _ = fmt.Fprintf(std.err, "vibeflight: %s\n", oneLine(reason(err)))
	return 1
}

// ending are the signals that end a command in order. A terminal that is closed is one, unless
// nohup said that it is not.
func ending() []os.Signal {
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// reason is an error's text. An error of the file system about a single path loses its system call:
// "x: no such file or directory".
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) && errors.Is(err, path) {
		call := path.Op + " " + path.Path + ": "
		return strings.Replace(err.Error(), call, path.Path+": ", 1)
	}
	return err.Error()
}

func newRoot(std stdio, lookup func(string) (string, bool)) *cobra.Command {
	root := &cobra.Command{
		Use:           "vibeflight",
		Short:         "Serve geospatial files as Arrow tables",
		Version:       thisBuild().String(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return noCommand(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(std.err)
			if err := cmd.Help(); err != nil {
				return err
			}
			return wrongUsage("a command is needed")
		},
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return fromEnvironment(cmd.Flags(), lookup) }
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpCommand(newHelp())
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		// A mistyped command is parsed as an argument of the root, which lacks the command's flags.
		if args := cmd.Flags().Args(); !cmd.HasParent() && len(args) > 0 {
			return noCommand(cmd, args[0])
		}
		return &usageError{err}
	})
	root.AddCommand(newServe(std), newLs(std), newInfo(std), newGet(std), newSQL(std), newGen(std),
		newBench(std), newCache(std), newDoctor(std), newVersion(std), newCompletion(std), newMan(std),
		newSQLWorkerCommand())
	complete(root, lookup)
	return root
}

func noCommand(root *cobra.Command, name string) error {
	if near := root.SuggestionsFor(name); len(near) > 0 {
		return wrongUsage("no command %q; did you mean %s?", name, strings.Join(near, " or "))
	}
	return wrongUsage("no command %q", name)
}

// newHelp is cobra's own but that it refuses what is no command.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Say what a command does",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
			cobra.ShellCompDirective,
		) {
			about, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []cobra.Completion
			for _, sub := range about.Commands() {
				if sub.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noCommand(cmd.Root(), args[len(args)-max(1, len(rest))])
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// oneArgument is the Args of a command that takes exactly one, which what names: "NAME or FILE".
func oneArgument(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return wrongUsage("want one %s, got %d arguments", what, len(args))
		}
		return nil
	}
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return wrongUsage("want no argument, got %q", args[0])
	}
	return nil
}

// oneOf refuses a flag's value that is none of those that it can have.
func oneOf(flag, value string, values ...string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return wrongUsage("--%s: %q is none of %s", flag, value, strings.Join(values, ", "))
}

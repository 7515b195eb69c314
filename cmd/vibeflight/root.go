package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/catalog/nearest"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/complete"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/internal/system"
)

// closedPipe is the exit status if the reader of stdout has closed it: the one that shells report
// for a program that SIGPIPE ends.
const closedPipe = 128 + int(syscall.SIGPIPE)

// run is the whole program. It returns the exit status.
func run(ctx context.Context, args []string, std output.Stdio, lookup func(string) (string, bool)) int {
	root := newRoot(std, lookup)
	root.SetArgs(args)
	root.SetOut(std.Out)
	root.SetErr(std.Err)

	// A closed pipe is an error of the write, so that the command can clean up: vibeflight sql …
	// --csv
	// head.
	signal.Ignore(syscall.SIGPIPE)

	// The first signal ends the command in order. The second one ends the process.
	ctx, stop := signal.NotifyContext(ctx, ending()...)
	defer stop()
	context.AfterFunc(ctx, stop)

	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	if system.ClosedPipe(err) {
		return closedPipe
	}
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		err = errors.New("interrupted")
	}
	var usage *usage.Error
	if errors.As(err, &usage) {
		output.PrintError(std.Err, "vibeflight", err, " (see "+cmd.CommandPath()+" --help)")
		return 2
	}
	output.PrintError(std.Err, "vibeflight", err, "")
	return 1
}

// ending are the signals that end a command in order. A closed terminal is one of them, unless
// nohup ignores it.
func ending() []os.Signal {
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

func newRoot(std output.Stdio, lookup func(string) (string, bool)) *cobra.Command {
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
			cmd.SetOut(std.Err)
			if err := cmd.Help(); err != nil {
				return err
			}
			return usage.Errorf("a command is needed")
		},
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		return settings.FromEnvironment(cmd.Flags(), lookup)
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpCommand(newHelp())
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		// The root parses a mistyped command as its argument, and does not know the command's
		// flags.
		if args := cmd.Flags().Args(); !cmd.HasParent() && len(args) > 0 {
			return noCommand(cmd, args[0])
		}
		return &usage.Error{Err: withNearestFlag(cmd, err)}
	})
	root.AddCommand(newServe(std), newQuickstart(std, lookup), newLs(std), newInfo(std), newGet(std),
		newSQL(std, lookup), newGen(std),
		newBench(std), newAdmin(std), newCache(std), newUser(std), newToken(std),
		newDoctor(std), newHealth(std), newVersion(std), newCompletion(std), newMan(std),
		newSQLWorkerCommand())
	complete.Register(root, lookup)
	return root
}

// withNearestFlag adds the flag that a mistyped one may stand for.
func withNearestFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near := nearest.Close(unknown.GetSpecifiedName(), names); near != "" {
		return fmt.Errorf("%w; did you mean --%s?", err, near)
	}
	return err
}

func noCommand(root *cobra.Command, name string) error {
	if near := root.SuggestionsFor(name); len(near) > 0 {
		return usage.Errorf("no command %q; did you mean %s?", name, strings.Join(near, " or "))
	}
	return usage.Errorf("no command %q", name)
}

// newHelp is cobra's help command, except that it refuses unknown commands.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Describe a command",
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

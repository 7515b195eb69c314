// Package usage checks arguments and flags. Its errors of wrong usage end the program with status
// 2.
package usage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vibeflight/vibeflight/catalog/nearest"
)

// Error is an error of wrong usage: exit status 2 instead of 1.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an [*Error] of a text, as fmt.Errorf does.
func Errorf(format string, args ...any) error { return &Error{fmt.Errorf(format, args...)} }

// Several reports whether more than one is true.
func Several(are ...bool) bool {
	n := 0
	for _, is := range are {
		if is {
			n++
		}
	}
	return n > 1
}

// OneArgument is the Args of a command with exactly one argument, described by what: "NAME or
// FILE".
func OneArgument(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return Errorf("want one %s, got %d arguments", what, len(args))
		}
		return nil
	}
}

// NoArguments is the Args of a command that takes none.
func NoArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Errorf("want no argument, got %q", args[0])
	}
	return nil
}

// OneOf refuses a flag's value that is not one of values.
func OneOf(flag, value string, values ...string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return Errorf("--%s: %q is none of %s%s", flag, value, strings.Join(values, ", "), DidYouMean(value, values))
}

// DidYouMean names the value that a mistyped one may stand for: "; did you mean zstd?", or "".
func DidYouMean(typed string, values []string) string {
	if near := nearest.Close(typed, values); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

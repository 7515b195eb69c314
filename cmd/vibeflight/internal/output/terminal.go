// Package output formats what commands print: text in columns, JSON lines, progress, logs, and text from
// files that is safe on a terminal.
package output

import (
	"os"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

// Stdio is the standard files of the process. They are files, since commands check whether they are
// terminals.
type Stdio struct{ In, Out, Err *os.File }

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }

// TerminalWidth returns the characters per line of the terminal f; 0 if f is not a terminal.
func TerminalWidth(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Package output is what commands print: text in columns, JSON lines, progress, logs, and text of
// files that is safe on a terminal.
package output

import (
	"os"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
)

// Stdio is the process's three files: commands ask them whether they are a terminal, so they are no
// plain readers and writers.
type Stdio struct{ In, Out, Err *os.File }

// IsTerminal reports whether a person looks at f.
func IsTerminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }

// TerminalWidth is how many characters a line of the terminal f holds; 0 where f is no terminal.
func TerminalWidth(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

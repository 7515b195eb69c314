package output

import (
	"errors"
	"fmt"
	"io"
)

// PrintError prints an error as one line, after the name of the program, and before a note. The lines
// that show its place follow.
func PrintError(w io.Writer, program string, err error, note string) {
	if program != "" {
		program += ": "
	}
	_, _ = fmt.Fprintf(w, "%s%s%s\n", program, ErrorLines(ErrorText(err)), note)
	var placed interface{ Lines() []string }
	if !errors.As(err, &placed) {
		return
	}
	for _, line := range placed.Lines() {
		_, _ = fmt.Fprintln(w, OneLine(line))
	}
}

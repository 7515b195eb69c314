package main

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
)

// isTerminal reports whether a person looks at f.
func isTerminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }

// terminalWidth is how many characters a line of the terminal f holds; 0 where f is no terminal.
func terminalWidth(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// writeJSON writes v as one line, with "<" and "&" as they are.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// oneLine makes text safe to print: text of files and servers may hold line ends, and sequences
// that steer a terminal.
func oneLine(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case !unicode.IsGraphic(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// clip is text of at most n characters, the last of them "…" where something is missing.
func clip(text string, n int) string {
	runes, last := 0, 0 // last is where the n-th character starts
	for i := range text {
		if runes == n {
			return text[:last] + "…"
		}
		runes, last = runes+1, i
	}
	return text
}

// grid is text in columns.
type grid struct {
	header []string
	right  []bool // columns whose cells stand at the right
	rows   [][]string
}

const gridGap = 2 // spaces between columns

// widths are the columns' widths in characters.
func (g *grid) widths() []int {
	w := make([]int, len(g.header))
	for _, row := range append([][]string{g.header}, g.rows...) {
		for i, cell := range row {
			w[i] = max(w[i], utf8.RuneCountInString(cell))
		}
	}
	return w
}

// write writes the first columns that fit a line of width characters, 0 meaning all, and gives
// their number. The first one always fits.
func (g *grid) write(w io.Writer, width int) (columns int, err error) {
	widths := g.widths()
	used := 0
	for columns < len(widths) && (columns == 0 || width == 0 || used+widths[columns] <= width) {
		used += widths[columns] + gridGap
		columns++
	}
	var b strings.Builder
	for _, row := range append([][]string{g.header}, g.rows...) {
		for i, cell := range row[:columns] {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if g.right[i] {
				cell = pad + cell
			} else if i < columns-1 {
				cell += pad
			}
			if i > 0 {
				b.WriteString(strings.Repeat(" ", gridGap))
			}
			b.WriteString(cell)
		}
		b.WriteByte('\n')
	}
	_, err = io.WriteString(w, b.String())
	return columns, err
}

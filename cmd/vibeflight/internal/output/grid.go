package output

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Grid is text in columns.
type Grid struct {
	Header []string
	Right  []bool // columns that are aligned to the right
	Rows   [][]string
}

const gridGap = 2 // spaces between columns

// widths returns the columns' widths in characters.
func (g *Grid) widths() []int {
	w := make([]int, len(g.Header))
	for _, row := range append([][]string{g.Header}, g.Rows...) {
		for i, cell := range row {
			w[i] = max(w[i], utf8.RuneCountInString(cell))
		}
	}
	return w
}

// Write writes the columns that fit a line of width characters, 0 for all, and returns their
// number. The first one always fits.
func (g *Grid) Write(w io.Writer, width int) (columns int, err error) {
	widths := g.widths()
	used := 0
	for columns < len(widths) && (columns == 0 || width == 0 || used+widths[columns] <= width) {
		used += widths[columns] + gridGap
		columns++
	}
	var b strings.Builder
	for _, row := range append([][]string{g.Header}, g.Rows...) {
		for i, cell := range row[:columns] {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if g.Right[i] {
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

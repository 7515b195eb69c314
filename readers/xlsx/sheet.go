package xlsx

import (
	"fmt"
	"strconv"

	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// kind is what a cell holds.
type kind uint8

const (
	kindNumber kind = iota // text: as written
	kindShared             // from: index of the shared string
	kindText
	kindBool // text: 0 or 1
	kindError
	kindDate    // text in ISO 8601
	kindMissing // text: the number of a shared string that is not there
)

// cell is a cell with a value.
type cell struct {
	column   int32
	kind     kind
	style    format
	from, to int32 // its text in rowBlock.text
	at       int64 // offset of its start tag in the part
}

// sheetRow is a row with a value, or one that the file leaves out.
type sheetRow struct {
	number      int   // in the sheet, from 1
	from, to    int   // its cells in rowBlock.cells
	at          int64 // offset of its start tag in the part
	startOfText int
}

// rowBlock holds rows until they are a chunk.
type rowBlock struct {
	rows  []sheetRow
	cells []cell
	text  []byte
}

// drop removes the first n rows.
func (b *rowBlock) drop(n int) {
	switch n {
	case 0: // rows are read one by one
		return
	case len(b.rows):
		b.rows, b.cells, b.text = b.rows[:0], b.cells[:0], b.text[:0]
		return
	}
	cells, text := b.rows[n].from, b.rows[n].startOfText
	b.rows = append(b.rows[:0], b.rows[n:]...)
	b.cells = append(b.cells[:0], b.cells[cells:]...)
	b.text = append(b.text[:0], b.text[text:]...)
	for i := range b.rows {
		b.rows[i].from -= cells
		b.rows[i].to -= cells
		b.rows[i].startOfText -= text
	}
	for i := range b.cells {
		if b.cells[i].kind != kindShared {
			b.cells[i].from -= int32(text)
			b.cells[i].to -= int32(text)
		}
	}
}

// Limits of a sheet.
const (
	maxRows    = 1_048_576
	maxColumns = 16_384
)

const sheetRule = "ECMA-376 part 1, section 18.3.1"

// sheetReader reads the rows of a sheet.
type sheetReader struct {
	*part
	book  *workbook
	sheet string
	block rowBlock

	number  int   // of the last row that was read
	columns int   // number of columns with a value, up to that row
	at      int64 // of the row that is read
	ended   bool
}

// begin passes to the first row.
func (r *sheetReader) begin() bool {
	if !r.root("worksheet") {
		return false
	}
	for {
		switch r.Token() {
		case xmltext.Start:
			if string(r.X.Local()) == "sheetData" {
				return true
			}
			if !r.Pass(r.X.Depth() - 1) {
				return false
			}
		case xmltext.End:
		case xmltext.EOF:
			r.ended = true
			return true
		default:
			return false
		}
	}
}

// next reads up to the next row that has a value, which it adds to the block. ended is set if there
// is none.
func (r *sheetReader) next() bool {
	for !r.ended {
		switch r.Token() {
		case xmltext.Start:
			if string(r.X.Local()) != "row" {
				if !r.Pass(r.X.Depth() - 1) {
					return false
				}
				continue
			}
			r.at = r.X.Offset()
			before, cells, text := r.number, len(r.block.cells), len(r.block.text)
			if !r.Unit(func() bool {
				r.number, r.block.cells, r.block.text = before, r.block.cells[:cells], r.block.text[:text]
				return r.row()
			}) {
				return false
			}
			if len(r.block.cells) > cells {
				r.block.rows = append(r.block.rows, sheetRow{r.number, cells, len(r.block.cells), r.at, text})
				r.columns = max(r.columns, int(r.block.cells[len(r.block.cells)-1].column)+1)
				return true
			}
		case xmltext.End: // of sheetData
			r.ended = true
			return r.rest()
		default:
			return false
		}
	}
	return true
}

// rest checks the XML after the rows.
func (r *sheetReader) rest() bool { return r.each(func([]byte) bool { return true }) }

// row reads the row whose start tag was read.
func (r *sheetReader) row() bool {
	number := r.number + 1
	if text, ok := r.X.Attr("r"); ok {
		n, err := strconv.Atoi(string(text))
		if err != nil || n < number || n > maxRows {
			return r.Wrong(r.X.At, "", sheetRule+".73",
				fmt.Sprintf("the number %q of a row is not one of %d to %d", text, number, maxRows))
		}
		number = n
	}
	if number > maxRows {
		return r.Wrong(r.X.At, "", sheetRule+".73", fmt.Sprintf("more than %d rows", maxRows))
	}
	r.number = number
	column := int32(-1)
	for base := r.X.Depth(); ; {
		switch r.X.Next() {
		case xmltext.Start:
			if string(r.X.Local()) != "c" {
				if !r.X.Skip() {
					return false
				}
				continue
			}
			if !r.cell(&column) {
				return false
			}
		case xmltext.End:
			if r.X.Depth() < base {
				return true
			}
		default:
			return false
		}
	}
}

// cell reads the cell whose start tag was read. column is that of the cell before, and then its own.
func (r *sheetReader) cell(column *int32) bool {
	c := cell{column: *column + 1, at: r.X.Offset()}
	if ref, ok := r.X.Attr("r"); ok {
		var inRow bool
		if c.column, inRow = parseReference(ref, r.number); !inRow || c.column <= *column {
			return r.Wrong(r.X.At, "", sheetRule+".4", fmt.Sprintf(
				"the reference %q of a cell is not one of row %d after column %s", ref, r.number, columnName(*column)))
		}
	}
	if c.column >= maxColumns {
		return r.Wrong(r.X.At, "", sheetRule+".4", fmt.Sprintf("more than %d columns", maxColumns))
	}
	*column = c.column
	at := r.X.At
	kindText, _ := r.X.Attr("t")
	name := string(kindText)
	if style, ok := r.X.Attr("s"); ok {
		if n, err := strconv.Atoi(string(style)); err == nil && n >= 0 && n < len(r.book.styles) {
			c.style = r.book.styles[n]
		}
	}
	start := len(r.block.text)
	c.from, c.to = int32(start), int32(start)
	if !r.content(name) {
		return false
	}
	if len(r.block.text) == start {
		return true
	}
	c.to = int32(len(r.block.text))
	return r.addCell(c, name, at)
}

// content appends the text of the cell to the block: that of v, or of is if the text is inline.
func (r *sheetReader) content(name string) bool {
	for base := r.X.Depth(); ; {
		switch r.X.Next() {
		case xmltext.Start:
			ok := true
			switch local := string(r.X.Local()); {
			case local == "is" && name == "inlineStr":
				r.block.text, ok = r.richText(r.block.text)
			case local == "v" && name != "inlineStr":
				var text []byte
				if text, _, ok = r.X.Value(); ok && name == "str" {
					r.block.text = appendUnescaped(r.block.text, text)
				} else if ok {
					r.block.text = append(r.block.text, text...)
				}
			default:
				ok = r.X.Skip()
			}
			if !ok {
				return false
			}
		case xmltext.End:
			if r.X.Depth() < base {
				return true
			}
		default:
			return false
		}
	}
}

// addCell adds a cell that has a text, by the name of its type (section 18.18.11).
func (r *sheetReader) addCell(c cell, name string, at int) bool {
	text := r.block.text[c.from:c.to]
	switch name {
	case "", "n":
		c.kind = kindNumber
	case "s":
		n, err := strconv.Atoi(string(text))
		if err != nil || n < 0 || n >= len(r.book.strings.ends) {
			c.kind = kindMissing
			break
		}
		c.kind, r.block.text = kindShared, r.block.text[:c.from]
		c.from, c.to = int32(n), 0
		if len(r.book.strings.at(n)) == 0 {
			return true
		}
	case "str", "inlineStr":
		c.kind = kindText
	case "b":
		c.kind = kindBool
	case "e":
		c.kind = kindError
	case "d":
		c.kind = kindDate
	default:
		return r.Wrong(at, r.place(c.column), "ECMA-376 part 1, section 18.18.11",
			fmt.Sprintf("%q is not a type of cells", name))
	}
	r.block.cells = append(r.block.cells, c)
	return true
}

// textOf returns the text of a cell.
func (r *sheetReader) textOf(c *cell) []byte {
	if c.kind == kindShared {
		return r.book.strings.at(int(c.from))
	}
	return r.block.text[c.from:c.to]
}

// place returns the name of a cell of the current row: "Sheet1!B7".
func (r *sheetReader) place(column int32) string { return placeOf(r.sheet, column, r.number) }

func placeOf(sheet string, column int32, row int) string {
	return sheet + "!" + columnName(column) + strconv.Itoa(row)
}

// columnName returns the letters of a column: A, Z, AA.
func columnName(column int32) (name string) {
	for n := column + 1; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}

// parseReference reads the reference of a cell in a row: B7.
func parseReference(text []byte, row int) (column int32, ok bool) {
	i := 0
	for ; i < len(text) && i < 4 && text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z'; i++ {
		column = column*26 + int32(text[i]|0x20-'a') + 1
	}
	n, err := strconv.Atoi(string(text[i:]))
	return column - 1, i > 0 && err == nil && n == row && text[i] != '+'
}

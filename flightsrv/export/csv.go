package export

import (
	"bufio"
	"io"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// bufferBytes is the size of writes to a file.
const bufferBytes = 256 << 10

// csvLines writes CSV (RFC 4180). A null is empty, and an empty text is "". Geometries are WKT.
type csvLines struct {
	w          *bufio.Writer
	line, cell []byte
}

// NewCSV writes CSV with a header.
func NewCSV(out io.Writer, schema *arrow.Schema) (Writer, error) {
	c := &csvLines{w: bufio.NewWriterSize(out, bufferBytes)}
	for i, f := range schema.Fields() {
		c.add(i, []byte(f.Name))
	}
	return c, c.end()
}

func (c *csvLines) Write(rec arrow.Record) error {
	for row := range int(rec.NumRows()) {
		for i, column := range rec.Columns() {
			if IsNull(column, row) {
				c.separate(i)
				continue
			}
			var err error
			if c.cell, err = AppendText(c.cell[:0], rec.Schema().Field(i), column, row); err != nil {
				return err
			}
			c.add(i, c.cell)
		}
		if err := c.end(); err != nil {
			return err
		}
	}
	return nil
}

func (c *csvLines) separate(i int) {
	if i > 0 {
		c.line = append(c.line, ',')
	}
}

// add appends a cell, in quotes if necessary.
func (c *csvLines) add(i int, cell []byte) {
	c.separate(i)
	text := string(cell)
	if text != "" && !strings.ContainsAny(text, ",\"\r\n") {
		c.line = append(c.line, text...)
		return
	}
	c.line = append(c.line, '"')
	c.line = append(c.line, strings.ReplaceAll(text, `"`, `""`)...)
	c.line = append(c.line, '"')
}

// end writes the line.
func (c *csvLines) end() error {
	_, err := c.w.Write(append(c.line, "\r\n"...))
	c.line = c.line[:0]
	return err
}

// Flush writes what is complete.
func (c *csvLines) Flush() error { return c.w.Flush() }

func (c *csvLines) Close() error { return c.w.Flush() }

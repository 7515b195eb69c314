package export

import (
	"bufio"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// jsonLines writes an object per line.
type jsonLines struct {
	w    *bufio.Writer
	line []byte
}

// NewJSONLines writes a JSON object per line, with geometries as WKT.
func NewJSONLines(out io.Writer, schema *arrow.Schema) (Writer, error) {
	return &jsonLines{w: bufio.NewWriterSize(out, bufferBytes)}, distinctNames(schema, "--json")
}

func (j *jsonLines) Write(rec arrow.Record) error {
	row := array.RecordToStructArray(rec)
	defer row.Release()
	for i := range row.Len() {
		var err error
		if j.line, err = appendObject(j.line[:0], row, i); err != nil {
			return err
		}
		if _, err := j.w.Write(append(j.line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// Flush writes what is complete.
func (j *jsonLines) Flush() error { return j.w.Flush() }

func (j *jsonLines) Close() error { return j.w.Flush() }

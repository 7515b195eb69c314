package readers

import (
	"fmt"
	"math"
	"runtime"
)

// Limits bound the resources that a file may use. The zero value of a field means its default.
type Limits struct {
	BatchRows       int   // rows of a chunk and of a record batch; default 65,536 (--batch-rows)
	MaxDepth        int   // open brackets; default 1,024 (--max-depth)
	MaxFeatureBytes int64 // text of one row; default and maximum 512 MiB (--max-feature-bytes)
	MaxColumns      int   // of a table, without its geometry; default 16,384 (--max-columns)
	Workers         int   // goroutines that parse one file; default: one per core (--workers)

	TempDir string // folder of a parse's temporary files; default: os.TempDir()

	// BatchBytes bounds the text of a batch: it ends before the first row that starts n bytes after
	// its own first row, so that every offset of a batch fits 32 bits. Bytes in sibling files
	// (Part.SiblingBytes) count too. PartBytes is how much text a worker reads in one go. Only
	// tests set them.
	BatchBytes int64
	PartBytes  int64

	// Memory bounds the cells of a batch, which may take half of it. Every row of every column
	// counts cellBytes, even if its text is absent: two bytes of text may be a row of 65,536
	// columns. Default 2 GiB (--memory).
	Memory int64
}

// Defaults of Limits.
const (
	DefaultBatchRows       = 65_536
	DefaultMaxDepth        = 1_024
	DefaultMaxFeatureBytes = 512 << 20
	DefaultMaxColumns      = 16_384
	defaultBatchBytes      = 512 << 20
	defaultPartBytes       = 512 << 10
	defaultMemory          = 2 << 30
)

// WithDefaults returns l with its zero fields set.
func (l Limits) WithDefaults() Limits {
	if l.BatchRows <= 0 {
		l.BatchRows = DefaultBatchRows
	}
	if l.MaxDepth <= 0 {
		l.MaxDepth = DefaultMaxDepth
	}
	if l.MaxFeatureBytes <= 0 || l.MaxFeatureBytes > DefaultMaxFeatureBytes {
		l.MaxFeatureBytes = DefaultMaxFeatureBytes
	}
	if l.MaxColumns <= 0 {
		l.MaxColumns = DefaultMaxColumns
	}
	if l.Workers <= 0 {
		l.Workers = runtime.GOMAXPROCS(0)
	}
	if l.BatchBytes <= 0 {
		l.BatchBytes = defaultBatchBytes
	}
	if l.PartBytes <= 0 {
		l.PartBytes = defaultPartBytes
	}
	if l.Memory <= 0 {
		l.Memory = defaultMemory
	}
	return l
}

// Guessed returns the limits for rows that several workers read at guessed places. Bytes that look
// like a row may never end, so the limit is lower. A longer row is read once its start is verified.
func (l Limits) Guessed() Limits {
	l.MaxFeatureBytes = min(l.MaxFeatureBytes, max(l.MaxFeatureBytes/8, 1<<20), 16<<20)
	return l
}

// Unbatched returns l without the bounds of batches: all rows are one chunk.
func (l Limits) Unbatched() Limits {
	l.BatchRows, l.BatchBytes, l.Memory = math.MaxInt, math.MaxInt64, math.MaxInt64
	return l
}

// cellBytes is what a cell of any type counts for Limits.Memory: an int32, or the end of an empty
// text.
const cellBytes = 4

// Fits reports whether a batch of n rows and columns is within Memory. l has no zero field.
func (l *Limits) Fits(rows, columns int) bool {
	return int64(rows)*int64(columns) <= l.Memory/2/cellBytes
}

// CheckCells returns a *LimitError if a batch of n rows and columns, whose first row is given, does
// not fit.
func (l Limits) CheckCells(name string, row int64, rows, columns int) error {
	if l.Fits(rows, columns) {
		return nil
	}
	what := fmt.Sprintf("%s: what it takes to parse a batch of all columns of the rows from %d on (fewer "+
		"--batch-rows take less)", name, row)
	return &LimitError{What: what, Flag: "--memory", Limit: l.Memory}
}

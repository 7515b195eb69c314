package scan

import (
	"context"
	"maps"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Source provides the batches of one table: from memory, from the cache, or while its file is
// parsed. It is for one goroutine.
type Source interface {
	// Table returns the table. Its columns and the starts and boxes of its batches are valid; its
	// batches may lack their rows.
	Table() *readers.Table
	// Batch returns batch i, verified against damage.
	Batch(ctx context.Context, i int) (*geoarrow.Columns, error)
	// Search returns the rows of batch i, ascending, whose bounding box meets box. ok is false if
	// batch i has no spatial index.
	Search(ctx context.Context, i int, box [4]float64) (rows []int32, ok bool, err error)
	// Close is called after the last row. It returns an error if the rows given so far are not
	// those of one version of the file.
	Close(ctx context.Context) error
	// Sizes returns the bytes of each column, the geometry being the last one, and of each batch.
	Sizes() (columns, batches []int64)
}

// RowPartitioner is a Source whose rows have partitions.
type RowPartitioner interface {
	// Ranges returns the half-open ranges of rows that have the values, ascending and disjoint.
	Ranges(values map[string]any) ([][2]int64, error)
}

// rangesOf returns the rows of a source that have the values; all if there are no values.
func rangesOf(src Source, values map[string]any) ([][2]int64, error) {
	if len(values) == 0 {
		return [][2]int64{{0, src.Table().Rows}}, nil
	}
	if p, ok := src.(RowPartitioner); ok {
		return p.Ranges(values)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		return nil, &PartitionError{name, "is not a column of folders: the table is not a dataset"}
	}
	return nil, nil
}

// tableSource is a table that is in memory.
type tableSource struct{ table *readers.Table }

func (s tableSource) Table() *readers.Table { return s.table }

func (s tableSource) Batch(_ context.Context, i int) (*geoarrow.Columns, error) {
	return VerifiedBatch(s.table, i)
}

func (s tableSource) Search(_ context.Context, i int, box [4]float64) ([]int32, bool, error) {
	return SearchTable(s.table, i, box)
}

func (s tableSource) Close(context.Context) error { return nil }

func (s tableSource) Sizes() (columns, batches []int64) {
	return ColumnBytes(s.table), BatchBytes(s.table)
}

// VerifiedBatch returns batch i of a table, after its check.
func VerifiedBatch(t *readers.Table, i int) (*geoarrow.Columns, error) {
	if t.Check != nil {
		if err := t.Check(i); err != nil {
			return nil, err
		}
	}
	return t.Batches[i], nil
}

// SearchTable is Source.Search for a table.
func SearchTable(t *readers.Table, i int, box [4]float64) (rows []int32, ok bool, err error) {
	if t.Search == nil {
		return nil, false, nil
	}
	rows, err = t.Search(i, box)
	return rows, true, err
}

// ColumnBytes returns the size of each column over all batches, the geometry being the last one.
func ColumnBytes(t *readers.Table) []int64 {
	attributes := len(t.Batches[0].Attributes)
	sizes := make([]int64, attributes, attributes+1)
	if t.Batches[0].Geometry != nil {
		sizes = sizes[:attributes+1]
	}
	for _, b := range t.Batches {
		for i := range b.Attributes {
			sizes[i] += b.Attributes[i].Bytes()
		}
		if b.Geometry != nil {
			sizes[attributes] += b.Geometry.Bytes()
		}
	}
	return sizes
}

// BatchBytes returns the size of each batch.
func BatchBytes(t *readers.Table) []int64 {
	sizes := make([]int64, len(t.Batches))
	for i, b := range t.Batches {
		sizes[i] = b.Bytes()
	}
	return sizes
}

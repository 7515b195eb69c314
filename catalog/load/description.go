package load

import (
	"context"
	"errors"

	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Description is a scan.Source of a table that is not available and can only be described.
type Description struct {
	table   *readers.Table
	outline *persist.Outline
}

// ErrNoRows is the error for a request of the rows of a Description.
var ErrNoRows = errors.New("catalog: the scan of a described table has no rows")

// Describe returns the source of the table of k, which has an outline.
func Describe(k *persist.Meta, format string) Description {
	t := k.Table()
	k.Complete(t, format)
	return Description{t, k.Outline}
}

// Table implements scan.Source.
func (d Description) Table() *readers.Table { return d.table }

// Batch implements scan.Source. It returns an error.
func (d Description) Batch(context.Context, int) (*geoarrow.Columns, error) { return nil, ErrNoRows }

// Search implements scan.Source.
func (d Description) Search(context.Context, int, [4]float64) ([]int32, bool, error) {
	return nil, false, nil
}

// Close implements scan.Source.
func (d Description) Close(context.Context) error { return nil }

// Sizes implements scan.Source.
func (d Description) Sizes() (columns, batches []int64) { return d.outline.Columns, d.outline.Batches }

package engine

import (
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// choose finds what must be read: the batches that may have matching rows, and of some of them only
// the rows that the spatial index finds.
func (b *batches) choose(f filter, args arguments) error {
	table := b.lease.table.Load()
	found := make([]*piece, len(table.Batches))
	if f.condition == nil {
		for i := range found {
			b.pieces = append(b.pieces, piece{batch: i})
		}
		return nil
	}
	g, ctx := errgroup.WithContext(b.ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	prior, _ := b.lease.ref.Source().(catalog.Prior)
	for i := range found {
		if prior != nil && !f.condition.mayMatch(priorView(b.lease, prior, i, args)) {
			continue
		}
		g.Go(func() error {
			v, err := b.derived.view(ctx, b.lease, i, args)
			if err != nil {
				return err
			}
			if f.condition.mayMatch(v) {
				found[i], err = b.rows(v, f.boxes)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, p := range found {
		if p != nil {
			b.pieces = append(b.pieces, *p)
		}
	}
	b.condition, b.args = f.condition, args
	return nil
}

// priorView is a batch for conditions on what is known of it before its rows are loaded.
func priorView(l *lease, prior catalog.Prior, batch int, args arguments) *batchView {
	types := l.table.Load().Batches[0]
	columns := &geoarrow.Columns{Rows: 2, Attributes: make([]geoarrow.Column, len(types.Attributes))}
	ranges := make(map[int]*columnRange, len(types.Attributes))
	for k := range columns.Attributes {
		c := &columns.Attributes[k]
		c.Nulls = 1 // of two rows: nulls and other values
		ranges[k] = &columnRange{}
		values, ok := prior.Values(batch, k)
		switch {
		case !ok:
		case values.AllNull:
			c.Nulls = columns.Rows
		default:
			if !values.Nulls {
				c.Nulls = 0
			}
			ranges[k] = &columnRange{known: true, low: values.Low, high: values.High}
		}
	}
	if types.Geometry != nil {
		columns.Geometry = &geoarrow.Geometry{Rows: columns.Rows, Nulls: 1}
	}
	valid := prior.ValidPositions(batch)
	return &batchView{
		lease: l, batch: batch, args: args, columns: columns,
		cache: &batchCache{ranges: ranges, validPositions: &valid},
	}
}

// The maximum part of a batch that is read row by row. Rows must be copied, and their geometries
// converted to WKB, which a whole batch already has.
const (
	fewRows       = 4
	fewGeometries = 32
)

// rows returns the rows of a batch that meet the first of the boxes, by the spatial index. It
// returns nil if no row does, and the whole batch if many do.
func (b *batches) rows(v *batchView, boxes []boxFunc) (*piece, error) {
	all := &piece{batch: v.batch}
	for _, of := range boxes {
		wanted := of(v.args)
		if wanted == nil || !v.validPositions() {
			continue
		}
		rows, err := b.lease.search(b.ctx, v.batch, *wanted)
		switch {
		case err != nil:
			return nil, err
		case len(rows) == 0:
			return nil, nil
		case len(rows) > v.columns.Rows/fewRows:
			return all, nil
		}
		return &piece{batch: v.batch, rows: rows}, nil
	}
	return all, nil
}

// maxUnfiltered is the number of batches with mostly matching rows after which no further batch is
// filtered: the others are likely similar.
const maxUnfiltered = 4

// filteredRows returns the rows of a batch that may match the condition, if they are few; nil means
// all rows.
func (b *batches) filteredRows(batch int) ([]int32, error) {
	if b.condition == nil || b.unfiltered.Load() >= maxUnfiltered {
		return nil, nil
	}
	v, err := b.derived.view(b.ctx, b.lease, batch, b.args)
	if err != nil {
		return nil, err
	}
	rows := wholeSet(v.columns.Rows)
	b.condition.filterRows(v, rows)
	few := fewRows
	if slices.Contains(b.columns, b.relation.geometry) {
		few = fewGeometries
	}
	n := rows.count()
	if n > v.columns.Rows/few {
		b.unfiltered.Add(1)
		return nil, nil
	}
	return rows.list(n), nil
}

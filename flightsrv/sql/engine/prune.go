package engine

import (
	"runtime"

	"golang.org/x/sync/errgroup"
)

// choose finds what has to be read: the batches in which there may be rows that the query wants, and of those the rows by the spatial index.
func (b *batches) choose(f filter, args arguments) error {
	table := b.lease.table.Load()
	found := make([]*piece, len(table.Batches))
	if f.may == nil {
		for i := range found {
			b.pieces = append(b.pieces, piece{batch: i})
		}
		return nil
	}
	g, ctx := errgroup.WithContext(b.ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range found {
		g.Go(func() error {
			v, err := b.beside.view(ctx, b.lease, i, args)
			if err != nil {
				return err
			}
			if f.may(v) {
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
	return nil
}

// fewRows is the part of a batch up to which rows are picked out of it: copies of them have to be made, also of the geometries, which a whole batch has ready.
const fewRows = 4

// rows asks the spatial index which rows of a batch meet the first of the boxes. It gives nil where none does, and the whole batch where many do.
func (b *batches) rows(v *view, boxes []box) (*piece, error) {
	all := &piece{batch: v.batch}
	for _, of := range boxes {
		wanted := of(v.args)
		if wanted == nil || !v.sound() {
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

package tiles

import (
	"context"
	"runtime"
	"slices"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// tableRows are the rows of a table in memory or mapped.
type tableRows struct{ *readers.Table }

// columnsOf implements rowSource.
func (t tableRows) columnsOf(c *candidate) (*geoarrow.Columns, int) {
	return t.Batches[c.batch], int(c.at)
}

// drawPlain draws a tile of a table whose rows are in its batches.
func (s *Set) drawPlain(ctx context.Context, k tableKey, ref *catalog.TableRef, f *frame, columns []int) (
	[]byte, error,
) {
	t := ref.Table
	all, err := s.candidates(ctx, k, ref, f)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	d := newPainter(f, tableRows{t}, columns, s.newLayerOf(ref, columns), s.cfg.MaxFeatures)
	defer d.release()
	if err := d.draw(ctx, all); err != nil {
		return nil, err
	}
	return d.layer.tile(), nil
}

// verifyAll verifies the batches of a table against damage. Only the first call takes time.
func verifyAll(ctx context.Context, t *readers.Table) error {
	if t.Check == nil {
		return nil
	}
	return parallel(ctx, runtime.GOMAXPROCS(0), len(t.Batches), 1, func(_, i int) error { return t.Check(i) })
}

// candidates returns the candidates of a tile, with their keys. A tile with many rows has those of
// the table's overview.
func (s *Set) candidates(ctx context.Context, k tableKey, ref *catalog.TableRef, f *frame) ([]candidate, error) {
	t := ref.Table
	o := s.overviews.known(k)
	if o == nil && t.Rows > int64(s.overviews.rows) && t.Search == nil {
		var err error
		if o, err = s.overviews.of(ctx, k, ref, f.projection); err != nil {
			return nil, err
		}
	}
	if o != nil {
		if all, ok, err := o.candidates(ctx, t, f); ok || err != nil {
			return all, err
		}
	}
	g := gatherer{table: t, frame: f, box: f.searchBox(), overview: o, share: shareOf(t.Rows)}
	if err := g.search(ctx); err != nil {
		return nil, err
	}
	if o == nil && g.rows > s.overviews.rows {
		var err error
		if g.overview, err = s.overviews.of(ctx, k, ref, f.projection); err != nil {
			return nil, err
		}
		if all, ok, err := g.overview.candidates(ctx, t, f); ok || err != nil {
			return all, err
		}
	}
	all, err := g.judge(ctx)
	return spread(all), err
}

// gatherer finds the candidates of a tile by the spatial indices of a table.
type gatherer struct {
	table    *readers.Table
	frame    *frame
	box      [4]float64
	overview *overview // nil: geometries are measured
	share    float64

	batches []int     // that may have rows
	found   [][]int32 // rows of each of them; nil: without an index, all
	rows    int       // number of found rows
}

// search finds the rows whose box meets that of the tile.
func (g *gatherer) search(ctx context.Context) error {
	t := g.table
	for b := range t.Batches {
		if t.Boxes == nil || meets(t.Boxes[b], g.box) {
			g.batches = append(g.batches, b)
		}
	}
	g.found = make([][]int32, len(g.batches))
	err := parallel(ctx, runtime.GOMAXPROCS(0), len(g.batches), 1, func(_, i int) error {
		rows, ok, err := scan.SearchTable(t, g.batches[i], g.box)
		if ok && err == nil {
			g.found[i] = rows
			if rows == nil {
				g.found[i] = []int32{}
			}
		}
		return err
	})
	for i, rows := range g.found {
		if rows == nil {
			g.rows += t.Batches[g.batches[i]].Rows
		}
		g.rows += len(rows)
	}
	return err
}

// judge returns those that may be drawn.
func (g *gatherer) judge(ctx context.Context) ([]candidate, error) {
	parts := make([][]candidate, len(g.batches))
	err := parallel(ctx, runtime.GOMAXPROCS(0), len(g.batches), 1, func(_, i int) (err error) {
		rows := g.found[i]
		if rows != nil && len(rows) == 0 {
			return nil
		}
		b := g.batches[i]
		columns, err := scan.VerifiedBatch(g.table, b)
		if err != nil {
			return err
		}
		j := judge{frame: g.frame, geometry: columns.Geometry, batch: b, start: g.table.Starts[b], share: g.share}
		if rows == nil {
			j.box = &g.box
			parts[i], err = j.all(columns.Rows)
			return err
		}
		if g.overview != nil && g.overview.sizes != nil {
			j.sizes = g.overview.sizes[j.start:][:columns.Rows]
		}
		parts[i], err = j.rows(rows)
		return err
	})
	return slices.Concat(parts...), err
}

// judge judges rows of one batch.
type judge struct {
	frame    *frame
	geometry *geoarrow.Geometry
	batch    int
	start    int64 // number of the first row
	share    float64
	sizes    []size      // of all rows of the batch; nil: they are measured
	box      *[4]float64 // rows whose box does not meet it are left out; nil: all rows meet it

	out []candidate
}

func (j *judge) rows(rows []int32) ([]candidate, error) {
	j.out = make([]candidate, 0, len(rows))
	for _, i := range rows {
		if err := j.row(i); err != nil {
			return nil, err
		}
	}
	return j.out, nil
}

func (j *judge) all(n int) ([]candidate, error) {
	for i := range int32(n) {
		if err := j.row(i); err != nil {
			return nil, err
		}
	}
	return j.out, nil
}

func (j *judge) row(i int32) (err error) {
	c := candidate{row: j.start + int64(i), batch: int32(j.batch), at: i}
	var e extent
	measured := j.sizes == nil || j.box != nil
	if measured {
		if e, err = extentOf(j.geometry, int(i), j.frame.projection); err != nil {
			return err
		}
		if !e.valid() || j.box != nil && !meets([4]float64{e.xmin, e.ymin, e.xmax, e.ymax}, *j.box) {
			return nil
		}
	}
	s := e.size()
	if j.sizes != nil {
		s = j.sizes[i]
	}
	if !j.frame.judge(&c, s, j.share) {
		return nil
	}
	if c.small {
		if !measured {
			if e, err = extentOf(j.geometry, int(i), j.frame.projection); err != nil {
				return err
			}
		}
		c.cell = j.frame.centre(&e)
	}
	j.out = append(j.out, c)
	return nil
}

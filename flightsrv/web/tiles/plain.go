package tiles

import (
	"context"
	"runtime"
	"sync/atomic"

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
	d := newPainter(&s.workers, f, tableRows{t}, columns, s.newLayerOf(ref, columns), s.cfg.MaxFeatures)
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
		if all, ok, err := o.candidates(ctx, t, f, s.cfg.featureLimit()); ok || err != nil {
			return all, err
		}
	}
	g := gatherer{
		table: t, frame: f, box: f.searchBox(), overview: o, share: shareOf(t.Rows), limit: s.cfg.featureLimit(),
	}
	if o == nil {
		many, err := g.many(ctx, s.overviews.rows)
		if err != nil {
			return nil, err
		}
		if many {
			if g.overview, err = s.overviews.of(ctx, k, ref, f.projection); err != nil {
				return nil, err
			}
			if all, ok, err := g.overview.candidates(ctx, t, f, s.cfg.featureLimit()); ok || err != nil {
				return all, err
			}
		}
	}
	return g.gather(ctx)
}

// gatherer finds the candidates of a tile by the spatial indices of a table.
type gatherer struct {
	table    *readers.Table
	frame    *frame
	box      [4]float64
	overview *overview // nil: geometries are measured
	share    float64
	limit    int // number of candidates that are drawn at most

	found [][]int32 // rows of each batch, as far as they are known
}

// near reports whether a batch may have rows of the tile.
func (g *gatherer) near(b int) bool { return g.table.Boxes == nil || meets(g.table.Boxes[b], g.box) }

// many reports whether more than limit rows have a box that meets that of the tile.
func (g *gatherer) many(ctx context.Context, limit int) (bool, error) {
	t := g.table
	g.found = make([][]int32, len(t.Batches))
	var rows atomic.Int64
	err := parallel(ctx, runtime.GOMAXPROCS(0), len(t.Batches), 1, func(_, b int) error {
		if !g.near(b) || rows.Load() > int64(limit) {
			return nil
		}
		found, ok, err := scan.SearchTable(t, b, g.box)
		if !ok {
			rows.Add(int64(t.Batches[b].Rows))
			return err
		}
		rows.Add(int64(len(found)))
		if g.found[b] = found; found == nil {
			g.found[b] = []int32{}
		}
		return err
	})
	return rows.Load() > int64(limit), err
}

// gather returns the candidates, with their keys. It keeps few more than are drawn.
func (g *gatherer) gather(ctx context.Context) ([]candidate, error) {
	const group = 16 // batches
	chosen := choice{limit: g.limit}
	parts := make([][]candidate, group)
	for from := 0; from < len(g.table.Batches); from += group {
		to := min(from+group, len(g.table.Batches))
		clear(parts)
		if err := parallel(ctx, runtime.GOMAXPROCS(0), to-from, 1, func(_, i int) (err error) {
			if g.near(from + i) {
				parts[i], err = g.judge(from + i)
			}
			return err
		}); err != nil {
			return nil, err
		}
		for _, p := range parts {
			chosen.add(p...)
		}
	}
	return chosen.result(), nil
}

// judge returns the candidates of a batch.
func (g *gatherer) judge(b int) ([]candidate, error) {
	var rows []int32
	indexed := true
	if g.found != nil && g.found[b] != nil {
		rows, g.found[b] = g.found[b], nil
	} else {
		var err error
		if rows, indexed, err = scan.SearchTable(g.table, b, g.box); err != nil {
			return nil, err
		}
	}
	if indexed && len(rows) == 0 {
		return nil, nil
	}
	columns, err := scan.VerifiedBatch(g.table, b)
	if err != nil {
		return nil, err
	}
	j := judge{frame: g.frame, geometry: columns.Geometry, batch: b, start: g.table.Starts[b], share: g.share}
	if g.overview != nil && g.overview.sizes != nil {
		j.sizes = g.overview.sizes[j.start:][:columns.Rows]
	}
	if indexed {
		return j.rows(rows)
	}
	j.box = &g.box
	return j.all(columns.Rows)
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

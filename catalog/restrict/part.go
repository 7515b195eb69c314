package restrict

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// part is what a restriction leaves of one version of a table: which rows, and what is known of
// them. It holds no rows, and is immutable except for the views.
type part struct {
	rule      *rule
	evaluator Evaluator                                  // nil: no mask needs it
	failed    func(ctx context.Context, err error) error // the error for the client
	reads     []bool                                     // columns that are visible or read by masks
	layout    *layout                                    // nil: all rows are kept
	from      []int64                                    // starts of the batches of the whole table
	table     *readers.Table                             // without rows
	columns   []int64                                    // bytes of each column, the geometry being the last one
	batches   []int64                                    // bytes of each batch
	views     scan.Views
}

// builder finds the part of a table.
type builder struct {
	limits    readers.Limits
	evaluator Evaluator
	failed    func(ctx context.Context, err error) error
	// open returns a use of the table for several goroutines, which is released
	open func() tables.Source
}

// ErrNoSQL is the reason why a filter or a mask can't be computed without an Evaluator.
var ErrNoSQL = errors.New("filters and masks need SQL, which this server does not have: it was started with " +
	"--no-sql, or built without cgo")

// build returns the part of a table that a rule leaves.
func (b *builder) build(ctx context.Context, u *rule, of *readers.Table) (*part, error) {
	p := &part{
		rule: u, failed: b.failed, from: of.Starts, table: emptyTable(u, of),
		reads: make([]bool, len(of.Batches[0].Attributes)+1),
	}
	for _, i := range u.attributes {
		p.reads[i] = true
	}
	p.reads[len(p.reads)-1] = u.geometry
	if len(u.computed()) > 0 || u.filter != "" {
		if b.evaluator == nil {
			return nil, b.failed(ctx, ErrNoSQL)
		}
		p.evaluator = b.evaluator
	}
	if err := b.findUses(ctx, p, of); err != nil {
		return nil, err
	}
	if u.filter != "" {
		if err := b.filter(ctx, p, of); err != nil {
			return nil, err
		}
	}
	p.setRows(of)
	mask := u.geometryMask()
	if p.layout != nil || mask != nil && !mask.isNull() {
		return p, b.measure(ctx, p)
	}
	b.describe(p, of)
	return p, nil
}

// emptyTable returns the table without rows, and without what is known of the whole table.
func emptyTable(u *rule, of *readers.Table) *readers.Table {
	t := &readers.Table{
		Format: of.Format, Engine: of.Engine, CRS: of.CRS,
		Facts:   make([]geoarrow.Facts, len(u.attributes)),
		Summary: readers.Summary{CRS: of.CRS, Foreign: map[string]int64{}},
	}
	types := u.types(of.Batches[0])
	t.Batches = []*geoarrow.Columns{types}
	for _, i := range u.attributes {
		t.IDs = append(t.IDs, of.IDs[i])
	}
	return t
}

// setRows sets the rows and the batches of the table.
func (p *part) setRows(of *readers.Table) {
	t := p.table
	if t.Starts = of.Starts; p.layout != nil {
		t.Starts = p.layout.starts
	}
	t.Rows = t.Starts[len(t.Starts)-1]
	t.Batches = append(t.Batches, make([]*geoarrow.Columns, len(t.Starts)-2)...)
}

// findUses finds the columns that masks read, which also checks them.
func (b *builder) findUses(ctx context.Context, p *part, of *readers.Table) error {
	var expressions []string
	for _, m := range p.rule.computed() {
		expressions = append(expressions, m.Expression)
	}
	if len(expressions) == 0 {
		return nil
	}
	uses, err := b.evaluator.Uses(ctx, typesOf(of), expressions)
	if err != nil {
		return b.failed(ctx, err)
	}
	for _, i := range uses {
		p.reads[i] = true
	}
	return nil
}

// typesOf returns a table of the same columns without rows.
func typesOf(of *readers.Table) *readers.Table {
	return &readers.Table{
		Batches: []*geoarrow.Columns{of.Batches[0].Slice(0, 0)}, Starts: []int64{0, 0}, CRS: of.CRS,
	}
}

const (
	groupBatches = 16       // that are filtered at once
	groupBytes   = 64 << 20 // of them
	groupsAtOnce = 2        // that are filtered at the same time
)

// filter finds the rows that the filter keeps.
func (b *builder) filter(ctx context.Context, p *part, of *readers.Table) error {
	sets := make([]rowSet, len(of.Starts)-1)
	var sizes []int64
	g, work := errgroup.WithContext(ctx)
	g.SetLimit(groupsAtOnce)
	base := b.open()
	_, sizes = base.Sizes()
	base.Release()
	for from := 0; from < len(sets); {
		to, bytes := from, int64(0)
		for to < len(sets) && to-from < groupBatches && (to == from || bytes+sizes[to] <= groupBytes) {
			bytes += sizes[to]
			to++
		}
		first := from
		g.Go(func() error { return b.filterGroup(work, p.rule, of, sets, first, to) })
		from = to
	}
	if err := g.Wait(); err != nil {
		return err
	}
	p.layout = newLayout(sets, sizes, b.limits)
	return nil
}

// filterGroup finds the rows of batches [from, to) that the filter keeps.
func (b *builder) filterGroup(ctx context.Context, u *rule, of *readers.Table, sets []rowSet, from, to int) error {
	base := b.open()
	defer base.Release()
	t := &readers.Table{Starts: []int64{0}, CRS: of.CRS}
	for j := from; j < to; j++ {
		c, err := base.Batch(ctx, j)
		if err != nil {
			return err
		}
		t.Batches = append(t.Batches, c)
		t.Rows += int64(c.Rows)
		t.Starts = append(t.Starts, t.Rows)
	}
	if len(of.Boxes) > 0 {
		t.Boxes = of.Boxes[from:to]
	}
	kept, err := b.evaluator.Filter(ctx, t, u.filter)
	if err != nil {
		return b.failed(ctx, err)
	}
	for j := from; j < to; j++ {
		sets[j] = newRowSet(t.Batches[j-from].Rows, kept[j-from])
	}
	return nil
}

// measure reads all rows, and finds what is known of them.
func (b *builder) measure(ctx context.Context, p *part) error {
	t := p.table
	n := len(t.Starts) - 1
	p.columns, p.batches = make([]int64, p.width()), make([]int64, n)
	t.Boxes, t.GeometryTypes = make([]readers.Box, n), []string{}
	base := b.open()
	defer func() { base.Release() }()
	for i := range n {
		if i%groupBatches == groupBatches-1 { // a dataset keeps what was read
			base.Release()
			base = b.open()
		}
		c := t.Batches[0]
		if t.Rows > 0 {
			var err error
			if c, err = p.read(ctx, base, i); err != nil {
				return err
			}
		}
		one := readers.Table{Batches: []*geoarrow.Columns{c}}
		if err := one.Measure(ctx); err != nil {
			return err
		}
		t.Boxes[i] = one.Boxes[0]
		t.Positions += one.Positions
		t.GeometryTypes = append(t.GeometryTypes, one.GeometryTypes...)
		t.BBox = boxUnion(t.BBox, one.BBox)
		for k, bytes := range scan.ColumnBytes(&one) {
			p.columns[k] += bytes
			p.batches[i] += bytes
			t.Bytes += bytes
		}
	}
	slices.Sort(t.GeometryTypes)
	t.GeometryTypes = slices.Compact(t.GeometryTypes)
	return nil
}

// width returns the number of columns, with the geometry.
func (p *part) width() int {
	if p.rule.geometry {
		return len(p.rule.attributes) + 1
	}
	return len(p.rule.attributes)
}

func boxUnion(a, b *readers.Box) *readers.Box {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	return &readers.Box{min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])}
}

// describe sets what is known of the table if all rows are kept, without reading them. The sizes of
// masked columns are estimates that do not depend on their values.
func (b *builder) describe(p *part, of *readers.Table) {
	t, u := p.table, p.rule
	base := b.open()
	columns, _ := base.Sizes()
	base.Release()
	p.columns = make([]int64, p.width())
	for to := range p.columns {
		i := len(columns) - 1
		if to < len(u.attributes) {
			i = u.attributes[to]
		}
		if p.columns[to] = columns[i]; u.maskOf(to) != nil {
			p.columns[to] = estimatedBytes * t.Rows
		}
		t.Bytes += p.columns[to]
	}
	n := len(t.Starts) - 1
	p.batches = make([]int64, n)
	for i := range n {
		if t.Rows > 0 {
			share := float64(t.Starts[i+1]-t.Starts[i]) / float64(t.Rows)
			p.batches[i] = int64(float64(t.Bytes) * share)
		}
	}
	if u.geometry && u.geometryMask() == nil {
		t.Boxes, t.BBox, t.GeometryTypes, t.Positions = of.Boxes, of.BBox, of.GeometryTypes, of.Positions
		return
	}
	t.Boxes = slices.Repeat([]readers.Box{scan.NoBox}, n)
}

// estimatedBytes of a value of a masked column: a text has offsets and bytes.
const estimatedBytes = 8

// size returns the bytes that the part needs in the cache.
func (p *part) size() int64 {
	n := int64(1024 + 64*len(p.table.Starts) + 128*len(p.columns))
	if p.layout != nil {
		n += p.layout.bytes()
	}
	return n
}

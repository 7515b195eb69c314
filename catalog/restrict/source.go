package restrict

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// reader provides the batches of a restricted table. It implements tables.Source.
type reader struct {
	base tables.Source
	part *part
	keep int // number of batches that are kept for the next call

	mu   sync.Mutex
	last []batch // the most recently used last
}

// batch is a batch that was read.
type batch struct {
	number  int
	columns *geoarrow.Columns
}

// Is reports whether a table is a restricted one. Each call of Batch may make another copy of its
// rows.
func Is(h *tables.Ref) bool {
	_, ok := h.Source().(*reader)
	return ok
}

// Table implements scan.Source.
func (s *reader) Table() *readers.Table { return s.part.table }

// Sizes implements scan.Source.
func (s *reader) Sizes() (columns, batches []int64) { return s.part.columns, s.part.batches }

// Close implements scan.Source.
func (s *reader) Close(ctx context.Context) error { return s.base.Close(ctx) }

// Retain implements tables.Source. Rows that are not copied are in memory of the whole table.
func (s *reader) Retain() (release func()) { return s.base.Retain() }

// Release implements tables.Source.
func (s *reader) Release() { s.base.Release() }

// want says which batches are going to be read, if the base loads them in advance.
func (s *reader) want(batches []int, ahead bool) {
	if w, ok := s.base.(interface {
		Want(batches []int, ahead bool)
	}); ok {
		w.Want(s.part.needs(batches), ahead)
	}
}

// Batch implements scan.Source.
func (s *reader) Batch(ctx context.Context, i int) (*geoarrow.Columns, error) {
	if s.part.table.Rows == 0 {
		return s.part.table.Batches[0], nil
	}
	if c := s.known(i); c != nil {
		return c, nil
	}
	c, err := s.part.read(ctx, s.base, i)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = append(s.last, batch{i, c})
	if len(s.last) > s.keep {
		s.last = slices.Delete(s.last, 0, 1)
	}
	return c, nil
}

// known returns batch i if it was read lately, or nil.
func (s *reader) known(i int) *geoarrow.Columns {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := slices.IndexFunc(s.last, func(b batch) bool { return b.number == i })
	if k < 0 {
		return nil
	}
	b := s.last[k]
	s.last = append(slices.Delete(s.last, k, k+1), b)
	return b.columns
}

// Search implements scan.Source. It uses the spatial indices of the whole table.
func (s *reader) Search(ctx context.Context, i int, box [4]float64) ([]int32, bool, error) {
	p := s.part
	switch {
	case p.table.Rows == 0 || !p.rule.geometry:
		return nil, true, nil
	case p.rule.geometryMask() != nil:
		return nil, false, nil
	case p.layout == nil:
		return s.base.Search(ctx, i, box)
	}
	var found []int32
	at := 0
	for _, g := range p.layout.of(i) {
		rows, ok, err := s.base.Search(ctx, g.batch, box)
		if err != nil || !ok {
			return nil, false, err
		}
		set := p.layout.sets[g.batch]
		for _, r := range rows {
			if !set.has(r) {
				continue
			}
			if k := set.rank(int(r)); k >= g.from && k < g.to {
				found = append(found, int32(at+k-g.from))
			}
		}
		at += g.to - g.from
	}
	return found, true, nil
}

// Ranges implements scan.RowPartitioner. Columns that are hidden or masked are not columns of
// folders.
func (s *reader) Ranges(values map[string]any) ([][2]int64, error) {
	p := s.part
	of, ok := s.base.(scan.RowPartitioner)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !ok {
			return nil, &scan.PartitionError{
				Column: name, What: "is not a column of folders: the table is not a dataset",
			}
		}
		if !p.shows(name) {
			return nil, &scan.PartitionError{Column: name, What: "is not a column of folders"}
		}
	}
	ranges, err := of.Ranges(values)
	if err != nil {
		return nil, err
	}
	if p.layout == nil {
		return ranges, nil
	}
	kept := ranges[:0:0]
	for _, r := range ranges {
		from, to := p.layout.rank(p.from, r[0]), p.layout.rank(p.from, r[1])
		switch last := len(kept) - 1; {
		case from == to:
		case last >= 0 && kept[last][1] == from:
			kept[last][1] = to
		default:
			kept = append(kept, [2]int64{from, to})
		}
	}
	return kept, nil
}

// shows reports whether the table has a column, with its true values.
func (p *part) shows(name string) bool {
	types := p.table.Batches[0]
	for to := range types.Attributes {
		if types.Attributes[to].Name == name {
			return p.rule.maskOf(to) == nil
		}
	}
	return false
}

// needs returns the batches of the whole table that have the rows of some batches.
func (p *part) needs(batches []int) (all []int) {
	if p.layout == nil {
		return batches
	}
	for _, i := range batches {
		for _, g := range p.layout.of(i) {
			if n := len(all); n == 0 || all[n-1] != g.batch {
				all = append(all, g.batch)
			}
		}
	}
	return all
}

// read returns batch i.
func (p *part) read(ctx context.Context, base tables.Source, i int) (*geoarrow.Columns, error) {
	if p.layout == nil {
		c, err := base.Batch(ctx, i)
		if err != nil {
			return nil, err
		}
		return p.masked(ctx, c)
	}
	segments := p.layout.of(i)
	if len(segments) == 1 {
		c, err := p.pick(ctx, base, segments[0])
		if err != nil {
			return nil, err
		}
		return p.masked(ctx, c)
	}
	j := geoarrow.Concatenation{Memory: &geoarrow.Arena{}}
	for _, g := range segments {
		// Rows are copied at once: the base may release a batch when the next one is read.
		c, err := p.pick(ctx, base, g)
		if err != nil {
			return nil, err
		}
		if err := j.Append(c, 0, c.Rows); err != nil {
			return nil, err
		}
	}
	return p.masked(ctx, j.Columns())
}

// pick returns the rows of a segment, with the columns that are read. The others have no slices.
func (p *part) pick(ctx context.Context, base tables.Source, g segment) (*geoarrow.Columns, error) {
	c, err := base.Batch(ctx, g.batch)
	if err != nil {
		return nil, err
	}
	if c.Rows != p.layout.sets[g.batch].rows {
		return nil, fmt.Errorf("batch %d has %d rows, not %d", g.batch, c.Rows, p.layout.sets[g.batch].rows)
	}
	c = p.onlyRead(c)
	if p.layout.sets[g.batch].full() {
		return c.Slice(g.from, g.to), nil
	}
	return c.Take(p.layout.rows(g)), nil
}

// onlyRead returns a batch with the columns that are visible or read by masks. The others have the
// type null.
func (p *part) onlyRead(c *geoarrow.Columns) *geoarrow.Columns {
	out := &geoarrow.Columns{Rows: c.Rows, Attributes: make([]geoarrow.Column, len(c.Attributes))}
	for i := range c.Attributes {
		if p.reads[i] {
			out.Attributes[i] = c.Attributes[i]
		} else {
			out.Attributes[i] = geoarrow.Unread(c.Attributes[i].ID())
		}
	}
	if c.Geometry != nil && p.reads[len(c.Attributes)] {
		out.Geometry = c.Geometry
	}
	return out
}

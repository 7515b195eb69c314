package readers

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Extend returns the table of a file that has grown since old was read from it. The result is what
// Read returns, but only the last batch of old and the bytes after it are parsed. The caller has
// verified that the file still begins with the old bytes. Batches may share the slices of old. ok
// is false if the whole file has to be read.
func Extend(ctx context.Context, f Format, p Parser, src *source.File, limits Limits, old *Table,
	keep Keeper,
) (t *Table, ok bool, err error) {
	if !extends(old) {
		return nil, false, nil
	}
	began := time.Now()
	limits = limits.WithDefaults()
	last := len(old.Batches) - 1
	span := old.Spans[last]

	// The counts of the last batch are subtracted, since it is parsed again.
	again, err := p.Parse(ctx, src, Request{Span: span, Limits: limits}, func(Chunk) error { return nil })
	if err != nil {
		return nil, true, err
	}
	j := joiner{ctx: ctx, parser: p, src: src, limits: limits}
	for i := range last {
		if old.Check != nil {
			if err := old.Check(i); err != nil {
				return nil, true, err
			}
		}
		if err := j.add(Chunk{Columns: raw(old, i), Span: old.Spans[i]}); err != nil {
			return nil, true, err
		}
	}
	j.keep = keep
	sum, err := p.Parse(ctx, src, Request{
		Span:   Span{From: span.From, To: -1, Row: span.Row, State: span.State},
		Limits: limits,
	}, j.add)
	if err != nil {
		if wide := (*LimitError)(nil); errors.As(err, &wide) && wide.Flag == columnsFlag {
			return nil, false, nil // reading all rows reports which one exceeds the limit of columns
		}
		return nil, true, err
	}
	if j.lacksGuessed(old) {
		return nil, false, nil
	}
	total := old.Summary
	total.Foreign = map[string]int64{}
	maps.Copy(total.Foreign, old.Summary.Foreign)
	total.subtract(&again)
	total.Add(&sum)
	t = &Table{Format: f.Name, Engine: EngineOf(p), CRS: sum.CRS, Summary: total}
	if err := j.join(t); err != nil {
		return nil, true, err
	}
	t.ParseTime = time.Since(began)
	return t, true, nil
}

// lacksGuessed reports whether a column that was guessed to hold the geometry is text in the new
// rows and missing in the old table.
func (j *joiner) lacksGuessed(old *Table) bool {
	return slices.ContainsFunc(j.order, func(id geoarrow.ColumnID) bool {
		f := j.facts[id]
		return f.Kinds&geoarrow.FactGuess != 0 && !f.IsGuessed() && !slices.Contains(old.IDs, id)
	})
}

// extends reports whether the table has what is needed to extend it. Row numbers of skipped rows
// are in no batch.
func extends(t *Table) bool {
	return t.Summary.Appendable && t.Summary.Skipped.Count == 0 && t.Summary.Deviations.IsEmpty() &&
		t.Rows > 0 && len(t.Spans) == len(t.Batches) &&
		len(t.IDs) == len(t.Batches[0].Attributes) && len(t.Facts) == len(t.IDs)
}

// raw returns batch i as its original chunk, except that its columns have the table's types and the
// facts of all rows.
func raw(t *Table, i int) *geoarrow.Columns {
	c := *t.Batches[i]
	c.Attributes = slices.Clone(c.Attributes)
	for k := range c.Attributes {
		c.Attributes[k].Facts, c.Attributes[k].Name = t.Facts[k], t.IDs[k].Name
	}
	return &c
}

// subtract removes the counts of some rows, none of which was skipped.
func (s *Summary) subtract(t *Summary) {
	s.BytesRead -= t.BytesRead
	s.IgnoredOrdinates -= t.IgnoredOrdinates
	s.UnclosedRings -= t.UnclosedRings
	s.ShortRings -= t.ShortRings
	s.ShortLines -= t.ShortLines
	for name, n := range t.Foreign {
		if s.Foreign[name] -= n; s.Foreign[name] == 0 {
			delete(s.Foreign, name)
		}
	}
}

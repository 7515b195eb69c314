package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vibeflight/vibeflight/readers"
)

// outline is what is told of a table beside its shape: with both it can be described while it is
// not there.
type outline struct {
	Engine        string          `json:"engine"`
	ParseTime     time.Duration   `json:"parse_time"`
	GeometryTypes []string        `json:"geometry_types"`
	Summary       readers.Summary `json:"summary"`
	Rounded       int64           `json:"rounded"`
	Replaced      int64           `json:"replaced"`
	// bytes of each attribute's slices, and of the geometry's where there is one
	Columns []int64 `json:"columns"`
	Batches []int64 `json:"batches"` // bytes of each batch's slices
}

// outlineOf is what is kept of a table.
func outlineOf(t *readers.Table) *outline {
	return &outline{
		Engine: t.Engine, ParseTime: t.ParseTime, GeometryTypes: t.GeometryTypes, Summary: t.Summary,
		Rounded: t.RoundedIntegers, Replaced: t.ReplacedCharacters,
		Columns: columnBytes(t), Batches: batchBytes(t),
	}
}

// columnBytes is the size of each column, over all batches.
func columnBytes(t *readers.Table) []int64 {
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

// batchBytes is the size of each batch.
func batchBytes(t *readers.Table) []int64 {
	sizes := make([]int64, len(t.Batches))
	for i, b := range t.Batches {
		sizes[i] = b.Bytes()
	}
	return sizes
}

// fits reports whether the outline can be of a table of a shape: what is stored may be damaged.
func (o *outline) fits(s *readers.Shape) bool {
	columns := len(s.IDs)
	if s.Shapes {
		columns++
	}
	return o != nil && len(o.Columns) == columns && len(o.Batches) == len(s.Starts)-1
}

// tell completes a table of k's shape, which has no rows, with what is known beside it.
func (k *tableMeta) tell(t *readers.Table, format string) {
	o := k.Outline
	t.Format, t.Engine, t.ParseTime, t.Summary = format, o.Engine, o.ParseTime, o.Summary
	t.BBox, t.GeometryTypes, t.RoundedIntegers, t.ReplacedCharacters = k.bbox, o.GeometryTypes, o.Rounded, o.Replaced
	for _, n := range o.Batches {
		t.Bytes += n
	}
}

// Describe is Recall, or else Table and Scan.
func (c *Catalog) Describe(ctx context.Context, req Request, sel Selection, parse bool) (*TableRef, *Scan, error) {
	h, s, err := c.Recall(ctx, req, sel, parse)
	if s != nil || err != nil {
		return h, s, err
	}
	if h, err = c.Table(ctx, req); err != nil {
		return nil, nil, err
	}
	if s, err = c.Scan(h, sel); err != nil {
		h.Release()
		return nil, nil, err
	}
	return h, s, nil
}

// Recall is for who is told what a selection gives, and asks for the rows behind that, or not at
// all. Where the table was lost from the cache and its file is the one that was parsed then, all of
// it is known, and nobody waits for a parse: Table of the answer has no rows then, the scan can't
// give any, and Cached is false. parse has a parse begin all the same, if few are, so that the rows
// are on their way when somebody asks; it goes on for pollLease, whoever waits for it. Which rows
// meet a bounding box is found in the batches that meet it, if these are few. Without an error and
// a scan the table is there, or it takes a parse to tell.
func (c *Catalog) Recall(ctx context.Context, req Request, sel Selection, parse bool) (*TableRef, *Scan, error) {
	if sel.BBox != nil {
		h, s, err := c.readPart(ctx, req, sel)
		if s != nil && s.outline == nil {
			h.Release()
			return nil, nil, nil
		}
		return h, s, err
	}
	j, err := c.request(req)
	if err != nil {
		return nil, nil, err
	}
	if c.tables.keeps(j) {
		return nil, nil, nil
	}
	j.recorded = c.recorded(ctx, j)
	k := c.known(j, j.recorded)
	if k == nil || k.Outline == nil || c.lies(k) {
		return nil, nil, nil
	}
	t := k.Table()
	v, err := newView(t, sel)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", j.entry.Name, err)
	}
	if parse {
		if err := c.expect(req, j); err != nil { // while the answer is made
			return nil, nil, err
		}
	}
	k.tell(t, j.format.Name)
	s := v.scan(t, sel)
	s.outline = k.Outline
	return &TableRef{Entry: j.entry, Version: j.version, Table: t, job: j}, s, nil
}

// expect has the table of a job parsed for who will ask for it, as if somebody polled for it: once,
// however often it is called, unless enough are. Then it is parsed when somebody does.
func (c *Catalog) expect(req Request, j job) error {
	req.awaited, req.recorded = true, j.recorded
	id := fmt.Sprint("expected ", j.key) // nobody has a poll of that ID
	p := c.tables.joinPoll(id, j.key, c.pollLease)
	if p == nil {
		var err error
		if p, err = c.beginPoll(req, &poll{id: id, key: j.key, expected: true}); errors.Is(err, errExpected) {
			return nil
		} else if err != nil {
			return err
		}
	}
	c.tables.leavePoll(p, c.pollLease)
	return nil
}

// keeps reports whether the table of a job is there.
func (t *tables) keeps(j job) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find(j) != nil
}

// Bytes is the size of the slices of the columns that are asked for, over all rows of the table, as
// the cache holds them.
func (s *Scan) Bytes() int64 {
	var sizes []int64
	if s.outline != nil {
		sizes = s.outline.Columns
	} else {
		sizes = columnBytes(s.table)
	}
	var n int64
	for _, i := range s.view.attrs {
		n += sizes[i]
	}
	if s.view.geometry {
		n += sizes[len(sizes)-1]
	}
	return n
}

// BatchBytes is the size of the slices of each batch of the table, whatever columns are asked for.
func (s *Scan) BatchBytes() []int64 {
	if s.outline != nil {
		return s.outline.Batches
	}
	return batchBytes(s.table)
}

// errNotThere says that rows were asked for of a scan that only describes.
var errNotThere = errors.New("catalog: a scan of a table that is not there has no rows")

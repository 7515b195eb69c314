package catalog

import (
	"context"
	"fmt"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/load"
	"github.com/vibeflight/vibeflight/catalog/poll"
	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/catalog/tables"
)

// describing returns the privilege that a caller needs to have a table described. The number of rows
// that a filter keeps tells the values of columns.
func (r Request) describing() access.Privilege {
	if r.Where != "" {
		return access.Read
	}
	return access.Describe
}

// Describe is Recall if the table can be described without a parse, else Table and Scan. The caller
// needs the privilege Describe, and Read for a request with a filter.
func (c *Catalog) Describe(ctx context.Context, req Request, sel Selection, parse bool) (*TableRef, *Scan, error) {
	if err := c.allow(ctx, req.describing(), req.Name); err != nil {
		return nil, nil, err
	}
	h, s, err := c.describe(ctx, req, sel, parse)
	return h, s, c.Known(ctx, req.Name, err)
}

func (c *Catalog) describe(ctx context.Context, req Request, sel Selection, parse bool) (*TableRef, *Scan, error) {
	if _, ok := c.dataset(ctx, req); ok {
		return c.read(ctx, req, sel)
	}
	h, s, ok, err := c.recall(ctx, req, sel, parse)
	if ok || err != nil {
		return h, s, err
	}
	return scanOf(sel)(c.table(ctx, req))
}

// Recall describes a selection of a table that is not available, from what is known of an unchanged
// file since its last parse. It is for a caller that requests the rows later, or never. Table of
// the result has no rows, the scan gives none, and Cached is false. With a bounding box that few
// batches meet, these are parsed to find the number of rows.
//
// parse begins a parse all the same, unless enough are under way, so that the rows are available
// sooner. It continues for poll.DefaultLease even if no caller waits for it. With a shared cache none
// begins: the client may ask another server for the rows.
//
// ok is false if the table is available or restricted, or a parse is needed to describe it. The
// caller needs the privilege Describe.
func (c *Catalog) Recall(ctx context.Context, req Request, sel Selection, parse bool) (
	h *TableRef, s *Scan, ok bool, err error,
) {
	if err := c.allow(ctx, req.describing(), req.Name); err != nil {
		return nil, nil, false, err
	}
	h, s, ok, err = c.recall(ctx, req, sel, parse)
	return h, s, ok, c.Known(ctx, req.Name, err)
}

func (c *Catalog) recall(ctx context.Context, req Request, sel Selection, parse bool) (
	h *TableRef, s *Scan, ok bool, err error,
) {
	r, err := c.restriction(ctx, req)
	if _, ok := c.dataset(ctx, req); ok || r != nil || err != nil {
		return nil, nil, false, err
	}
	if sel.BBox != nil {
		return c.part(ctx, req, sel, true)
	}
	j, err := c.job(ctx, req)
	if err != nil || c.tables.Serves(j) {
		return nil, nil, false, err
	}
	k := c.archive.Meta(j, c.archive.Recorded(ctx, j))
	if k == nil || k.Outline == nil || c.archive.Has(k) {
		return nil, nil, false, nil
	}
	d := load.Describe(k, j.Format.Name)
	if s, err = scan.Of(d, sel); err != nil {
		return nil, nil, false, fmt.Errorf("%s: %w", j.Entry.Name, err)
	}
	if parse && c.archive.Shared() == nil { // while the answer is made
		req.streamed = true
		err := c.polls.Prefetch(j, func(ctx context.Context) (*tables.Ref, error) {
			return c.twice(ctx, req, c.tables.Get)
		})
		if err != nil {
			return nil, nil, false, err
		}
	}
	return tables.NewRef(j, d.Table(), nil), s, true, nil
}

// Poll is Table for a client that asks again instead of waiting. If the table is not available
// after a moment, it returns nil and the progress; the parse continues for a lease. id is that of
// an earlier poll for the same table, or "". All polls with one id have one share in the parse,
// which CancelPoll ends. It belongs to the owner in the context. The caller needs the privilege
// Describe.
func (c *Catalog) Poll(ctx context.Context, req Request, id string) (*TableRef, poll.Progress, error) {
	if err := c.allow(ctx, req.describing(), req.Name); err != nil {
		return nil, poll.Progress{}, err
	}
	h, at, err := c.pollPart(ctx, req, id)
	return h, at, c.Known(ctx, req.Name, err)
}

// pollPart is Poll for any caller.
func (c *Catalog) pollPart(ctx context.Context, req Request, id string) (*TableRef, poll.Progress, error) {
	r, err := c.restriction(ctx, req)
	if err != nil {
		return nil, poll.Progress{}, err
	}
	h, at, err := c.poll(ctx, r.request(req), id)
	h, err = r.apply(ctx, h, err)
	return h, at, err
}

// poll is Poll for the whole table: a parse is shared by callers with different restrictions.
func (c *Catalog) poll(ctx context.Context, req Request, id string) (*TableRef, poll.Progress, error) {
	if e, ok := c.dataset(ctx, req); ok {
		return c.pollDataset(ctx, e, req, id)
	}
	j, err := c.job(ctx, req)
	if err != nil {
		return nil, poll.Progress{}, err
	}
	return c.polls.Poll(ctx, j, func(ctx context.Context) (*tables.Ref, error) {
		return c.twice(ctx, req, c.tables.Get)
	}, id)
}

// CancelPoll ends the share of a poll in a parse, and the parse if no other caller waits for it. It
// returns false if the parse is over, or the poll has another owner.
func (c *Catalog) CancelPoll(ctx context.Context, id string) bool { return c.polls.Cancel(ctx, id) }

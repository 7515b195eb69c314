package catalog

import (
	"context"
	"errors"

	"github.com/vibeflight/vibeflight/catalog/dataset"
	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/poll"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/readers/source"
)

// dataset returns the entry of a request if it is a dataset.
func (c *Catalog) dataset(ctx context.Context, req Request) (Entry, bool) {
	if len(c.cfg.Datasets) == 0 {
		return Entry{}, false
	}
	e, err := c.tree.Lookup(ctx, req.Name)
	return e, err == nil && e.IsDataset()
}

// view returns the present view of a dataset. Members that are not known are parsed. If a member
// has changed since the last walk, the folders are read again.
func (c *Catalog) view(ctx context.Context, req Request) (*dataset.View, error) {
	for again := false; ; again = true {
		e, err := c.tree.Lookup(ctx, req.Name)
		if err != nil {
			return nil, err
		}
		if !e.IsDataset() {
			return nil, c.tree.NotFound(req.Name)
		}
		v, err := c.datasets.Open(ctx, e, req.Options)
		if errors.Is(err, source.ErrChanged) && !again && ctx.Err() == nil {
			if err := c.tree.Refresh(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if err == nil && req.Version != "" && req.Version != v.Version {
			err = &ChangedError{Name: req.Name, Want: req.Version, Have: v.Version}
		}
		return v, err
	}
}

// pollDataset is Poll for a dataset.
func (c *Catalog) pollDataset(ctx context.Context, e Entry, req Request, id string) (
	*TableRef, poll.Progress, error,
) {
	j := job.Job{Entry: e, Key: job.Key{Name: e.Name, Format: e.Format, Identity: e.Identity}}
	return c.polls.Poll(ctx, j, func(ctx context.Context) (*tables.Ref, error) {
		return c.whole(ctx, req, true)
	}, id)
}

// progress returns the share of a job's files that were read.
func (c *Catalog) progress(j job.Job) float64 {
	if j.Entry.IsDataset() {
		return c.datasets.Progress(j.Entry.Name)
	}
	return c.tables.Progress(j)
}

// DatasetInfo describes the members of a table that is a dataset; nil for any other table.
func DatasetInfo(h *TableRef) *dataset.Info { return dataset.InfoOf(h) }

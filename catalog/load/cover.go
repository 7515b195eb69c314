package load

import (
	"context"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Cover returns what a file says of its table without a parse, or nil.
func (c *Loader) Cover(ctx context.Context, j job.Job) *persist.Meta {
	if j.Format.Cover == nil || j.Entry.Layer != "" {
		return nil
	}
	if at, ok := c.wrong.Load(j.Entry.Location()); ok && at == j.Entry.Identity {
		return nil
	}
	src, err := j.Entry.Open(ctx, j.Format)
	if err != nil {
		return nil // a parse gives the error
	}
	defer src.Close()
	if src.Identity != j.Entry.Identity || !source.AwaitClockTick(ctx, src) {
		return nil
	}
	layout, err := j.Format.Open(ctx, src, j.Options)
	if err != nil {
		return nil
	}
	var t *readers.Table
	t, ok := j.Format.Cover(layout, src, c.Limits)
	if !ok || src.Unchanged() != nil {
		return nil
	}
	k := persist.CoverMeta(t, c.Limits)
	if !k.Fits(c.Limits) {
		return nil
	}
	return k
}

// Distrust remembers that a file's metadata does not describe its rows.
func (c *Loader) Distrust(j job.Job) { c.wrong.Store(j.Entry.Location(), j.Entry.Identity) }

package load

import (
	"context"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// made returns the table of a job that has a Maker.
func (c *Loader) made(ctx context.Context, f *tables.Call, j job.Job) (*persist.Data, error) {
	f.Begin(nil)
	t, err := j.Maker.Make(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.Measure(ctx); err != nil {
		return nil, err
	}
	return persist.NewData(t), nil
}

// Whole reads the table of a small file, in memory and with one worker. It is neither looked up in
// the archive nor kept there: the caller joins it with others.
func (c *Loader) Whole(ctx context.Context, j job.Job) (t *readers.Table, err error) {
	defer func() {
		if r := recover(); r != nil {
			t, err = nil, c.Panicked(j, r)
		}
	}()
	src, err := openEntry(ctx, j)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	t, err = c.whole(ctx, j, src)
	if changed := src.Unchanged(); changed != nil {
		err = changed
	}
	switch {
	case c.done.Err() != nil:
		err = tree.ErrClosed
	case ctx.Err() != nil:
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// whole reads the table of an open file.
func (c *Loader) whole(ctx context.Context, j job.Job, src *source.File) (*readers.Table, error) {
	content, err := c.Formats.UnpackLayer(ctx, j.Format, src, j.Entry.Layer, c.Unpacking())
	if err != nil {
		return nil, err
	}
	if content != src {
		defer content.Close()
	}
	layout, err := j.Format.Open(ctx, content, j.Options)
	if err != nil {
		return nil, err
	}
	layout.Layer = readers.LayerIn(content, j.Entry.Layer)
	limits := c.Limits
	limits.Workers = 1
	t, err := c.Read(ctx, j.Format, j.Format.AsText(j.Format.CPU(layout), j.Text), content, limits, nil)
	if err != nil {
		return nil, err
	}
	return t, t.Measure(ctx)
}

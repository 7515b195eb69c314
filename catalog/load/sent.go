package load

import (
	"context"
	"time"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Sent runs a parse of a file that a client sends. read is called with the unpacked content.
func (c *Loader) Sent(ctx context.Context, j job.Job, src *source.File,
	read func(ctx context.Context, layout readers.Layout, content *source.File) error,
) (err error) {
	end, ok := c.Begin()
	if !ok {
		return tree.ErrClosed
	}
	defer end()
	var content *source.File
	var engine string
	defer func(started time.Time) {
		if content != nil {
			c.report(j, engine, content.BytesRead(), 0, time.Since(started), err)
		}
	}(time.Now())
	ctx, cancel := c.untilClosed(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.done, func() {
		if up := src.Uploaded(); up != nil {
			up.Fail(tree.ErrClosed)
		}
	})()
	defer func() {
		if r := recover(); r != nil {
			err = c.Panicked(j, r)
		}
		switch up := src.Uploaded(); {
		case err == nil:
		case up != nil && up.Err() != nil: // not the parser's error about the missing bytes
			err = up.Err()
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		}
	}()
	defer c.parsing()()
	content, err = c.Formats.UnpackLayer(ctx, j.Format, src, j.Entry.Layer, c.Unpacking())
	if err != nil {
		return err
	}
	if content != src {
		defer content.Close()
	}
	layout, err := j.Format.Open(ctx, content, j.Options)
	if err != nil {
		return err
	}
	layout.Layer, layout.Columns = readers.LayerIn(content, j.Entry.Layer), j.Columns
	engine = readers.EngineOf(c.ParserOf(j.Format, layout, content))
	return read(ctx, layout, content)
}

// untilClosed returns a context that also ends, with tree.ErrClosed, when the catalog is closed.
func (c *Loader) untilClosed(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.done, func() { cancel(tree.ErrClosed) })
	return ctx, func(cause error) {
		stop()
		cancel(cause)
	}
}

// ReadSent reads the whole content of a file that a client sends. shares is the number of such
// files that share the memory.
func (c *Loader) ReadSent(ctx context.Context, j job.Job, layout readers.Layout, content *source.File,
	shares int,
) (*persist.Data, error) {
	s := c.Archive.NewSpool(j.Entry.Name, c.MemoryBytes, content)
	defer s.Close()
	s.Share(shares)
	t, err := c.Read(ctx, j.Format, c.ParserOf(j.Format, layout, content), content, c.Limits, s)
	if err != nil {
		return nil, err
	}
	if err := t.Measure(ctx); err != nil {
		return nil, err
	}
	return s.Finish(ctx, t)
}

// ParserOf is Parser for a file that may not be complete yet: a GPU does not wait for a client.
func (c *Loader) ParserOf(f readers.Format, layout readers.Layout, content *source.File) readers.Parser {
	if up := content.Uploaded(); up != nil && !up.Whole() {
		return f.CPU(layout)
	}
	return c.Parser(f, layout, content.Size)
}

package catalog

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Admit waits until a client may send a file to have it parsed. The caller calls leave when it is
// done with the file and its table. The caller needs the privilege Read on the server.
func (c *Catalog) Admit(ctx context.Context) (leave func(), err error) {
	if err := access.Check(c.Scope(ctx), access.Read, access.Server); err != nil {
		return nil, err
	}
	return c.inbox.Admit(ctx)
}

// CheckSent returns the error of an upload, before a byte of the file is there.
func (c *Catalog) CheckSent(how Upload) error { return c.inbox.Check(how) }

// Temporary returns where the files that clients send are written, and how large one may be.
func (c *Catalog) Temporary(maxBytes int64) source.UnpackOptions { return c.inbox.Temporary(maxBytes) }

// Parse returns the table of a file that a client sends: inbox.Inbox.Parse.
func (c *Catalog) Parse(ctx context.Context, src *source.File, how Upload, columns []string) (*TableRef, error) {
	return c.inbox.Parse(ctx, src, how, columns)
}

// Stream passes on the rows of a file while a client sends it: inbox.Inbox.Stream.
func (c *Catalog) Stream(ctx context.Context, src *source.File, how Upload, shape *readers.Shape, sel Selection,
	each func(arrow.Record) error,
) (*readers.Table, error) {
	return c.inbox.Stream(ctx, src, how, shape, sel, each)
}

// OpenShape returns the shape of a table, for Stream of other files. It returns false for a table
// of which only some columns were read.
func (c *Catalog) OpenShape(h *TableRef) (shape readers.Shape, ok bool) { return h.Shape(c.cfg.Limits) }

// Writable reports whether clients can store tables.
func (c *Catalog) Writable() bool { return c.inbox.Writable() }

// Draft begins to store a table under a name: inbox.Inbox.Draft. The caller needs the privilege
// Write on the full name. Whether an entry has the name makes no difference to a caller without it.
func (c *Catalog) Draft(ctx context.Context, name string, mode Mode, schema *arrow.Schema) (*Draft, error) {
	full, err := c.inbox.FullName(name)
	if err != nil {
		return nil, err
	}
	if !c.Scope(ctx).Allows(access.Write, full) {
		return nil, &access.DeniedError{Privilege: access.Write, Name: name}
	}
	d, err := c.inbox.Draft(ctx, name, mode, schema)
	return d, c.Known(ctx, full, err)
}

// Drop removes an entry that a client has stored: inbox.Inbox.Drop. The caller needs the privilege
// Write.
func (c *Catalog) Drop(ctx context.Context, name string) error {
	if err := c.allow(ctx, access.Write, name); err != nil {
		return err
	}
	return c.Known(ctx, name, c.inbox.Drop(ctx, name))
}

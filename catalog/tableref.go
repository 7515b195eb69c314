package catalog

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/readers"
)

// TableRef is a table that somebody uses, with one scan at a time. Release it when done with it:
// until then it is not evicted.
type TableRef struct {
	Entry   Entry
	Version string
	Table   *readers.Table
	Cached  bool // it was there already

	job      job
	tables   *tables
	parsed   *cacheEntry
	flight   *parseCall // the parse, while there is no parsed yet
	part     *part      // of the file, in place of either
	released atomic.Bool
}

// Release says that the table is no longer used. Calls after the first do nothing. A table that
// lies in a file, and records made from it, may not be read any more: Retain keeps them.
func (h *TableRef) Release() {
	if h == nil || h.tables == nil || !h.released.CompareAndSwap(false, true) {
		return
	}
	switch {
	case h.part != nil:
		h.part.close()
		return
	case h.flight != nil:
		h.tables.leave(h.flight)
		return
	}
	h.tables.release(h.parsed)
}

// Retain keeps the slices of the table readable until release is called, once, whatever becomes of
// h. It gives nil for a table that the garbage collector keeps. Of a table whose rows come while
// they are parsed, release tells that the rows which were had before Retain are on their way.
func (h *TableRef) Retain() (release func()) {
	if h.flight != nil {
		return h.flight.live.sent()
	}
	if h.parsed == nil {
		return nil
	}
	return h.parsed.retain()
}

// view gives the columns of the table that a selection asks for.
func (h *TableRef) view(sel Selection) (*view, error) {
	if h.parsed == nil {
		return newView(h.Table, sel)
	}
	return h.parsed.views.of(h.Table, sel)
}

// finish waits for the end of the parse and gives the table.
func (h *TableRef) finish(ctx context.Context) (*readers.Table, error) {
	select {
	case <-h.flight.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := h.flight.err; err != nil {
		return nil, err
	}
	h.parsed, h.flight = h.flight.parsed, nil
	h.Table = h.parsed.table
	return h.Table, nil
}

// sound gives an error if the file that is parsed is not the one any more that its first bytes came
// from.
func (h *TableRef) sound(ctx context.Context) error {
	err := h.flight.src.Load().Unchanged()
	if !errors.Is(err, fs.ErrClosed) {
		return err
	}
	select { // the parse is over, and has asked the same
	case <-h.flight.done:
		return h.flight.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// replace has the table of h parsed again because its file is damaged, and gives the new one, which
// h holds from now on.
func (c *Catalog) replace(ctx context.Context, h *TableRef, why error) (*readers.Table, error) {
	if h.parsed == nil || h.released.Load() {
		return nil, why
	}
	c.tables.mu.Lock()
	first := h.parsed.kept // else somebody else has seen it, and the file may be another one by now
	if first {
		c.tables.remove(h.parsed)
	}
	c.tables.mu.Unlock()
	if key, ok := h.parsed.place(); ok && first {
		c.archive.drop(h.Entry.Name, key, why)
	}
	p, _, err := c.join(ctx, h.job)
	if err != nil {
		return nil, err
	}
	c.tables.release(h.parsed)
	h.parsed, h.Table = p, p.table
	return p.table, nil
}

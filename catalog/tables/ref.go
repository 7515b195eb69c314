package tables

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Ref is a use of a table, with one scan at a time. The table is not evicted until Release.
type Ref struct {
	Entry   tree.Entry
	Version string
	Table   *readers.Table
	Cached  bool // no parse was needed

	job      job.Job
	cache    *Cache
	entry    *cacheEntry
	call     *Call                                    // the parse, while entry is nil
	close    func()                                   // of a table that is not in the cache; else nil
	source   Source                                   // that has the rows; nil: the table, or the parse
	scan     func(scan.Selection) (*scan.Scan, error) // of source
	released atomic.Bool
}

// NewRef returns a use of a table that is not in a cache. close is called by Release; may be nil.
func NewRef(j job.Job, t *readers.Table, close func()) *Ref {
	return &Ref{Entry: j.Entry, Version: j.Version, Table: t, job: j, close: close}
}

// Source has the rows of a table that is not one of the cache.
type Source interface {
	scan.Source
	// Retain keeps the rows given last readable until release is called; nil: they always are.
	Retain() (release func())
	// Release ends the use of the source.
	Release()
}

// NewSourceRef returns a use of a table whose rows a source has.
func NewSourceRef(e tree.Entry, version string, cached bool, src Source,
	scan func(scan.Selection) (*scan.Scan, error),
) *Ref {
	return &Ref{
		Entry: e, Version: version, Table: src.Table(), Cached: cached, source: src, scan: scan, close: src.Release,
	}
}

// Batch returns batch i of the table, verified against damage. Only a table whose rows a source has
// may be read by several goroutines.
func (h *Ref) Batch(ctx context.Context, i int) (*geoarrow.Columns, error) {
	if h.source != nil {
		return h.source.Batch(ctx, i)
	}
	return (&refSource{h}).Batch(ctx, i)
}

// Search returns the rows of batch i whose bounding box meets box, as scan.Source does.
func (h *Ref) Search(ctx context.Context, i int, box [4]float64) ([]int32, bool, error) {
	if h.source != nil {
		return h.source.Search(ctx, i, box)
	}
	return (&refSource{h}).Search(ctx, i, box)
}

// Source returns the source that has the rows, or nil: then the batches of Table have them.
func (h *Ref) Source() Source { return h.source }

// Uncached returns a use of a table that no other caller finds.
func (t *Cache) Uncached(j job.Job, l *persist.Data) *Ref {
	p := &cacheEntry{key: j.Key, columns: j.Columns, Data: l, pins: 1}
	return &Ref{Entry: j.Entry, Version: j.Version, Table: l.Table, job: j, cache: t, entry: p}
}

// Get returns the table of a job. Callers that request the same table at the same time share one
// parse, which is canceled when none of them waits for it any more.
func (t *Cache) Get(ctx context.Context, j job.Job) (*Ref, error) {
	p, cached, err := t.get(ctx, j)
	if err != nil {
		return nil, err
	}
	return &Ref{
		Entry: j.Entry, Version: j.Version, Table: p.Table, Cached: cached, job: j, cache: t, entry: p,
	}, nil
}

// Stream is Get for a caller that reads the rows at once. If the rows are available while the file
// is parsed, it does not wait for the end of the parse, and Table has no batches.
func (t *Cache) Stream(ctx context.Context, j job.Job) (*Ref, error) {
	h := &Ref{Entry: j.Entry, Version: j.Version, job: j, cache: t}
	p, f, err := t.getOrJoin(ctx, j)
	switch {
	case err != nil:
		return nil, err
	case p != nil:
		h.Cached = true
	default:
		select {
		case <-f.begun:
			if f.partial != nil {
				h.Table, h.call = f.partial.table, f
				return h, nil
			}
		case <-ctx.Done(): // wait returns its error
		}
		if p, h.Cached, err = t.wait(ctx, f); err != nil {
			return nil, err
		}
	}
	h.Table, h.entry = p.Table, p
	return h, nil
}

// Scan prepares a scan of the selected part of the table. If the table's file turns out to be
// damaged, the data file is parsed again, and the scan continues in the new table, which is equal.
func (h *Ref) Scan(sel scan.Selection) (*scan.Scan, error) {
	if h.entry != nil && !h.entry.columns.Covers(readers.Project(sel.Reads())) {
		return nil, fmt.Errorf("%s: the table was requested without some of columns %q", h.Entry.Name, sel.Reads())
	}
	src := &refSource{Ref: h}
	var s *scan.Scan
	var err error
	if h.source != nil {
		s, err = h.scan(sel)
	} else if h.entry == nil {
		s, err = scan.Of(src, sel)
	} else {
		s, err = h.entry.views.Scan(src, sel)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", h.Entry.Name, err)
	}
	return s, nil
}

// Release ends the use of the table. Calls after the first do nothing. The slices of a mapped
// table, and records made from it, must not be read any more: Retain keeps them.
func (h *Ref) Release() {
	if h == nil || !h.released.CompareAndSwap(false, true) {
		return
	}
	switch {
	case h.close != nil:
		h.close()
	case h.cache == nil:
	case h.call != nil:
		h.cache.leave(h.call)
	default:
		h.cache.release(h.entry)
	}
}

// Retain keeps the slices of the table readable until release is called, even after Release. It
// returns nil for a table that the garbage collector owns. If the rows are streamed while they are
// parsed, release reports that the rows received before Retain have been sent.
func (h *Ref) Retain() (release func()) {
	if h.source != nil {
		return h.source.Retain()
	}
	if h.call != nil {
		return h.call.partial.sent()
	}
	if h.entry == nil {
		return nil
	}
	return h.entry.Retain()
}

// Shape returns the shape of the table, for streams of other files. It returns false for a table of
// which only some columns were read.
func (h *Ref) Shape(limits readers.Limits) (shape readers.Shape, ok bool) {
	unread := func(f geoarrow.Facts) bool { return f.Kinds&geoarrow.FactUnread != 0 }
	if h.entry == nil || !h.entry.columns.All() || slices.ContainsFunc(h.Table.Facts, unread) {
		return readers.Shape{}, false
	}
	return h.Table.Shape(limits).Open(), true
}

// Open opens the file of the whole table for another process, which may map it: the file is never
// changed. Each batch is verified first, once for all callers. A table without a file, such as one
// that was parsed just now, is an error that wraps
// fs.ErrNotExist.
func (h *Ref) Open(ctx context.Context) (*os.File, error) {
	if h.entry == nil || !h.entry.columns.All() {
		return nil, persist.ErrNoFile
	}
	for i := range h.Table.Batches {
		if _, err := h.Batch(ctx, i); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return h.entry.Open()
}

// Cached returns the table of a job if it is cached, without a parse, or nil.
func (t *Cache) Cached(j job.Job) *Ref {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.hit(j)
	if p == nil {
		return nil
	}
	return &Ref{
		Entry: j.Entry, Version: j.Version, Table: p.Table, Cached: true, job: j, cache: t, entry: p,
	}
}

package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Request requests a table.
type Request struct {
	Name    string
	Options map[string]any // of the format; the operator's options are used where they are silent
	Version string         // the only acceptable one; "": any
	// Where is a SQL predicate over the columns that the caller may know. The rows for which it is not
	// true do not exist in the table then; "": all rows.
	Where string
	// Columns that are read; nil: all. Without a cache on disk the others may have no values:
	// readers.Projection.
	Columns []string

	streamed bool // see job.Job
}

// ChangedError says that a file, or the operator's options for it, no longer has the requested
// version.
type ChangedError struct {
	Name       string
	Want, Have string // versions
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s changed: version %s was requested, %s is current; request its FlightInfo again",
		e.Name, e.Want, e.Have)
}

// job checks a request and returns its job.
func (c *Catalog) job(ctx context.Context, req Request) (job.Job, error) {
	e, err := c.tree.LookupAs(ctx, req.Name, readers.FormatNamed(req.Options))
	if err != nil {
		return job.Job{}, err
	}
	j, err := c.jobOf(e, req.Options)
	if err != nil {
		return job.Job{}, err
	}
	j.Streamed = req.streamed
	if !c.archive.OnDisk() { // else the whole table is parsed, to be saved
		j = j.OfColumns(readers.Project(req.Columns))
	}
	if req.Version != "" && req.Version != j.Version {
		return job.Job{}, &ChangedError{Name: req.Name, Want: req.Version, Have: j.Version}
	}
	if limit := c.cfg.MaxFileBytes; limit > 0 && e.Size > limit {
		return job.Job{}, &readers.LimitError{
			What: fmt.Sprintf("%s with its %d bytes", e.Name, e.Size),
			Flag: "--max-file-bytes", Limit: limit,
		}
	}
	// A parse that ended after the file had changed may have cached the former version.
	c.tables.DropOthers(j.Entry.File(), j.Entry.Identity)
	return j, nil
}

func (c *Catalog) jobOf(e Entry, options map[string]any) (job.Job, error) {
	return job.New(c.cfg.Formats, c.cfg.Options, e, options)
}

// Check returns the error, if any, that Table returns before it looks for the table: the entry does
// not exist, or has another version, an option is invalid, or a limit is exceeded.
func (c *Catalog) Check(ctx context.Context, req Request) error {
	if err := c.allow(ctx, access.Read, req.Name); err != nil {
		return err
	}
	if _, ok := c.dataset(ctx, req); ok {
		return nil
	}
	_, err := c.job(ctx, req)
	return c.Known(ctx, req.Name, err)
}

// Version returns the version that the table of a request has now. It parses nothing, but for the
// members of a dataset that are not known. The caller needs the privilege Read.
func (c *Catalog) Version(ctx context.Context, req Request) (string, error) {
	if err := c.allow(ctx, access.Read, req.Name); err != nil {
		return "", err
	}
	if _, ok := c.dataset(ctx, req); ok {
		v, err := c.view(ctx, req)
		if err != nil {
			return "", c.Known(ctx, req.Name, err)
		}
		return v.Version, nil
	}
	j, err := c.job(ctx, req)
	return j.Version, c.Known(ctx, req.Name, err)
}

// Table returns the parsed table of an entry. Callers that request the same table at the same time
// share one parse, which ends early when none of them waits for it any more. A file that changes
// while it is parsed is parsed once more; if it changes again, the error wraps source.ErrChanged.
//
// The caller needs the privilege Read.
//
// Errors: *NotFoundError, *access.DeniedError, *ChangedError, *readers.LimitError,
// *readers.OptionError, *readers.ParseError, ErrClosed, that of ctx.
func (c *Catalog) Table(ctx context.Context, req Request) (*TableRef, error) {
	return c.TableFor(ctx, access.Read, req)
}

// TableFor is Table for a caller that needs another privilege.
func (c *Catalog) TableFor(ctx context.Context, p access.Privilege, req Request) (*TableRef, error) {
	if err := c.allow(ctx, p, req.Name); err != nil {
		return nil, err
	}
	h, err := c.table(ctx, req)
	return h, c.Known(ctx, req.Name, err)
}

// table is Table for a caller with any privilege.
func (c *Catalog) table(ctx context.Context, req Request) (*TableRef, error) {
	r, err := c.restriction(ctx, req)
	if err != nil {
		return nil, err
	}
	h, err := c.whole(ctx, r.request(req), true)
	return r.apply(ctx, h, err)
}

// twice gets the table of a request, and tries again if the file changes meanwhile.
func (c *Catalog) twice(ctx context.Context, req Request,
	get func(context.Context, job.Job) (*TableRef, error),
) (h *TableRef, err error) {
	for range 2 {
		var j job.Job
		if j, err = c.job(ctx, req); err != nil {
			return nil, err
		}
		if h, err = get(ctx, j); !errors.Is(err, source.ErrChanged) || ctx.Err() != nil {
			return h, err
		}
		if err := c.tree.Suspect(ctx, j.Entry); err != nil {
			return nil, err
		}
	}
	return h, err
}

// Read is Table and Scan for a caller that reads the rows at once. The columns of req are those of
// the selection. If only the cached table of an unchanged file was lost, rows are available while
// the file is parsed; Table of the result has no batches then, and Cached is false. For a bounding
// box that few batches meet, only these are parsed. The caller needs the privilege Read.
func (c *Catalog) Read(ctx context.Context, req Request, sel Selection) (*TableRef, *Scan, error) {
	if err := c.allow(ctx, access.Read, req.Name); err != nil {
		return nil, nil, err
	}
	h, s, err := c.read(ctx, req, sel)
	return h, s, c.Known(ctx, req.Name, err)
}

// read is Read for a caller with any privilege.
func (c *Catalog) read(ctx context.Context, req Request, sel Selection) (*TableRef, *Scan, error) {
	r, err := c.restriction(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	if _, ok := c.dataset(ctx, req); ok || r != nil {
		h, err := c.whole(ctx, r.request(req), false)
		return scanOf(sel)(r.apply(ctx, h, err))
	}
	req.Columns, req.streamed = sel.Reads(), true
	if h, s, ok, err := c.part(ctx, req, sel, false); ok || err != nil {
		return h, s, err
	}
	return scanOf(sel)(c.twice(ctx, req, c.tables.Stream))
}

// scanOf returns a function that scans a table. It releases the table on error.
func scanOf(sel Selection) func(*TableRef, error) (*TableRef, *Scan, error) {
	return func(h *TableRef, err error) (*TableRef, *Scan, error) {
		if err != nil {
			return nil, nil, err
		}
		s, err := h.Scan(sel)
		if err != nil {
			h.Release()
			return nil, nil, err
		}
		return h, s, nil
	}
}

// part prepares a scan that parses only some batches of a file. ok is false if the whole table is
// available, or is to be parsed.
func (c *Catalog) part(ctx context.Context, req Request, sel Selection, described bool) (
	h *TableRef, s *Scan, ok bool, err error,
) {
	if sel.BBox == nil {
		return nil, nil, false, nil
	}
	j, err := c.job(ctx, req)
	if err != nil || c.tables.ServesOrParses(j) {
		return nil, nil, false, err
	}
	return c.loader.Part(ctx, j, sel, described)
}

// Peek describes a selection of the table of an entry with the operator's options, if the table is
// cached and the file has not changed. It returns a nil scan otherwise. It parses nothing, and the
// table may be evicted: its rows must not be read. A restricted table is described if it was
// requested before. The caller needs the privilege Describe.
func (c *Catalog) Peek(ctx context.Context, name string, sel Selection) (
	t *readers.Table, s *Scan, version string, err error,
) {
	if !c.Scope(ctx).Allows(access.Describe, name) {
		return nil, nil, "", nil
	}
	if file, _, _ := tree.SplitName(name); !c.tables.Has(file) {
		return nil, nil, "", nil
	}
	e, err := c.tree.Lookup(ctx, name)
	if err != nil || e.IsDataset() {
		return nil, nil, "", nil
	}
	j, err := c.jobOf(e, nil)
	if err != nil {
		return nil, nil, "", nil
	}
	if t = c.tables.Peek(j.Key); t == nil {
		return nil, nil, "", nil
	}
	r, err := c.restriction(ctx, Request{Name: name})
	if err != nil { // the file was removed just now
		return nil, nil, "", nil
	}
	if rules := r.rulesOf(e, t); rules != nil {
		t, s, err = c.parts.Peek(j.Entry, j.Version, rules, sel)
	} else {
		s, err = scan.New(t, sel)
	}
	return t, s, j.Version, err
}

// Evict removes the parsed tables of an entry, with any options, from memory and from the cache on
// disk, and returns their number. The name of a file stands for all of its layers. Holders keep
// their tables. The caller needs the privilege Admin. A name without an entry and without tables is a
// *NotFoundError.
func (c *Catalog) Evict(ctx context.Context, name string) (int, error) {
	if err := c.allow(ctx, access.Admin, name); err != nil {
		return 0, err
	}
	n, err := c.evict(ctx, name)
	if err == nil && n == 0 {
		_, err = c.tree.Lookup(ctx, name)
	}
	return n, c.Known(ctx, name, err)
}

// evict is Evict for any caller.
func (c *Catalog) evict(ctx context.Context, name string) (int, error) {
	file, named, _ := tree.SplitName(name)
	c.parts.Forget(file)
	c.filtered.Forget(file)
	var evicted [][32]byte
	if named == "" {
		evicted = c.tables.Evict(file, nil)
	}
	e, err := c.tree.Lookup(ctx, name)
	if err != nil {
		return len(evicted), nil // no caller finds the tables of a file that does not exist
	}
	var layer *string
	if named != "" {
		layer = &e.Layer
		evicted = c.tables.Evict(file, layer)
	}
	if e.IsDataset() {
		return c.datasets.Evict(ctx, e)
	}
	n := len(evicted)
	stored, err := c.archive.ForgetFile(ctx, c.cfg.Formats, e, layer)
	for _, options := range stored {
		if !slices.Contains(evicted, options) {
			n++
		}
	}
	return n, err
}

// setLayers records the layers that the parse of a job found, and returns the job of the layer that
// it read: the first one has no name. The error for an unknown layer becomes a *NotFoundError.
func (c *Catalog) setLayers(j job.Job, l *persist.Data, err error) (job.Job, error) {
	var noLayer *readers.NoLayerError
	switch {
	case errors.As(err, &noLayer):
		c.tree.SetLayers(j.Entry, noLayer.Layers)
		return j, c.tree.NotFound(j.Entry.Name)
	case err == nil && c.tree.Layered(j.Entry):
		layers := l.Table.Summary.Layers
		c.tree.SetLayers(j.Entry, layers)
		if len(layers) > 0 && layers[0] == j.Entry.Layer {
			j = j.OfLayer("")
		}
	}
	return j, err
}

// Package load makes the table of a data file: it takes it from the archive, or parses the file,
// only its new rows, or only the batches that meet a bounding box.
package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/lease"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Config configures a Loader. Formats and Archive are required.
type Config struct {
	Formats     readers.Registry
	Engines     Engines             // nil: the CPU engines
	Parsing     func() (end func()) // called when a parse begins; may be nil
	Parsed      func(Report)        // called when a parse has ended; may be nil
	Limits      readers.Limits      // of each file
	MemoryBytes int64               // of tables that are not in a file
	// bytes that a packed file unpacks to; 0: the default of package source
	MaxUnpacked int64
	Archive     *persist.Archive                                   // where tables outlive the process
	Slot        func(ctx context.Context) (free func(), err error) // waits until a parse may run
	Begin       func() (end func(), ok bool)                       // counts work that Close waits for
	Leases      *lease.Keeper                                      // of parses; nil: there is no fleet
	Log         zerolog.Logger
	Read        ReadFunc // nil: readers.Read
}

// Loader makes tables of data files. It is safe for concurrent use.
type Loader struct {
	Config
	done context.Context // ends with the catalog

	parts, partBytes atomic.Int64
	wrong            sync.Map // identities of files whose metadata does not describe their rows, by location
}

// ReadFunc is the type of readers.Read.
type ReadFunc func(context.Context, readers.Format, readers.Parser, *source.File, readers.Limits,
	readers.Keeper) (*readers.Table, error)

// New returns a loader whose parses end with ctx.
func New(ctx context.Context, cfg Config) *Loader {
	if cfg.Read == nil {
		cfg.Read = readers.Read
	}
	return &Loader{Config: cfg, done: ctx}
}

// Parts returns the number of scans that parsed only some batches of a file, and the bytes that
// they read.
func (c *Loader) Parts() (scans, bytes int64) { return c.parts.Load(), c.partBytes.Load() }

// Load returns the table of a job, and whether its file was parsed for it. In a fleet it waits for
// another replica that parses the file, and the lease of a parse is the call's. It is
// tables.Config.Load.
func (c *Loader) Load(ctx context.Context, f *tables.Call, j job.Job) (l *persist.Data, parsed bool, err error) {
	defer func() {
		// A file that our code cannot handle must not end the service for all others.
		if r := recover(); r != nil {
			l, err = nil, c.Panicked(j, r)
		}
	}()
	var record *persist.Record
	if j.Maker == nil {
		record = c.Archive.Recorded(ctx, j)
	}
	if l := c.Archive.Find(ctx, j, record, false); l != nil {
		return l, false, nil
	}
	w := c.work(f, j, record)
	turn, err := c.begin(ctx, w)
	if err != nil || turn == nil {
		return w.found, false, err
	}
	defer turn.Free()
	f.Holds(turn.Lease)
	record = w.record
	defer c.parsing()()
	parsed = true
	f.Start()
	p := &parse{Loader: c, call: f, job: j, record: record}
	defer func(started time.Time) {
		failed := err
		if l == nil && err == nil {
			failed = errPanicked
		}
		c.report(j, p.engine, f.BytesRead(), w.queued, time.Since(started), failed)
	}(time.Now())
	if j.Maker != nil {
		l, err = c.made(ctx, f, j)
		return l, parsed, err
	}
	l, err = p.file(ctx)
	switch {
	case err == nil:
		logDeviations(c.Log, j.Entry.Name, &l.Table.Summary)
		c.Archive.Note(j, l.Table)
	case ctx.Err() == nil && !errors.Is(err, source.ErrChanged) && !errors.Is(err, readers.ErrNoLayer):
		c.Archive.Fail(ctx, j, turn.Lease, err)
	}
	return l, parsed, err
}

// Panicked logs a panic of a parser and returns the error for the caller.
func (c *Loader) Panicked(j job.Job, r any) error {
	c.Log.Error().Str("name", j.Entry.Name).Interface("panic", r).Stack().Msg("panic while parsing")
	return fmt.Errorf("%s: %s: internal error: %v", j.Entry.Name, j.Entry.Format, r)
}

// parsing reports that a parse begins; end is called when it is over.
func (c *Loader) parsing() (end func()) {
	if c.Parsing == nil {
		return func() {}
	}
	return c.Parsing()
}

// parse is one parse of a file of the tree.
type parse struct {
	*Loader
	call   *tables.Call
	job    job.Job
	record *persist.Record // of the file; nil: it was never parsed
	engine string          // that parses the file; "": not chosen yet

	partial *tables.PartialTable // rows that are available while the file is parsed; nil: none are
}

// openEntry opens the file of a job. An error that wraps source.ErrChanged says that it is not the
// file of the job's entry any more.
func openEntry(ctx context.Context, j job.Job) (*source.File, error) {
	e := j.Entry
	src, err := e.Open(ctx, j.Format)
	if err != nil {
		if source.IsGone(err) && !errors.Is(err, tree.ErrClosed) {
			return nil, fmt.Errorf("%s: %w (%w)", e.Name, source.ErrChanged, err)
		}
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	if src.Identity != e.Identity {
		err = fmt.Errorf("%s: %w: was %v, is %v", e.Name, source.ErrChanged, e.Identity, src.Identity)
	} else if !source.AwaitClockTick(ctx, src) {
		err = ctx.Err()
	}
	if err != nil {
		_ = src.Close()
		return nil, err
	}
	return src, nil
}

// file opens the file of the job and reads its table.
func (c *parse) file(ctx context.Context) (*persist.Data, error) {
	src, err := openEntry(ctx, c.job)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	l, err := c.unpack(ctx, src)
	if err == nil && ctx.Err() == nil {
		// Also checked after an error: a mixture of two versions is a malformed file.
		err = src.Unchanged()
	} else if changed := src.Unchanged(); changed != nil {
		err = changed
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		if l != nil {
			l.Release()
		}
		return nil, err
	}
	return l, nil
}

// unpack unpacks the file if it is packed, and reads its table. The table counts only if there is no
// error.
func (c *parse) unpack(ctx context.Context, src *source.File) (l *persist.Data, err error) {
	if packing, _ := source.PackingOf(src.Name); packing != source.Plain {
		c.call.Unpacks(src)
	}
	if !c.job.Format.Indexed {
		src.PrefetchAll()
	}
	read := func(content *source.File) (err error) {
		if l != nil {
			l.Release()
		}
		c.call.Reads(content)
		l, err = c.content(ctx, content)
		return err
	}
	err = c.Formats.ReadLayer(ctx, c.job.Format, src, c.job.Entry.Layer, c.Unpacking(), read)
	return l, err
}

// Unpacking returns where and how far packed files are unpacked.
func (c *Loader) Unpacking() source.UnpackOptions {
	return source.UnpackOptions{
		Dir: c.Archive.Path(), MaxBytes: c.MaxUnpacked, Workers: c.Limits.WithDefaults().Workers,
	}
}

// content reads the table of a plain file.
func (c *parse) content(ctx context.Context, src *source.File) (*persist.Data, error) {
	layout, err := c.job.Format.Open(ctx, src, c.job.Options)
	if err != nil {
		return nil, err
	}
	layout.Layer, layout.Columns = readers.LayerIn(src, c.job.Entry.Layer), c.job.Columns
	s := c.Archive.NewSpool(c.job.Entry.Name, c.MemoryBytes, src)
	defer s.Close()
	t, base, err := c.readGrown(ctx, layout, src, s)
	if err == nil && t == nil {
		t, err = c.readAll(ctx, layout, src, s)
	}
	if err != nil {
		return nil, err
	}
	var l *persist.Data
	if err = t.Measure(ctx); err == nil { // Measure finds the boxes that scans use
		l, err = s.Finish(ctx, t)
	}
	if base != nil {
		if err != nil || l.Mapped() {
			base.Release()
		} else {
			l.ShareWith(base)
		}
	}
	return l, err
}

// readAll reads a file. If it was parsed before, and only its table was lost, the rows are
// available while it is parsed.
func (c *parse) readAll(ctx context.Context, layout readers.Layout, src *source.File,
	keep *persist.Spool,
) (*readers.Table, error) {
	k := c.Archive.Meta(c.job, c.record)
	p := c.job.Format.AsText(c.Parser(c.job.Format, layout, src.Size), c.job.Text)
	c.engine = readers.EngineOf(p)
	if k == nil || len(c.job.Text) > 0 {
		c.call.Begin(nil)
		return c.Read(ctx, c.job.Format, p, src, c.Limits, keep)
	}
	shape := k.Project(c.job.Columns)
	if c.partial == nil { // else the file is read a second time, and the batches that were put are the same
		c.partial = tables.NewPartialTable(&shape, k.BBox, keep.Budget())
	}
	l := c.partial
	req := readers.Request{Limits: c.Limits}
	if c.job.Streamed && len(k.Spans) > 1 && readers.EngineOf(p) != readers.EngineCPU {
		req.First = &readers.First{End: k.Spans[0].To, Rest: l.Rest()}
	}
	c.call.Begin(l)
	return readers.ReadAs(ctx, c.job.Format, p, src, req, &shape, keep, l.Put)
}

// readGrown reads only the rows that were appended to a file whose former table is in the archive.
// base is that table, with which the result shares slices. If the file is to be read as a whole, t
// and base are nil.
func (c *parse) readGrown(ctx context.Context, layout readers.Layout, src *source.File,
	keep readers.Keeper,
) (t *readers.Table, base *persist.Data, err error) {
	if len(c.job.Text) == 0 {
		base = c.Archive.Grown(ctx, c.job, c.record, src)
	}
	if base == nil {
		return nil, nil, nil
	}
	p := c.Parser(c.job.Format, layout, src.Size)
	c.engine = readers.EngineOf(p)
	t, ok, err := readers.Extend(ctx, c.job.Format, p, src, c.Limits, base.Table, keep)
	if errors.Is(err, readers.ErrDamaged) {
		c.Archive.Remove(c.job.Entry.Name, base, err)
		ok, err = false, nil
	}
	if err != nil || !ok {
		base.Release()
		return nil, nil, err
	}
	c.Archive.CountExtension()
	return t, base, nil
}

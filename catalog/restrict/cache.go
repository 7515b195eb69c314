package restrict

import (
	"container/list"
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Config configures Tables.
type Config struct {
	Limits readers.Limits
	Bytes  int64 // of what is kept; 0: DefaultBytes
	Log    zerolog.Logger
	// Requested says that the restrictions are filters that callers request. A caller learns why its
	// filter can't be applied, and what is known of the whole file stays known.
	Requested bool
}

// DefaultBytes is the default of Config.Bytes: which rows are kept of 500 million rows, a bit each.
const DefaultBytes = 64 << 20

// Tables makes restricted tables, and keeps which of their rows exist. It is safe for use by several
// goroutines.
type Tables struct {
	cfg       Config
	evaluator atomic.Pointer[Evaluator]

	mu       sync.Mutex
	bytes    int64
	parts    map[key]*list.Element
	recent   *list.List            // of *cachedPart, the most recently used first
	building map[key]chan struct{} // that are being found; closed at the end
}

// key identifies a part.
type key struct {
	name, layer, format, version string
	of                           [sha256.Size]byte // the restriction of the table; zero: none
	rule                         [sha256.Size]byte
}

type cachedPart struct {
	key  key
	part *part
}

// New returns an empty Tables.
func New(cfg Config) *Tables {
	if cfg.Bytes == 0 {
		cfg.Bytes = DefaultBytes
	}
	return &Tables{
		cfg: cfg, parts: map[key]*list.Element{}, recent: list.New(), building: map[key]chan struct{}{},
	}
}

// SetEvaluator sets what computes filters and masks; nil: nothing does.
func (t *Tables) SetEvaluator(e Evaluator) {
	if e == nil {
		t.evaluator.Store(nil)
		return
	}
	t.evaluator.Store(&e)
}

// Restrict returns the part of a table that a restriction leaves, as a table. It takes the use of
// the table. Several goroutines may read the batches of the result if they may read those of h, or
// h is the table of a file. another returns further uses of a dataset, for several goroutines; it is
// nil for a file.
//
// The error is an *Error if the rules can't be applied.
func (t *Tables) Restrict(ctx context.Context, h *tables.Ref, r *access.Restriction,
	another func() *tables.Ref,
) (*tables.Ref, error) {
	base := baseOf(h)
	k := keyOf(h.Entry, h.Version, r)
	if of, ok := base.(*reader); ok {
		k.of = of.part.rule.digest
	}
	open := func() tables.Source { return loan{base} }
	keep := keptBatches
	if another != nil {
		open = func() tables.Source { return another().Source() }
		keep = 1 // the base may release earlier ones
	}
	p, err := t.part(ctx, k, h.Entry, base.Table(), r, open)
	if err != nil {
		base.Release()
		return nil, err
	}
	e := h.Entry
	if !t.cfg.Requested {
		e = entryOf(e)
	}
	return refOf(e, h.Version, h.Cached, &reader{base: base, part: p, keep: keep}), nil
}

// refOf returns a use of a restricted table.
func refOf(e tree.Entry, version string, cached bool, s *reader) *tables.Ref {
	return tables.NewSourceRef(e, version, cached, s, func(sel scan.Selection) (*scan.Scan, error) {
		out, err := s.part.views.Scan(s, sel)
		if err == nil {
			s.want(out.Batches(), sel.Limit == nil)
		}
		return out, err
	})
}

// Another returns further uses of a restricted dataset, as another returns those of the dataset.
func Another(h *tables.Ref, another func() *tables.Ref) func() *tables.Ref {
	s, ok := h.Source().(*reader)
	if !ok || another == nil {
		return another
	}
	return func() *tables.Ref {
		return refOf(h.Entry, h.Version, h.Cached, &reader{base: another().Source(), part: s.part, keep: s.keep})
	}
}

// keptBatches is the number of batches of a file that are kept while a table is used: one is read
// several times to choose its rows.
const keptBatches = 4

// entryOf returns an entry without the size of its file, to which hidden rows contribute.
func entryOf(e tree.Entry) tree.Entry {
	e.Size = 0
	return e
}

// loan is a source that its user does not release.
type loan struct{ tables.Source }

// Release implements tables.Source.
func (loan) Release() {}

// part returns the part of a table, from the cache if it is there.
func (t *Tables) part(ctx context.Context, k key, e tree.Entry, of *readers.Table,
	r *access.Restriction, open func() tables.Source,
) (*part, error) {
	for {
		p, done := t.begin(k)
		if p != nil {
			return p, nil
		}
		if done == nil {
			break
		}
		select { // another caller finds it
		case <-done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	b := &builder{limits: t.cfg.Limits, open: open, failed: func(ctx context.Context, err error) error {
		return t.failed(ctx, e.Name, r, err)
	}}
	if evaluator := t.evaluator.Load(); evaluator != nil {
		b.evaluator = *evaluator
	}
	var found *part
	defer func() { t.end(k, found) }() // also after a panic
	if t.cfg.Requested {
		var leave func()
		var err error
		if ctx, leave, err = enter(ctx); err != nil {
			return nil, err
		}
		defer leave()
	}
	p, err := b.build(ctx, newRule(of.Batches[0], r), of)
	if err != nil {
		return nil, err
	}
	if t.cfg.Requested {
		p.table.Summary = of.Summary
	}
	found = p
	return p, nil
}

func keyOf(e tree.Entry, version string, r *access.Restriction) key {
	return key{name: e.File(), layer: e.Layer, format: e.Format, version: version, rule: digestOf(r)}
}

// begin returns a part of the cache. Otherwise the caller finds it, until end, or waits for done if
// another caller does.
func (t *Tables) begin(k key) (p *part, done chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := t.parts[k]; at != nil {
		t.recent.MoveToFront(at)
		return at.Value.(*cachedPart).part, nil
	}
	if done := t.building[k]; done != nil {
		return nil, done
	}
	t.building[k] = make(chan struct{})
	return nil, nil
}

// end puts a part that was found into the cache; nil: it was not found.
func (t *Tables) end(k key, p *part) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.building[k])
	delete(t.building, k)
	if p == nil || p.size() > t.cfg.Bytes {
		return
	}
	t.parts[k] = t.recent.PushFront(&cachedPart{k, p})
	t.bytes += p.size()
	for t.bytes > t.cfg.Bytes {
		t.remove(t.recent.Back())
	}
}

// remove removes a part; t.mu is held.
func (t *Tables) remove(at *list.Element) {
	c := t.recent.Remove(at).(*cachedPart)
	delete(t.parts, c.key)
	t.bytes -= c.part.size()
}

// Forget removes what is kept of the tables of a file.
func (t *Tables) Forget(file string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, at := range t.parts {
		if k.name == file {
			t.remove(at)
		}
	}
}

// Peek returns what is known of a restricted table without finding it, or nil. The scan has no rows.
func (t *Tables) Peek(e tree.Entry, version string, r *access.Restriction, sel scan.Selection) (
	*readers.Table, *scan.Scan, error,
) {
	p := t.peek(keyOf(e, version, r))
	if p == nil {
		return nil, nil, nil
	}
	s, err := p.views.Scan(description{p}, sel)
	return p.table, s, err
}

func (t *Tables) peek(k key) *part {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := t.parts[k]; at != nil {
		return at.Value.(*cachedPart).part
	}
	return nil
}

// description is a part as the source of a scan that is not read.
type description struct{ part *part }

var errNoRows = errors.New("restrict: the scan of a described table has no rows")

func (d description) Table() *readers.Table { return d.part.table }
func (d description) Batch(context.Context, int) (*geoarrow.Columns, error) {
	return nil, errNoRows
}

func (d description) Search(context.Context, int, [4]float64) ([]int32, bool, error) {
	return nil, false, errNoRows
}
func (d description) Close(context.Context) error       { return nil }
func (d description) Sizes() (columns, batches []int64) { return d.part.columns, d.part.batches }

// failed logs why the rules of a table can't be applied, and returns the error for the client. The
// end of a call and a file that changes have nothing to do with the rules.
func (t *Tables) failed(ctx context.Context, name string, r *access.Restriction, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if known := new(Error); errors.As(err, &known) || errors.Is(err, source.ErrChanged) ||
		errors.Is(err, tree.ErrClosed) || errors.Is(err, readers.ErrDamaged) {
		return err
	}
	if t.cfg.Requested {
		return &FilterError{Filter: r.Filter, Err: err}
	}
	t.cfg.Log.Error().Err(err).Str("name", name).
		Msg("the rules of a table can't be applied: nobody they are for gets it")
	return &Error{Name: name, Reason: err}
}

// Filtered returns the rows of a table in memory for which a predicate is true, as a table. Limits are
// those of its batches.
func Filtered(ctx context.Context, t *readers.Table, where string, e Evaluator, limits readers.Limits) (
	*tables.Ref, error,
) {
	all := New(Config{Limits: limits, Requested: true})
	all.SetEvaluator(e)
	filter := &access.Restriction{Filter: strings.TrimSpace(where)}
	return all.Restrict(ctx, tables.NewRef(job.Job{}, t, nil), filter, nil)
}

package dataset

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
	"github.com/vibeflight/vibeflight/readers/union"
)

// packVersion is raised when the table of the same pack changes.
const packVersion = 1

// pack makes the table of a unit of small members. It implements job.Maker.
type pack struct {
	set  *set
	unit *unit
	text []geoarrow.ColumnID // columns that are read as text
}

// packJob returns the job for the table of a pack.
func (d *set) packJob(u *unit, text []geoarrow.ColumnID) job.Job {
	id := source.Identity{Siblings: [16]byte(u.digest[:16])}
	j := job.Job{
		Entry: tree.Entry{
			Name: d.Name, Format: tree.DatasetFormat, Path: d.Name, Size: u.bytes, Identity: id,
		},
		Format: readers.Format{Name: tree.DatasetFormat, Version: packVersion},
		Maker:  &pack{d, u, text},
	}
	j.Key = job.Key{
		Name: d.Name + "#" + hex.EncodeToString(u.digest[:]), Format: tree.DatasetFormat, Identity: id,
	}
	return j.AsText(text)
}

// Digest implements job.Maker.
func (p *pack) Digest() source.Digest { return source.Digest(p.unit.digest) }

// part is the rows of one member of a pack.
type part struct {
	member  *member
	ready   bool                // the following fields are set
	copied  bool                // the rows are copied from another pack
	batches []*geoarrow.Columns // rows
	ids     []geoarrow.ColumnID // columns of batches
	columns columnsRecord
	summary readers.Summary
	misfit  bool  // the columns do not join those of the others
	err     error // why there are no rows
}

// Make implements job.Maker: it copies the rows of members that another pack has, and parses the
// others. A member that cannot be read, or does not fit, has no rows.
func (p *pack) Make(ctx context.Context) (*readers.Table, error) {
	began := time.Now()
	parts := make([]part, len(p.unit.members))
	for i := range parts {
		parts[i].member = &p.unit.members[i]
	}
	if len(p.text) == 0 {
		release := p.copyRows(ctx, parts)
		defer release()
	}
	if err := p.parse(ctx, parts); err != nil {
		return nil, err
	}
	var known *record // with columns read as text, other members might fit
	if len(p.text) > 0 {
		known = p.set.recordOf(p.unit)
	}
	all := union.New(p.set.Limits)
	for i := range parts {
		if t := &parts[i]; t.err == nil {
			t.misfit = known != nil && known.Members[i].Misfit || all.Add(&t.columns.Shape, t.columns.Typed) != nil
		}
	}
	shape := all.Shape()
	for i, id := range shape.IDs {
		if slices.Contains(p.text, id) { // its facts are those of the values
			shape.Facts[i].Kinds |= geoarrow.FactString
		}
	}
	if err := p.checkCells(parts, &shape); err != nil {
		return nil, err
	}
	if err := p.fit(ctx, parts, &shape); err != nil {
		return nil, err
	}
	t, err := concat(parts, &shape, p.set.Limits)
	if err != nil {
		return nil, err
	}
	t.ParseTime = time.Since(began)
	if err := t.Measure(ctx); err != nil {
		return nil, err
	}
	if len(p.text) == 0 {
		p.set.keep(p.unit.digest, p.record(parts, t), parts)
	}
	return t, nil
}

// Record implements job.Maker: it stores the record of the unit.
func (p *pack) Record(ctx context.Context) error {
	s, r := p.set.Archive.Store(), p.set.recordOf(p.unit)
	if s == nil || r == nil {
		return nil
	}
	return p.set.saveRecord(ctx, s, &loadedUnit{unit: p.unit, record: r})
}

// checkCells returns an error if the rows take too much memory with the columns of all members.
func (p *pack) checkCells(parts []part, shape *readers.Shape) error {
	rows := 0
	for i := range parts {
		for _, b := range parts[i].batches {
			rows += b.Rows
		}
	}
	return p.set.Limits.CheckCells(p.set.Name, 0, rows, len(shape.IDs))
}

// record describes the pack.
func (p *pack) record(parts []part, t *readers.Table) *record {
	r := &record{pack: true}
	var columns columnsSet
	for i := range parts {
		t := &parts[i]
		m := newMemberRecord(t.member)
		switch {
		case t.err != nil:
			m.Error = t.err.Error()
		case t.misfit:
			m.Misfit = true
		default:
			m.Columns = columns.add(t.columns)
			m.setSummary(&t.summary)
			for _, b := range t.batches {
				m.Rows += int64(b.Rows)
			}
		}
		r.Members = append(r.Members, m)
	}
	r.Columns = columns.all
	r.describe(t, p.set.Limits)
	return r
}

// copyRows finds the rows of members in the tables of former packs. The rows stay valid until
// release is called.
func (p *pack) copyRows(ctx context.Context, parts []part) (release func()) {
	var releases []func()
	release = func() {
		for _, f := range releases {
			f()
		}
	}
	former := map[digest]*readers.Table{}
	for i := range parts {
		t := &parts[i]
		p.set.mu.Lock()
		at, ok := p.set.at[t.member.key()]
		p.set.mu.Unlock()
		if !ok || at.unit == p.unit.digest {
			continue
		}
		table, tried := former[at.unit]
		if !tried {
			var free func()
			if table, free = p.former(ctx, at.unit); table != nil {
				releases = append(releases, free)
			}
			former[at.unit] = table
		}
		if table == nil {
			continue
		}
		rows, err := rowsOf(table, at.from, at.to)
		if err != nil {
			continue // the member is parsed
		}
		t.ready, t.copied, t.batches, t.ids, t.columns = true, true, rows, table.IDs, *at.columns
		t.summary = at.member.summary()
	}
	return release
}

// former returns the table of another pack, if it needs no parse.
func (p *pack) former(ctx context.Context, u digest) (*readers.Table, func()) {
	j := p.set.packJob(&unit{digest: u, pack: true}, nil)
	if ref := p.set.Cache.Cached(j); ref != nil {
		return ref.Table, ref.Release
	}
	if data := p.set.Archive.Find(ctx, j, nil, false); data != nil {
		return data.Table, data.Release
	}
	return nil, nil
}

// rowsOf copies rows of a table.
func rowsOf(t *readers.Table, from, to int64) (rows []*geoarrow.Columns, err error) {
	for i, b := range t.Batches {
		low, high := max(from, t.Starts[i]), min(to, t.Starts[i+1])
		if low >= high {
			continue
		}
		if t.Check != nil {
			if err := t.Check(i); err != nil {
				return nil, err
			}
		}
		for k := range b.Attributes {
			if b.Attributes[k].Rounded > 0 || b.Attributes[k].Replaced > 0 {
				return nil, union.ErrNarrow // it is not known in which rows
			}
		}
		rows = append(rows, b.Slice(int(low-t.Starts[i]), int(high-t.Starts[i])))
	}
	return rows, nil
}

// parse reads the members that have no rows yet, several at a time. Errors of members are in their
// parts; an error that may be gone the next time is returned.
func (p *pack) parse(ctx context.Context, parts []part) error {
	var todo []*part
	for i := range parts {
		if !parts[i].ready {
			todo = append(todo, &parts[i])
		}
	}
	return p.each(ctx, todo, func(t *part) error { return p.read(ctx, t, p.text) })
}

// each calls f for parts, on all cores, until one returns an error.
func (p *pack) each(ctx context.Context, parts []*part, f func(*part) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(p.set.Limits.Workers, len(parts)) {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(parts)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := guarded(func() error { return f(parts[i]) }); err != nil {
					cancel(err)
				}
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// guarded turns a panic into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %v\n%s", r, debug.Stack())
		}
	}()
	return f()
}

// read parses a member.
func (p *pack) read(ctx context.Context, t *part, text []geoarrow.ColumnID) error {
	t.ready, t.copied = true, false
	if t.err = p.set.checkSize(t.member); t.err != nil {
		return nil
	}
	j := t.member.job()
	j.Text = text
	p.set.parsed.Add(1)
	table, err := p.set.Loader.Whole(ctx, j)
	if err != nil && isOfMember(err, t.member) && ctx.Err() == nil {
		t.err = err
		return nil
	}
	if err != nil {
		return err
	}
	if len(text) == len(p.text) { // else the columns are known
		t.columns = columnsOf(table, p.set.Limits)
	}
	t.batches, t.ids, t.summary = table.Batches, table.IDs, table.Summary
	return nil
}

// isOfMember reports whether an error is about the content of a member, and so is the same until the
// member changes.
func isOfMember(err error, m *member) bool {
	var parse *readers.ParseError
	var limit *readers.LimitError
	var option *readers.OptionError
	return errors.As(err, &parse) || errors.As(err, &limit) || errors.As(err, &option) ||
		// A change of the permission changes the identity of a local file, and not that of an object.
		errors.Is(err, fs.ErrPermission) && !m.entry.Identity.Remote()
}

// checkSize returns an error for a member that is too large to be parsed.
func (d *set) checkSize(m *member) error {
	if limit := d.MaxFileBytes; limit > 0 && m.entry.Size > limit {
		return &readers.LimitError{
			What: fmt.Sprintf("%s with its %d bytes", m.entry.Name, m.entry.Size), Flag: "--max-file-bytes",
			Limit: limit,
		}
	}
	return nil
}

// fit gives all rows the columns of the shape. A member is parsed again if its rows cannot be
// converted: they were copied from a pack of wider columns, or their text is needed.
func (p *pack) fit(ctx context.Context, parts []part, shape *readers.Shape) error {
	var todo []*part
	for i := range parts {
		if parts[i].err == nil && !parts[i].misfit {
			todo = append(todo, &parts[i])
		}
	}
	return p.each(ctx, todo, func(t *part) error {
		text, err := t.fit(shape)
		if t.copied && err != nil {
			if err := p.read(ctx, t, p.text); err != nil || t.err != nil {
				return err
			}
			text, err = t.fit(shape)
		}
		if err == nil && len(text) > 0 {
			if err := p.read(ctx, t, slices.Concat(p.text, text)); err != nil || t.err != nil {
				return err
			}
			text, err = t.fit(shape)
		}
		if unfit := new(union.Error); errors.As(err, &unfit) {
			t.err, err = err, nil
		}
		if err == nil && len(text) > 0 {
			err = fmt.Errorf("%s: %w: column %q has other values", t.member.entry.Name, source.ErrChanged, text[0].Name)
		}
		return err
	})
}

// fit converts the rows of a part. text has the columns whose text is needed.
func (t *part) fit(shape *readers.Shape) (text []geoarrow.ColumnID, err error) {
	f := union.NewFitter(shape, t.ids)
	out := make([]*geoarrow.Columns, len(t.batches))
	for i, b := range t.batches {
		if out[i], text, err = f.Fit(b, nil); err != nil {
			return nil, fmt.Errorf("%s: %w", t.member.entry.Name, err)
		}
		if len(text) > 0 {
			return text, nil
		}
	}
	t.batches = out
	return nil, nil
}

// concat joins the rows of all parts to batches. Where batches end depends on the numbers of rows
// and columns alone: it is the same if some columns are read as text.
func concat(parts []part, shape *readers.Shape, limits readers.Limits) (*readers.Table, error) {
	t := &readers.Table{
		Format: tree.DatasetFormat, Engine: readers.EngineCPU, CRS: shape.CRS, IDs: shape.IDs, Facts: shape.Facts,
	}
	t.Summary.Foreign = map[string]int64{}
	var group []*geoarrow.Columns
	rows := 0
	flush := func() error {
		if rows == 0 {
			return nil
		}
		b, err := geoarrow.Concat(&geoarrow.Arena{}, group)
		if err != nil {
			return err
		}
		for k := range b.Attributes {
			b.Attributes[k].Name = group[0].Attributes[k].Name
		}
		t.Batches = append(t.Batches, b)
		group, rows = nil, 0
		return nil
	}
	for i := range parts {
		p := &parts[i]
		if p.err != nil || p.misfit {
			continue
		}
		t.Summary.Add(&p.summary)
		for _, b := range p.batches {
			if b.Rows == 0 {
				continue
			}
			if rows > 0 && (rows+b.Rows > limits.BatchRows || !limits.Fits(rows+b.Rows, len(shape.IDs))) {
				if err := flush(); err != nil {
					return nil, err
				}
			}
			group = append(group, b)
			rows += b.Rows
		}
	}
	if err := flush(); err != nil {
		return nil, err
	}
	if len(t.Batches) == 0 {
		empty := *shape
		empty.Starts = []int64{0, 0}
		t.Batches = []*geoarrow.Columns{empty.Table().Batches[0]}
	}
	for _, b := range t.Batches {
		t.Starts = append(t.Starts, t.Rows)
		t.Rows += int64(b.Rows)
		t.Bytes += b.Bytes()
		for k := range b.Attributes {
			t.RoundedIntegers += b.Attributes[k].Rounded
			t.ReplacedCharacters += b.Attributes[k].Replaced
		}
	}
	t.Starts = append(t.Starts, t.Rows)
	return t, nil
}

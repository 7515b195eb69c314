package dataset

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
	"github.com/vibeflight/vibeflight/readers/union"
)

// viewKey identifies a view: the members, and the options that a client gives for them.
type viewKey struct {
	identity source.Identity
	options  string
}

func viewKeyOf(e tree.Entry, given map[string]any) viewKey {
	return viewKey{e.Identity, optionsKey("", given)}
}

// maxViews is the number of views of a dataset that are kept: of former versions for calls that
// have begun, and of other options.
const maxViews = 4

// view returns a view that is known.
func (d *set) view(key viewKey) *View {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.views[key]
	if v != nil {
		i := slices.Index(d.recent, key)
		d.recent = append(slices.Delete(d.recent, i, i+1), key)
	}
	return v
}

func (d *set) addView(key viewKey, v *View) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.recent) == maxViews {
		delete(d.views, d.recent[0])
		d.recent = slices.Delete(d.recent, 0, 1)
	}
	d.views[key] = v
	d.recent = append(d.recent, key)
}

// open is Sets.Open. One caller plans at a time; the others find its view.
func (d *set) open(ctx context.Context, e tree.Entry, given map[string]any) (*View, error) {
	key := viewKeyOf(e, given)
	if v := d.view(key); v != nil {
		return v, nil
	}
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if v := d.view(key); v != nil {
		return v, nil
	}
	v, err := d.plan(ctx, e, given)
	if err != nil {
		if d.tried != nil { // the next attempt needs what this one has learned, and not former units
			d.saveRecords(nil, d.prune(d.tried))
		}
		return nil, err
	}
	v.Version = d.version(e, key, v)
	d.addView(key, v)
	d.noteTexts(v.units)
	d.saveRecords(v.units, d.prune(nil))
	return v, nil
}

// version returns the version of a view: a digest of all that decides which rows it has, and in
// which order.
func (d *set) version(e tree.Entry, key viewKey, v *View) string {
	h := sha256.New()
	h.Write(fmt.Appendf(nil, "%s %s %q %t\n", e.Identity.Version(), key.options, d.Filename, d.SkipErrors))
	for _, u := range v.units {
		h.Write(u.digest[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// plan makes a view. Members that are not known are parsed.
func (d *set) plan(ctx context.Context, e tree.Entry, given map[string]any) (*View, error) {
	d.tried = nil
	members, err := d.members(e, given)
	if err != nil {
		return nil, err
	}
	if err := d.loadRecords(ctx); err != nil {
		return nil, err
	}
	parsed := d.parsed.Load()
	folders, err := foldersOf(members, d.Filename)
	if err != nil {
		return nil, err
	}
	units := d.cut(members)
	d.tried = map[digest]bool{}
	records, err := d.learn(ctx, units)
	if err != nil {
		return nil, err
	}
	p := &planner{set: d, union: union.New(d.Limits)}
	if err := p.union.Add(folders.shape(), false); err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name, err)
	}
	for i, u := range units {
		if err := p.add(ctx, u, records[i]); err != nil {
			return nil, err
		}
	}
	return newView(d, e, p, folders, d.parsed.Load() > parsed), nil
}

// learn returns the records of units, several of which are parsed at a time.
func (d *set) learn(ctx context.Context, units []*unit) ([]*record, error) {
	records := make([]*record, len(units))
	var missing []int
	for i, u := range units {
		d.tried[u.digest] = true
		if records[i] = d.recordOf(u); records[i] == nil {
			missing = append(missing, i)
		}
	}
	d.total.Store(int64(len(units)))
	d.steps.Store(int64(len(units) - len(missing)))
	defer d.total.Store(0)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	errs := make([]error, len(missing))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(maxUnitsAhead, len(missing)) {
		wait.Go(func() {
			for k := next.Add(1) - 1; k < int64(len(missing)) && ctx.Err() == nil; k = next.Add(1) - 1 {
				i := missing[k]
				if records[i], errs[k] = d.learnUnit(ctx, units[i]); errs[k] != nil {
					cancel(errs[k])
				}
				d.steps.Add(1)
			}
		})
	}
	wait.Wait()
	for _, err := range errs { // that of the first unit counts
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
	return records, context.Cause(ctx)
}

// maxUnitsAhead is the number of units that are loaded at a time. Each is parsed on several cores.
const maxUnitsAhead = 3

func (d *set) recordOf(u *unit) *record {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.known[u.digest]
	if r == nil || len(r.Members) != len(u.members) {
		return nil
	}
	return r
}

// learnUnit makes the table of a unit, and returns what is known of it then.
func (d *set) learnUnit(ctx context.Context, u *unit) (*record, error) {
	if !u.pack {
		return d.learnMember(ctx, u)
	}
	j := d.packJob(u, nil)
	ref, err := d.Cache.Get(ctx, j)
	if err != nil {
		return nil, err
	}
	ref.Release()
	if r := d.recordOf(u); r != nil {
		return r, nil
	}
	if r := d.readRecord(ctx, u); r != nil {
		return r, nil
	}
	return d.relearn(ctx, u, j)
}

// relearn makes the record of a pack whose table is in the cache, but whose record was lost.
func (d *set) relearn(ctx context.Context, u *unit, j job.Job) (*record, error) {
	free, err := d.Loader.Slot(ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	err = guarded(func() error {
		_, err := j.Maker.Make(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if r := d.recordOf(u); r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("%s: the record of a pack was removed while it was made", d.Name)
}

// learnMember is learnUnit for a large member.
func (d *set) learnMember(ctx context.Context, u *unit) (*record, error) {
	m := &u.members[0]
	if err := d.checkSize(m); err == nil {
		if k := d.Loader.Cover(ctx, m.job()); k != nil {
			r := coverRecord(m, k)
			d.keep(u.digest, r, nil)
			return r, nil
		}
	}
	r := &record{Members: []memberRecord{newMemberRecord(m)}}
	t, release, err := d.memberTable(ctx, m)
	switch {
	case err == nil:
		defer release()
		r.Columns = []columnsRecord{columnsOf(t, d.Limits)}
		r.Members[0].Rows = t.Rows
		r.describe(t, d.Limits)
	case isOfMember(err, m) && ctx.Err() == nil:
		r.Members[0].Error = err.Error()
		empty := readers.Shape{Starts: []int64{0, 0}}
		t := empty.Table()
		t.Boxes = make([]readers.Box, 1)
		r.describe(t, d.Limits)
	default:
		return nil, err
	}
	d.keep(u.digest, r, []part{{err: err}})
	return r, nil
}

func (d *set) memberTable(ctx context.Context, m *member) (*readers.Table, func(), error) {
	if err := d.checkSize(m); err != nil {
		return nil, nil, err
	}
	ref, err := d.Cache.Get(ctx, m.job())
	if err != nil {
		return nil, nil, err
	}
	return ref.Table, ref.Release, nil
}

// Skip is a member that is left out.
type Skip struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// maxSkips is the number of members that are listed with a reason.
const maxSkips = 10

// planner joins units in the order of their members.
type planner struct {
	set     *set
	union   *union.Union
	units   []*loadedUnit
	skipped int
	skips   []Skip
}

// add adds a unit, or the members of it that fit.
func (p *planner) add(ctx context.Context, u *unit, r *record) error {
	bad := map[int]error{} // columns of the unit that do not join
	for i := range r.Columns {
		if err := p.union.Add(&r.Columns[i].Shape, r.Columns[i].Typed); err != nil {
			bad[i] = err
		}
	}
	var fitting, misfits []member
	for i := range r.Members {
		m := &r.Members[i]
		var err error
		switch {
		case m.Misfit:
			misfits = append(misfits, u.members[i])
			continue
		case m.Error != "":
			err = p.errorOf(ctx, &u.members[i], m)
		case bad[m.Columns] != nil:
			err = fmt.Errorf("%s: %w", m.Name, bad[m.Columns])
		default:
			fitting = append(fitting, u.members[i])
			continue
		}
		if err != nil && !p.set.SkipErrors {
			return err
		}
		p.skip(m.Name, err)
	}
	if len(bad) > 0 && len(fitting) > 0 { // their rows alone are a unit
		if err := p.addMembers(ctx, fitting); err != nil {
			return err
		}
	} else if len(bad) == 0 {
		p.units = append(p.units, &loadedUnit{unit: u, record: r})
	}
	if len(misfits) > 0 {
		return p.addMembers(ctx, misfits)
	}
	return nil
}

// addMembers adds members of a pack that are a pack of their own.
func (p *planner) addMembers(ctx context.Context, members []member) error {
	u := p.set.newUnit(members, true)
	records, err := p.set.learn(ctx, []*unit{u})
	if err != nil {
		return err
	}
	return p.add(ctx, u, records[0])
}

func (p *planner) skip(name string, why error) {
	p.skipped++
	if len(p.skips) < maxSkips {
		p.skips = append(p.skips, Skip{name, why.Error()})
	}
}

// errorOf returns the error of a member. If another process found it, the member is parsed again
// for an error with its position.
func (p *planner) errorOf(ctx context.Context, m *member, r *memberRecord) error {
	if r.err != nil || p.set.SkipErrors {
		return cmp.Or(r.err, errors.New(r.Error))
	}
	err := p.set.checkSize(m)
	if err == nil {
		p.set.parsed.Add(1)
		_, err = p.set.Loader.Whole(ctx, m.job())
	}
	if err != nil && (!isOfMember(err, m) || ctx.Err() != nil) {
		return err // it may pass
	}
	r.err = cmp.Or(err, errors.New(r.Error))
	return r.err
}

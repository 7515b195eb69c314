package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
	"github.com/vibeflight/vibeflight/readers/union"
)

// reader provides the batches of a view. It loads the next units while a caller reads the rows of
// one, and releases those that were read. It implements scan.Source.
type reader struct {
	view   *View
	shared bool // units stay loaded until Release, and several goroutines read
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu     sync.Mutex
	wanted []int             // units that the scan needs, in order; nil: not known
	parts  map[int][]int     // batches of those units, by number
	ahead  bool              // the next units may be loaded in advance
	open   map[int]*openUnit // by number
	last   int               // unit that was read last
}

// openUnit is a unit that is loaded, or being loaded.
type openUnit struct {
	done chan struct{} // closed when ref or err is set
	ref  *tables.Ref
	err  error

	mu     sync.Mutex // a Ref is for one goroutine
	fitted map[int]*geoarrow.Columns
}

func newReader(v *View, shared bool) *reader {
	r := &reader{view: v, shared: shared, open: map[int]*openUnit{}, last: -1}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Want says which batches are going to be read.
func (r *reader) Want(batches []int, ahead bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wanted, r.ahead, r.parts = []int{}, ahead, map[int][]int{}
	for _, i := range batches {
		if u := r.view.batch[i]; u >= 0 {
			r.parts[u] = append(r.parts[u], i-r.view.units[u].firstBatch)
		}
		if u := r.view.batch[i]; u >= 0 && (len(r.wanted) == 0 || r.wanted[len(r.wanted)-1] != u) {
			r.wanted = append(r.wanted, u)
		}
	}
}

// Table implements scan.Source.
func (r *reader) Table() *readers.Table { return r.view.table }

// Sizes implements scan.Source.
func (r *reader) Sizes() (columns, batches []int64) { return r.view.columns, r.view.batches }

// Close implements scan.Source.
func (r *reader) Close(ctx context.Context) error { return ctx.Err() }

// Batch implements scan.Source.
func (r *reader) Batch(ctx context.Context, i int) (*geoarrow.Columns, error) {
	n := r.view.batch[i]
	if n < 0 {
		return r.view.table.Batches[0], nil
	}
	u := r.view.units[n]
	o, err := r.unit(ctx, n)
	if err != nil {
		return nil, r.distrust(u, err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if b := o.fitted[i]; b != nil {
		return b, nil
	}
	var b *geoarrow.Columns
	if i-u.firstBatch >= len(o.ref.Table.Batches) {
		err = u.changed()
	} else if b, err = o.ref.Batch(ctx, i-u.firstBatch); err == nil {
		b, err = r.fit(u, b, i)
	}
	err = r.distrust(u, err)
	if err == nil && r.shared {
		if o.fitted == nil {
			o.fitted = map[int]*geoarrow.Columns{}
		}
		o.fitted[i] = b
	}
	return b, err
}

// distrust returns an error of a unit. If a file of it has changed, its root is listed again. What
// the metadata of the file says is not used again.
func (r *reader) distrust(u *loadedUnit, err error) error {
	if !errors.Is(err, source.ErrChanged) {
		return err
	}
	if u.record.Cover {
		r.view.set.forget(u)
	}
	roots := map[tree.Root]bool{}
	for i := range u.members {
		if e := u.members[i].entry; !roots[e.Root()] {
			roots[e.Root()] = true
			r.view.set.Suspect(e)
		}
	}
	return err
}

// fit gives a batch of a unit the columns of the view.
func (r *reader) fit(u *loadedUnit, b *geoarrow.Columns, i int) (*geoarrow.Columns, error) {
	if b.Rows != int(r.view.table.Starts[i+1]-r.view.table.Starts[i]) {
		return nil, u.changed()
	}
	if len(u.text) == 0 && u.fitter.Same(b) {
		return b, nil
	}
	if err := r.view.set.Limits.CheckCells(r.view.Entry.Name, r.view.table.Starts[i], b.Rows,
		len(r.view.shape.IDs)); err != nil {
		return nil, err
	}
	runs := u.runs(r.view.table.Starts[i]-u.firstRow, b.Rows)
	var tooLarge error
	out, text, err := u.fitter.Fit(b, func(id geoarrow.ColumnID, col *geoarrow.Column) {
		tooLarge = cmp.Or(tooLarge, r.view.folders.fill(id, col, runs, b.Rows))
	})
	if tooLarge != nil {
		return nil, &readers.LimitError{
			What: fmt.Sprintf("%s: the rows from %d on (%v)", r.view.Entry.Name, r.view.table.Starts[i], tooLarge),
			Flag: "--batch-rows", Limit: int64(r.view.set.Limits.BatchRows),
		}
	}
	var unfit *union.Error
	switch {
	case errors.As(err, &unfit):
		return nil, fmt.Errorf("%s: %w", u.members[0].entry.Name, err)
	case errors.Is(err, union.ErrNarrow):
		return nil, u.changed()
	case err != nil:
		return nil, err
	case len(text) > 0:
		return nil, fmt.Errorf("%w (column %q)", u.changed(), text[0].Name)
	}
	return out, nil
}

func (u *loadedUnit) changed() error {
	return fmt.Errorf("%s: %w", u.members[0].entry.Name, source.ErrChanged)
}

// runs returns the members of some rows of the unit.
func (u *loadedUnit) runs(from int64, rows int) (all []run) {
	to, at := from+int64(rows), int64(0)
	for i := range u.record.Members {
		next := at + u.record.Members[i].Rows
		if n := min(to, next) - max(from, at); n > 0 {
			all = append(all, run{&u.members[i], int(n)})
		}
		if at = next; at >= to {
			break
		}
	}
	return all
}

// Search implements scan.Source.
func (r *reader) Search(ctx context.Context, i int, box [4]float64) ([]int32, bool, error) {
	n := r.view.batch[i]
	if n < 0 {
		return nil, true, nil
	}
	u := r.view.units[n]
	o, err := r.unit(ctx, n)
	if err != nil {
		return nil, false, r.distrust(u, err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if starts, k := o.ref.Table.Starts, i-u.firstBatch; k+1 >= len(starts) ||
		starts[k+1]-starts[k] != r.view.table.Starts[i+1]-r.view.table.Starts[i] {
		return nil, false, r.distrust(u, u.changed()) // the file's metadata predicted other batches
	}
	return o.ref.Search(ctx, i-u.firstBatch, box)
}

// unit returns a unit once it is loaded, and begins to load the next ones.
func (r *reader) unit(ctx context.Context, n int) (*openUnit, error) {
	r.mu.Lock()
	o := r.begin(n)
	if !r.shared && n != r.last {
		// The records of the unit before may still be read.
		for k, old := range r.open {
			if k != n && k != r.last && k < n {
				delete(r.open, k)
				r.release(old)
			}
		}
		r.last = n
	}
	if r.ahead {
		r.beginNext(n)
	}
	r.mu.Unlock()
	select {
	case <-o.done:
		return o, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// aheadBytes bounds the files of the units that are loaded in advance.
const aheadBytes = 64 << 20

// beginNext begins to load units that follow unit n; r.mu is held.
func (r *reader) beginNext(n int) {
	bytes, count := int64(0), 0
	for _, k := range r.wanted {
		if k <= n {
			continue
		}
		bytes += r.view.units[k].bytes
		if count++; count > 1 && bytes > aheadBytes || count == maxUnitsAhead {
			return
		}
		r.begin(k)
	}
}

// begin begins to load a unit; r.mu is held.
func (r *reader) begin(n int) *openUnit {
	if o := r.open[n]; o != nil {
		return o
	}
	o := &openUnit{done: make(chan struct{})}
	r.open[n] = o
	parts := r.parts[n]
	r.wait.Go(func() {
		defer close(o.done)
		o.ref, o.err = r.view.load(r.ctx, r.view.units[n], parts)
	})
	return o
}

// load returns the table of a unit. batches are those that are going to be read; nil: not known.
func (v *View) load(ctx context.Context, u *loadedUnit, batches []int) (*tables.Ref, error) {
	if u.pack {
		return v.set.Cache.Get(ctx, v.set.packJob(u.unit, u.text))
	}
	j := u.members[0].job().AsText(u.text)
	if len(batches) > 0 && len(u.text) == 0 && !v.set.Cache.ServesOrParses(j) {
		if ref, ok := v.set.Loader.Lend(ctx, j, batches); ok {
			return ref, nil
		}
	}
	j.Streamed = true
	return v.set.Cache.Stream(ctx, j)
}

// release releases a unit when it is loaded.
func (r *reader) release(o *openUnit) {
	r.wait.Go(func() {
		<-o.done
		o.ref.Release()
	})
}

// Retain keeps the rows of the units that are loaded readable until release is called.
func (r *reader) Retain() (release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []func()
	for n, o := range r.open {
		if !r.shared && n != r.last {
			continue
		}
		select {
		case <-o.done:
		default:
			continue
		}
		if o.err != nil {
			continue
		}
		if f := o.ref.Retain(); f != nil {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return func() {
		for _, f := range all {
			f()
		}
	}
}

// Release ends the loads under way and releases all units.
func (r *reader) Release() {
	r.cancel()
	r.mu.Lock()
	open := r.open
	r.open = map[int]*openUnit{}
	r.mu.Unlock()
	for _, o := range open {
		<-o.done
		o.ref.Release()
	}
	r.wait.Wait()
}

// Ranges implements scan.RowPartitioner.
func (r *reader) Ranges(values map[string]any) ([][2]int64, error) { return r.view.ranges(values) }

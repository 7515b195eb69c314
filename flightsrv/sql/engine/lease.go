package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// lease is the table of an entry while queries read it. The catalog does not drop the table, and
// the slices of its batches stay readable, also in a mapped file. A lease counts its users.
type lease struct {
	catalog *catalog.Catalog
	version string
	copies  bool // each call of batch may make a copy, which only its record keeps
	table   atomic.Pointer[readers.Table]

	mu       sync.Mutex
	users    int
	ref      *catalog.TableRef
	retained []func() // mappings of the batches, also of a damaged file
}

// leaseTable requests a table from the catalog, in any version if version is "", for a caller that
// needs the privilege p. The caller releases it.
func leaseTable(ctx context.Context, c *catalog.Catalog, p access.Privilege, name, version string) (*lease, error) {
	held, err := c.TableFor(ctx, p, catalog.Request{Name: name, Version: version})
	if err != nil {
		return nil, err
	}
	l := &lease{catalog: c, version: held.Version, copies: catalog.IsPart(held), users: 1, ref: held}
	l.retainBatches()
	return l, nil
}

// retainBatches keeps the slices of the current table.
func (l *lease) retainBatches() {
	if release := l.ref.Retain(); release != nil {
		l.retained = append(l.retained, release)
	}
	l.table.Store(l.ref.Table)
}

// addUser adds a user, who releases the lease too.
func (l *lease) addUser() *lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.users++
	return l
}

// release removes a user. The last one releases the table.
func (l *lease) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users--; l.users > 0 {
		return
	}
	l.ref.Release()
	for _, release := range l.retained {
		release()
	}
	l.retained = nil
}

// retain keeps the slices of the current table readable until release is called. It returns nil for
// a table on Go's heap.
func (l *lease) retain() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ref.Retain()
}

// batch returns batch i after a check of its bytes.
func (l *lease) batch(ctx context.Context, i int) (*geoarrow.Columns, error) {
	if l.ref.Source() != nil {
		b, err := l.ref.Batch(ctx, i)
		return b, l.catalog.Known(ctx, l.ref.Entry.Name, err)
	}
	for {
		t := l.table.Load()
		if t.Check == nil {
			return t.Batches[i], nil
		}
		err := t.Check(i)
		if err == nil {
			return t.Batches[i], nil
		}
		if err := l.replaceDamaged(ctx, t, i, err); err != nil {
			return nil, err
		}
	}
}

// search returns the rows of batch i whose bounding box meets a box, ascending.
func (l *lease) search(ctx context.Context, i int, box [4]float64) ([]int32, error) {
	if l.ref.Source() != nil {
		return l.searchSource(ctx, i, box)
	}
	for {
		t := l.table.Load()
		if t.Search == nil {
			return inBox(t.Batches[i].Geometry, box), nil
		}
		rows, err := t.Search(i, box)
		if err == nil {
			return rows, nil
		}
		if err := l.replaceDamaged(ctx, t, i, err); err != nil {
			return nil, err
		}
	}
}

// searchSource is search for a table whose rows a source has.
func (l *lease) searchSource(ctx context.Context, i int, box [4]float64) ([]int32, error) {
	rows, ok, err := l.ref.Search(ctx, i, box)
	if ok || err != nil {
		return rows, err
	}
	b, err := l.ref.Batch(ctx, i)
	if err != nil {
		return nil, err
	}
	return inBox(b.Geometry, box), nil
}

// inBox is [lease.search] without an index.
func inBox(g *geoarrow.Geometry, box [4]float64) []int32 {
	var rows []int32
	for i := range g.Rows {
		xmin, ymin, xmax, ymax, ok := g.Bounds(i)
		if ok && meets(box, [4]float64{xmin, ymin, xmax, ymax}) {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// meets reports whether two closed boxes have a point in common.
func meets(a, b [4]float64) bool { return a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3] }

// replaceDamaged replaces a table with a damaged file by an equal one that the catalog parses
// again, by a scan of one row. It returns any other error unchanged.
func (l *lease) replaceDamaged(ctx context.Context, t *readers.Table, i int, why error) error {
	if !errors.Is(why, readers.ErrDamaged) {
		return why
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.table.Load() != t { // another user has replaced it
		return nil
	}
	s, err := l.ref.Scan(catalog.Selection{Rows: &[2]int64{t.Starts[i], t.Starts[i] + 1}})
	if err != nil {
		return err
	}
	rec, err := s.Next(ctx)
	if err != nil {
		return err
	}
	rec.Release()
	if l.ref.Table == t {
		return why
	}
	l.retainBatches()
	return nil
}

package tablefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/catalog/rtree"
	"github.com/vibeflight/vibeflight/internal/system"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// File is a mapped table. It is safe for concurrent use.
//
// The slices of its table are views of the mapping, which the garbage collector does not see. Code
// that reads them holds a reference (Retain). It also keeps the *File or its *readers.Table
// reachable, because an unreachable *File is unmapped.
type File struct {
	name    string
	table   *readers.Table
	mapped  mapping
	cleanup runtime.Cleanup
	refs    atomic.Int64
	read    atomic.Int64
	bodies  []region // messages, one for each batch
	trees   []region // indices, one for each batch; 0 bytes for a batch without a box
	items   []int    // number of items of each index

	sparse   *sparse // of a remote file; else nil
	verified func()  // called when all batches of a remote file were verified; may be nil
}

// region is a part of the file that has its own sum.
type region struct {
	extent
	sum  uint32
	mu   sync.Mutex // held while the sum is computed
	good atomic.Bool
}

func (r *region) end() int64 { return r.offset + r.length }

// Open maps a finished file and reads its footer. It reads no message; its time and memory depend
// only on the numbers of batches and columns. The caller owns the first reference and may close f.
// The error wraps readers.ErrDamaged if f does not end like a table file, has another version of
// the layout, or has a footer with a wrong sum.
func Open(f files.File) (*File, error) {
	text, size, err := readDescription(f)
	if err != nil {
		return nil, err
	}
	var d description
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, damaged(f.Name(), err)
	}
	types, err := d.validate(size)
	if err != nil {
		return nil, damaged(f.Name(), err)
	}
	m, err := newMapping(f, 0, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	file := &File{name: f.Name(), mapped: m, table: d.table()}
	if err := file.addBatches(&d, types); err != nil {
		return nil, errors.Join(damaged(f.Name(), err), m.end())
	}
	place(f, m)
	file.table.Check = file.check
	if d.Geometry != nil {
		file.table.Search = file.search
	}
	file.refs.Store(1)
	// the error can't be handled
	file.cleanup = runtime.AddCleanup(file, func(m mapping) { _ = m.end() }, m)
	return file, nil
}

// addBatches adds the batches to the table.
func (f *File) addBatches(d *description, types []arrow.DataType) error {
	b := &d.Batches
	n := len(b.Offset)
	f.table.Batches = make([]*geoarrow.Columns, n)
	f.bodies, f.trees, f.items = make([]region, n), make([]region, n), make([]int, n)
	for i := range n {
		body := extent{b.Offset.at(i) + b.Metadata.at(i), b.Body.at(i)}
		c, k := d.batch(i, types)
		carver := carver{body: f.at(body)}
		walk := walk{step: carver.step}
		if err := walk.batch(c, k); err != nil {
			return fmt.Errorf("batch %d: %w", i, err)
		}
		if aligned(carver.at) != body.length {
			return fmt.Errorf("batch %d: %d bytes of %d", i, carver.at, body.length)
		}
		f.table.Batches[i] = c
		f.bodies[i].extent, f.bodies[i].sum = extent{b.Offset.at(i), b.Metadata.at(i) + body.length},
			uint32(b.Sum.at(i))
		f.items[i] = int(b.TreeItems.at(i))
		f.trees[i].extent, f.trees[i].sum = extent{b.TreeOffset.at(i), int64(rtree.Size(f.items[i]))},
			uint32(b.TreeSum.at(i))
	}
	return nil
}

func (f *File) at(e extent) []byte { return f.mapped.part(e.offset, e.offset+e.length) }

// Table returns the table, the same one on each call. Its Check and Search are set, but Search is
// nil without a geometry. It is valid until the last Release.
func (f *File) Table() *readers.Table { return f.table }

// BytesChecked returns how many bytes were read in addition to the footer: messages that Check
// verified, indices that Search verified, and items that searches visited. It does not count what
// other code reads of the batches.
func (f *File) BytesChecked() int64 { return f.read.Load() }

// Retain adds a reference.
func (f *File) Retain() {
	if f.refs.Add(1) <= 1 {
		panic("tablefile: Retain after the last Release")
	}
}

// Release drops a reference. The last call ends the mapping.
func (f *File) Release() {
	switch n := f.refs.Add(-1); {
	case n < 0:
		panic("tablefile: more Releases than references")
	case n == 0:
		f.cleanup.Stop()
		if f.sparse != nil {
			f.sparse.cancel()
		}
		_ = f.mapped.end() // munmap only fails for invalid arguments
	}
	runtime.KeepAlive(f)
}

// check implements Table.Check.
func (f *File) check(i int) error {
	r := &f.bodies[i]
	if r.good.Load() {
		return nil
	}
	if f.sparse != nil {
		f.fetchBody(i)
	}
	first, err := f.verify(r)
	if err != nil {
		return damaged(f.name, fmt.Errorf("batch %d: %w", i, err))
	}
	if first && f.sparse != nil {
		f.verifiedBody()
	}
	return nil
}

// search implements Table.Search.
func (f *File) search(i int, box [4]float64) ([]int32, error) {
	if f.items[i] == 0 {
		return nil, nil
	}
	if f.matchesAll(i, box) {
		rows := make([]int32, f.items[i])
		for row := range rows {
			rows[row] = int32(row)
		}
		return rows, nil
	}
	if f.sparse != nil && !f.trees[i].good.Load() {
		f.fetchTrees(i, box)
	}
	_, err := f.verify(&f.trees[i])
	var rows []int32
	if err == nil {
		rows, err = f.searchTree(i, box)
	}
	if err != nil {
		return nil, damaged(f.name, fmt.Errorf("index of batch %d: %w", i, err))
	}
	return rows, nil
}

// matchesAll reports whether every row of batch i has a box and all these boxes are inside the
// given box. The index is then not needed.
func (f *File) matchesAll(i int, box [4]float64) bool {
	t := f.table
	if f.items[i] < t.Batches[i].Rows || len(t.Boxes) != len(t.Batches) {
		return false
	}
	b := t.Boxes[i]
	return box[0] <= b[0] && box[1] <= b[1] && b[2] <= box[2] && b[3] <= box[3]
}

func (f *File) searchTree(i int, box [4]float64) ([]int32, error) {
	tree, err := rtree.Open(f.at(f.trees[i].extent), f.items[i], f.table.Batches[i].Rows)
	if err != nil {
		return nil, err
	}
	rows, read, err := tree.Search(box, nil)
	f.read.Add(read)
	return rows, err
}

var errSum = errors.New("the sum of its bytes is wrong")

// verify verifies the sum of a region once, after a remote file's bytes have arrived. Concurrent
// calls wait. The call that has verified it returns true.
func (f *File) verify(r *region) (first bool, err error) {
	if r.good.Load() {
		return false, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.good.Load() {
		return false, nil
	}
	if f.sparse != nil {
		if err := f.sparse.need(r.offset, r.end()); err != nil {
			return false, err
		}
	}
	f.read.Add(r.length)
	b := f.at(r.extent)
	system.PopulateRead(b)
	if sumOf(b) != r.sum {
		return false, errSum
	}
	r.good.Store(true)
	return true, nil
}

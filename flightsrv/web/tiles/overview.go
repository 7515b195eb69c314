package tiles

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/readers"
)

// overviewRows is the number of rows of a tile above which it uses the overview of its table.
const overviewRows = 32 << 10

// overview has the rows to draw in tiles that many rows of a table meet. It is a quadtree over the
// tiles from zoom 0 on:
//
//   - A tile with more than overviewRows rows has a list: the rows that its drawing begins with, in
//     the order of their keys. No more fit in a tile.
//   - A tile with fewer rows has no list and no children. If the table has no spatial indices, the
//     tile has all of its rows.
//
// It is immutable.
type overview struct {
	sizes  []size // of each row
	lists  map[address][]listRow
	leaves map[address][]uint32 // nil: the table has spatial indices
	bytes  int64
}

// listRow is a row of a list.
type listRow struct {
	row  uint32
	x, y int16 // the pixel of a tiny polygon; notTiny: another geometry
}

// notTiny is the column of a pixel that is in no tile.
const notTiny = math.MinInt16

// address is the address of a tile.
type address struct{ z, x, y uint32 }

// maxOverviewZoom is the last zoom of an overview.
const maxOverviewZoom = 16

// overviewRowBytes is about what the making of an overview needs for each row of the table.
const overviewRowBytes = 28

// candidates returns the candidates of a tile, with their keys, of which limit are drawn at most.
// ok is false if the overview does not have them.
func (o *overview) candidates(ctx context.Context, t *readers.Table, f *frame, limit int) (
	all []candidate, ok bool, err error,
) {
	if rows, ok := o.lists[address{f.z, f.x, f.y}]; ok {
		return placed(t, rows), true, verifyAll(ctx, t)
	}
	if o.leaves == nil {
		return nil, false, nil
	}
	for up := uint32(0); up <= f.z; up++ {
		rows, ok := o.leaves[address{f.z - up, f.x >> up, f.y >> up}]
		if !ok {
			continue
		}
		if err := verifyAll(ctx, t); err != nil {
			return nil, false, err
		}
		all, err := o.filter(t, f, rows)
		c := choice{limit: limit}
		c.add(all...)
		return c.result(), true, err
	}
	return nil, true, nil // no row is near
}

// placed returns the candidates of a list.
func placed(t *readers.Table, rows []listRow) []candidate {
	all := make([]candidate, len(rows))
	for i, r := range rows {
		c := &all[i]
		c.row, c.key = int64(r.row), uint64(i)
		c.batch, c.at = find(t, c.row)
		c.tiny, c.cell = r.x != notTiny, cell{int32(r.x), int32(r.y)}
	}
	return all
}

// find returns where a row is.
func find(t *readers.Table, row int64) (batch, at int32) {
	b, exact := slices.BinarySearch(t.Starts, row)
	if !exact {
		b--
	}
	return int32(b), int32(row - t.Starts[b])
}

// filter judges the rows of a leaf that meet a tile.
func (o *overview) filter(t *readers.Table, f *frame, rows []uint32) ([]candidate, error) {
	box := f.searchBox()
	var all []candidate
	for len(rows) > 0 {
		b, _ := find(t, int64(rows[0]))
		j := judge{
			frame: f, geometry: t.Batches[b].Geometry, batch: int(b), start: t.Starts[b], share: shareOf(t.Rows),
			box: &box,
		}
		for len(rows) > 0 && int64(rows[0]) < t.Starts[b+1] {
			if err := j.row(int32(int64(rows[0]) - j.start)); err != nil {
				return nil, err
			}
			rows = rows[1:]
		}
		all = append(all, j.out...)
	}
	return all, nil
}

// overviewBuilder makes an overview.
type overviewBuilder struct {
	table      *readers.Table
	projection projection
	extent     int64
	buffer     int64
	listRows   int // of a list, at most
	leafRows   int // of a tile without a list
	bytes      int64

	boxes []worldBox // of each row
	slots chan struct{}
	wait  sync.WaitGroup

	mu       sync.Mutex
	overview *overview
	left     int64 // bytes that lists may still have
}

// worldBox is a box in the square.
type worldBox struct{ xmin, ymin, xmax, ymax uint32 }

// build makes the overview.
func (b *overviewBuilder) build(ctx context.Context) (*overview, error) {
	t := b.table
	o := &overview{sizes: make([]size, t.Rows), lists: map[address][]listRow{}}
	if t.Search == nil {
		o.leaves = map[address][]uint32{}
	}
	b.overview, b.left = o, b.bytes
	b.boxes = make([]worldBox, t.Rows)
	b.slots = make(chan struct{}, runtime.GOMAXPROCS(0)-1)
	if err := parallel(ctx, runtime.GOMAXPROCS(0), len(t.Batches), 1, func(_, i int) error {
		return b.measure(i)
	}); err != nil {
		return nil, err
	}
	rows := make([]uint32, 0, t.Rows)
	for i, s := range o.sizes {
		if s == s {
			rows = append(rows, uint32(i))
		}
	}
	b.tile(ctx, address{}, rows)
	b.wait.Wait()
	o.bytes += 4 * int64(len(o.sizes))
	return o, ctx.Err()
}

// measure sets sizes and boxes of a batch.
func (b *overviewBuilder) measure(i int) error {
	columns, err := scan.VerifiedBatch(b.table, i)
	if err != nil {
		return err
	}
	p := b.projection
	for k, row := 0, b.table.Starts[i]; k < columns.Rows; k, row = k+1, row+1 {
		e, err := extentOf(columns.Geometry, k, p)
		if err != nil {
			return err
		}
		b.overview.sizes[row] = e.size()
		if e.valid() {
			b.boxes[row] = worldBox{fixed(p.x(e.xmin)), fixed(p.y(e.ymax)), fixed(p.x(e.xmax)), fixed(p.y(e.ymin))}
		}
	}
	return nil
}

// tile makes the tile of an address and those below it. rows are those whose box meets it.
func (b *overviewBuilder) tile(ctx context.Context, a address, rows []uint32) {
	if ctx.Err() != nil || len(rows) == 0 {
		return
	}
	if len(rows) <= b.leafRows {
		b.leaf(a, rows)
		return
	}
	f := newFrame(b.projection, a.z, a.x, a.y, b.extent, b.buffer)
	if !b.list(a, b.choose(f, rows)) || a.z == maxOverviewZoom {
		b.leaf(a, rows)
		return
	}
	children, sum := [4][]uint32{}, 0
	for i := range children {
		children[i] = b.part(address{a.z + 1, 2*a.x + uint32(i)&1, 2*a.y + uint32(i)>>1}, rows)
		sum += len(children[i])
	}
	if sum > 3*len(rows) { // most rows meet most tiles, at all zooms below too
		b.leaf(a, rows)
		return
	}
	for i, part := range children {
		child := address{a.z + 1, 2*a.x + uint32(i)&1, 2*a.y + uint32(i)>>1}
		select {
		case b.slots <- struct{}{}:
			b.wait.Go(func() {
				b.tile(ctx, child, part)
				<-b.slots
			})
		default:
			b.tile(ctx, child, part)
		}
		children[i] = nil
	}
}

// part returns the rows whose box meets a tile with its buffer.
func (b *overviewBuilder) part(a address, rows []uint32) (part []uint32) {
	width := uint64(1) << (worldBits - a.z)
	around := width * uint64(b.buffer+1) / uint64(b.extent)
	low := func(at uint32) uint32 {
		if from := uint64(at) * width; from > around {
			return uint32(from - around)
		}
		return 0
	}
	high := func(at uint32) uint32 { return uint32(min((uint64(at)+1)*width+around, 1<<worldBits-1)) }
	x0, y0, x1, y1 := low(a.x), low(a.y), high(a.x), high(a.y)
	for _, row := range rows {
		if box := &b.boxes[row]; box.xmin <= x1 && box.xmax >= x0 && box.ymin <= y1 && box.ymax >= y0 {
			part = append(part, row)
		}
	}
	return part
}

// choose returns the rows to draw first, in the order of their keys.
func (b *overviewBuilder) choose(f *frame, rows []uint32) []listRow {
	share := shareOf(b.table.Rows)
	chosen := choice{limit: b.listRows}
	for _, row := range rows {
		c := candidate{row: int64(row)}
		if !f.judge(&c, b.overview.sizes[row], share) {
			continue
		}
		if c.small {
			box := &b.boxes[row]
			c.cell = f.cellOf(middle(box.xmin, box.xmax), middle(box.ymin, box.ymax))
		}
		chosen.add(c)
	}
	all := sorted(chosen.result())
	all = all[:min(len(all), b.listRows)]
	list := make([]listRow, len(all))
	for i := range all {
		list[i] = listRow{uint32(all[i].row), notTiny, 0}
		if c := all[i].cell; all[i].tiny {
			list[i].x, list[i].y = clamp16(c.x), clamp16(c.y)
		}
	}
	return list
}

// clamp16 moves a pixel that is far outside of its tile next to it.
func clamp16(v int32) int16 { return int16(min(max(v, -pixels), 2*pixels)) }

func middle(a, b uint32) uint32 { return uint32((uint64(a) + uint64(b)) / 2) }

// listOverhead is about what an entry of a map needs in addition to its rows.
const listOverhead = 64

// list keeps the list of a tile. It returns false if there is no room.
func (b *overviewBuilder) list(a address, rows []listRow) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 8*int64(len(rows)) + listOverhead
	if n > b.left {
		return false
	}
	b.left -= n
	b.overview.bytes += n
	b.overview.lists[a] = rows
	return true
}

// leaf keeps the rows of a tile without children, if they are needed.
func (b *overviewBuilder) leaf(a address, rows []uint32) {
	if b.overview.leaves == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.overview.leaves[a] = slices.Clip(rows)
	b.overview.bytes += 4*int64(len(rows)) + listOverhead
}

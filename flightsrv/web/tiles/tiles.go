// Package tiles makes vector tiles of tables: Mapbox Vector Tile 2.1, in the tile scheme of web
// mercator (EPSG:3857, OGC's WebMercatorQuad).
//
// A tile has the rows whose box meets it, found by the spatial indices of the table. It has at most
// 50,000 features in 500,000 bytes. What is smallest in pixels is left out: polygons by area, lines
// by length. Points are left out so that the rest is spread evenly. A polygon smaller than a pixel
// is drawn as a pixel, or not at all, so that the sum of the areas stays. Neighbours keep the same
// vertices along the borders that they share.
//
// The package accepts tables in OGC:CRS84, EPSG:4326 and EPSG:3857, and refuses others.
package tiles

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Config configures a Set. The zero value has the defaults.
type Config struct {
	MaxBytes    int   // of a tile, before compression; 0: DefaultMaxBytes
	MaxFeatures int   // of a tile; 0: DefaultMaxFeatures
	Extent      int   // units of the width of a tile; 0: DefaultExtent
	Buffer      int   // units around a tile that are drawn too; 0: DefaultBuffer
	CacheBytes  int64 // of the tiles that are kept; 0: DefaultCacheBytes; < 0: none is kept
	IndexBytes  int64 // of the overviews of tables that are kept; 0: DefaultIndexBytes
}

// Defaults of Config.
const (
	DefaultMaxBytes    = 500_000
	DefaultMaxFeatures = 50_000
	DefaultExtent      = 4096
	DefaultBuffer      = 64
	DefaultCacheBytes  = 64 << 20
	DefaultIndexBytes  = 256 << 20
)

// MaxZoom is the largest zoom of a tile.
const MaxZoom = 22

func (cfg Config) withDefaults() Config {
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, DefaultMaxBytes)
	cfg.MaxFeatures = cmp.Or(cfg.MaxFeatures, DefaultMaxFeatures)
	cfg.Extent = cmp.Or(cfg.Extent, DefaultExtent)
	cfg.Buffer = cmp.Or(cfg.Buffer, DefaultBuffer)
	cfg.CacheBytes = cmp.Or(cfg.CacheBytes, DefaultCacheBytes)
	cfg.IndexBytes = cmp.Or(cfg.IndexBytes, DefaultIndexBytes)
	return cfg
}

// Set makes tiles, and keeps some of them. It is safe for use by several goroutines.
type Set struct {
	cfg   Config
	cache *cache
}

// New returns a Set.
func New(cfg Config) *Set {
	cfg = cfg.withDefaults()
	return &Set{cfg: cfg, cache: newCache(cfg.CacheBytes)}
}

// AddressError says that there is no tile of an address.
type AddressError struct{ Z, X, Y uint32 }

func (e *AddressError) Error() string {
	if e.Z > MaxZoom {
		return fmt.Sprintf("zoom %d: the largest zoom is %d", e.Z, MaxZoom)
	}
	return fmt.Sprintf("tile %d/%d/%d: x and y are below %d at zoom %d", e.Z, e.X, e.Y, uint32(1)<<e.Z, e.Z)
}

// Tile returns the vector tile of a table, not compressed; nil if no feature is in it. columns are
// the attributes; nil: all. The bytes must not be modified: callers share them. The table must have
// been requested with all of its columns. The id of a feature is the number of its row.
//
// Errors: *AddressError, *CRSError, *catalog.UnknownColumnError, that of ctx, those of
// TableRef.Batch.
func (s *Set) Tile(ctx context.Context, ref *catalog.TableRef, z, x, y uint32, columns []string) ([]byte, error) {
	if z > MaxZoom || x >= 1<<z || y >= 1<<z {
		return nil, &AddressError{z, x, y}
	}
	p, ok := projectionOf(ref.Table.CRS)
	if !ok {
		return nil, &CRSError{ref.Entry.Name, ref.Table.CRS}
	}
	chosen, err := attributes(ref.Table, columns)
	if err != nil {
		return nil, err
	}
	k := keyOf(ctx, ref, chosen, z, x, y)
	return s.cache.get(ctx, k, func(ctx context.Context) ([]byte, error) {
		return s.make(ctx, ref, newFrame(p, z, x, y, int64(s.cfg.Extent), int64(s.cfg.Buffer)), chosen)
	})
}

// attributes returns the numbers of the named attributes of a table, or of all of them. The name of
// the geometry names none.
func attributes(t *readers.Table, names []string) ([]int, error) {
	all := t.Batches[0].Attributes
	if names == nil {
		chosen := make([]int, len(all))
		for i := range all {
			chosen[i] = i
		}
		return chosen, nil
	}
	if _, err := scan.New(t, scan.Selection{Columns: names}); err != nil {
		return nil, err
	}
	numbers := make(map[string]int, len(all))
	for i := len(all) - 1; i >= 0; i-- {
		numbers[all[i].Name] = i
	}
	chosen, seen := make([]int, 0, len(names)), map[int]bool{}
	for _, name := range names {
		if i, ok := numbers[name]; ok && !seen[i] {
			chosen, seen[i] = append(chosen, i), true
		}
	}
	return chosen, nil
}

// make draws a tile.
func (s *Set) make(ctx context.Context, ref *catalog.TableRef, f *frame, columns []int) ([]byte, error) {
	if ref.Table.Batches[0].Geometry == nil {
		return nil, nil
	}
	rows, all, err := s.gather(ctx, ref, f, columns)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	keys := make([]string, len(columns))
	for i, c := range columns {
		keys[i] = ref.Table.Batches[0].Attributes[c].Name
	}
	d := newPainter(f, rows, columns, newLayer(LayerName(ref), keys, f.extent, s.cfg.MaxBytes), s.cfg.MaxFeatures)
	if err := d.draw(ctx, f.spread(all)); err != nil {
		return nil, err
	}
	return d.layer.tile(), nil
}

// LayerName returns the name of the layer of a table's tiles.
func LayerName(ref *catalog.TableRef) string { return ref.Entry.Name }

// copies are rows of a table, copied batch by batch.
type copies struct {
	mu      sync.Mutex
	batches []*geoarrow.Columns // by number of batch; nil: no row of it
}

// columnsOf implements rowSource.
func (c *copies) columnsOf(r *candidate) (*geoarrow.Columns, int) {
	return c.batches[r.batch], int(r.at)
}

// gather finds the candidates of a tile. It reads one batch after the other, and keeps only rows
// that may be drawn.
func (s *Set) gather(ctx context.Context, ref *catalog.TableRef, f *frame, _ []int) (rowSource, []candidate, error) {
	t := ref.Table
	box := f.searchBox()
	share := float64(minShown) / float64(max(t.Rows, 1))
	rows := &copies{batches: make([]*geoarrow.Columns, len(t.Starts)-1)}
	var all []candidate
	for b := range rows.batches {
		if t.Boxes != nil && !meets(t.Boxes[b], box) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		found, err := gatherBatch(ctx, ref, f, b, box, share)
		if err != nil {
			return nil, nil, err
		}
		if len(found) == 0 {
			continue
		}
		columns, err := ref.Batch(ctx, b)
		if err != nil {
			return nil, nil, err
		}
		rows.batches[b] = columns
		all = append(all, found...)
	}
	return rows, all, nil
}

// meets reports whether two closed boxes have a point in common.
func meets(a, b [4]float64) bool { return a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3] }

// gatherBatch finds the candidates of a batch.
func gatherBatch(ctx context.Context, ref *catalog.TableRef, f *frame, b int, box [4]float64, share float64) (
	[]candidate, error,
) {
	rows, indexed, err := ref.Search(ctx, b, box)
	if err != nil || indexed && len(rows) == 0 {
		return nil, err
	}
	columns, err := ref.Batch(ctx, b)
	if err != nil {
		return nil, err
	}
	g, start := columns.Geometry, ref.Table.Starts[b]
	n := columns.Rows
	if indexed {
		n = len(rows)
	}
	var all []candidate
	for k := range n {
		i := k
		if indexed {
			i = int(rows[k])
		}
		e, err := extentOf(g, i, f.projection)
		if err != nil {
			return nil, err
		}
		if !e.valid() || !meets([4]float64{e.xmin, e.ymin, e.xmax, e.ymax}, box) {
			continue
		}
		c := candidate{row: start + int64(i), batch: int32(b), at: int32(i)}
		if !f.judge(&c, sizes{float32(e.area), float32(e.length)}, share) {
			continue
		}
		if c.small {
			x, y := f.unitX((e.xmin+e.xmax)/2), f.unitY((e.ymin+e.ymax)/2)
			c.cell = vertex{floorDiv(x, f.pixel), floorDiv(y, f.pixel)}
		}
		all = append(all, c)
	}
	return all, nil
}

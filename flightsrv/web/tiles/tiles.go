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
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/readers"
)

// Config configures a Set. The zero value has the defaults.
type Config struct {
	MaxBytes    int   // of a tile, before compression; 0: DefaultMaxBytes
	MaxFeatures int   // of a tile; 0: DefaultMaxFeatures
	Extent      int   // units of the width of a tile, a multiple of 512; 0: DefaultExtent
	Buffer      int   // units around a tile that are drawn too; 0: DefaultBuffer
	CacheBytes  int64 // of the tiles that are kept; 0: DefaultCacheBytes; < 0: none is kept
	// IndexBytes bounds the overviews of large tables that are kept. To make one takes up to four
	// times as much for a while; a table that needs more has none, and each of its tiles at low zooms
	// reads all rows. 0: DefaultIndexBytes, for 38 million rows.
	IndexBytes int64
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
	cfg.MaxFeatures = min(cmp.Or(cfg.MaxFeatures, DefaultMaxFeatures), maxFeatures-1)
	cfg.Extent = cmp.Or(cfg.Extent, DefaultExtent)
	cfg.Buffer = cmp.Or(cfg.Buffer, DefaultBuffer)
	cfg.CacheBytes = cmp.Or(cfg.CacheBytes, DefaultCacheBytes)
	cfg.IndexBytes = cmp.Or(cfg.IndexBytes, DefaultIndexBytes)
	return cfg
}

// featureLimit returns the number of features that a tile has at most.
func (cfg Config) featureLimit() int {
	return min(cfg.MaxFeatures, max(1, cfg.MaxBytes/minFeatureBytes))
}

// minFeatureBytes is less than a feature in a tile has.
const minFeatureBytes = 12

// Set makes tiles, and keeps some of them. It is safe for use by several goroutines.
type Set struct {
	cfg       Config
	cache     *cache
	overviews *overviews
	workers   workerPool
}

// New returns a Set. The caller closes it.
func New(cfg Config) *Set {
	cfg = cfg.withDefaults()
	return &Set{cfg: cfg, cache: newCache(cfg.CacheBytes), overviews: newOverviews(cfg)}
}

// Close ends the making of overviews and waits for it. No tile may be requested any more.
func (s *Set) Close() { s.overviews.close() }

// Open returns the table of an entry for Tile and InfoOf. A file is parsed if it is not cached. A
// dataset is not loaded; Tile loads the files that the tile meets, and keeps few of them at a time.
// The caller releases the table. The errors are those of Catalog.Table.
func Open(ctx context.Context, c *catalog.Catalog, req catalog.Request) (*catalog.TableRef, error) {
	req.Columns = nil
	e, err := c.Lookup(ctx, req.Name)
	if err != nil {
		return nil, err
	}
	if !e.IsDataset() {
		return c.Table(ctx, req)
	}
	ref, _, err := c.Read(ctx, req, catalog.Selection{Limit: new(int64)})
	return ref, err
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
// the attributes; nil: all. The bytes must not be modified: callers share them. The table is one of
// Open. The id of a feature is the number of its row.
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
	if ref.Table.Batches[0].Geometry == nil {
		return nil, nil
	}
	k := keyOf(ctx, ref, chosen, z, x, y)
	return s.cache.get(ctx, k, func(ctx context.Context) ([]byte, error) {
		return s.make(ctx, k.tableKey, ref, newFrame(p, z, x, y, int64(s.cfg.Extent), int64(s.cfg.Buffer)), chosen)
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
func (s *Set) make(ctx context.Context, k tableKey, ref *catalog.TableRef, f *frame, columns []int) ([]byte, error) {
	if !isPlain(ref) {
		return s.drawCopies(ctx, ref, f, columns)
	}
	tile, err := s.drawPlain(ctx, k, ref, f, columns)
	if !errors.Is(err, readers.ErrDamaged) {
		return tile, err
	}
	for i := range ref.Table.Batches { // the table is parsed again
		if _, err := ref.Batch(ctx, i); err != nil {
			return nil, err
		}
		if _, _, err := ref.Search(ctx, i, [4]float64{}); err != nil {
			return nil, err
		}
	}
	return s.drawPlain(ctx, k, ref, f, columns)
}

// isPlain reports whether the rows of a table are in the batches of ref.Table. The others are
// datasets and parts of tables, which give copies of their batches.
func isPlain(ref *catalog.TableRef) bool { return ref.Source() == nil }

// newLayerOf returns an empty layer for a table's tile.
func (s *Set) newLayerOf(ref *catalog.TableRef, columns []int) *layer {
	keys := make([]string, len(columns))
	for i, c := range columns {
		keys[i] = ref.Table.Batches[0].Attributes[c].Name
	}
	return newLayer(LayerName(ref), keys, int64(s.cfg.Extent), s.cfg.MaxBytes)
}

// LayerName returns the name of the layer of a table's tiles.
func LayerName(ref *catalog.TableRef) string { return ref.Entry.Name }

// meets reports whether two closed boxes have a point in common.
func meets(a, b [4]float64) bool { return a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3] }

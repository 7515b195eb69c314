package tiles

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/paulmach/orb/geojson"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/readers"
)

// rights is a scope with the same restriction for every entry.
type rights struct {
	access.Scope
	restriction access.Restriction
}

func (r rights) Key() string                            { return fmt.Sprint(r.restriction) }
func (r rights) Restriction(string) *access.Restriction { return &r.restriction }

// everyThird keeps every third row of each batch, whatever the filter says.
type everyThird struct{ restrict.Evaluator }

func (everyThird) Filter(_ context.Context, t *readers.Table, _ string) ([][]int32, error) {
	kept := make([][]int32, len(t.Batches))
	for i, b := range t.Batches {
		for row := 0; row < b.Rows; row += 3 {
			kept[i] = append(kept[i], int32(row))
		}
	}
	return kept, nil
}

func (everyThird) Uses(context.Context, *readers.Table, []string) ([]int, error) { return nil, nil }

// texts returns features as text without their ids.
func texts(t *testing.T, all []*geojson.Feature) []string {
	t.Helper()
	var out []string
	for _, f := range all {
		out = append(out, fmt.Sprint(f.Geometry, f.Properties))
	}
	slices.Sort(out)
	return out
}

// TestRestrictedTable compares the tiles of a part of a table with those of a file that has this
// part only.
func TestRestrictedTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	geometries := randomGeometries(rng, 9000)
	var third []string
	for i := 0; i < len(geometries); i += 3 {
		third = append(third, geometries[i])
	}
	dir := t.TempDir()
	write(t, dir, "all.geojson", featureCollection("", geometries))
	write(t, dir, "third.geojson", featureCollection("", third))
	c := openCatalog(t, catalog.Config{Roots: []catalog.Root{{Dir: dir}}})
	c.SetEvaluator(everyThird{}, nil)
	ctx := access.With(t.Context(), rights{access.All, access.Restriction{Filter: "true"}})
	s := New(Config{})
	defer s.Close()
	part, whole, want := open(ctx, t, c, "all.geojson"), open(t.Context(), t, c, "all.geojson"),
		open(t.Context(), t, c, "third.geojson")
	for z := range uint32(5) {
		x, y := uint32(1)<<z/2, uint32(1)<<z/2
		got, err := s.Tile(ctx, part, z, x, y, []string{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Tile(t.Context(), want, z, x, y, []string{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(texts(t, decoded(t, got)), texts(t, decoded(t, b))) {
			t.Errorf("zoom %d: %d bytes, not %d", z, len(got), len(b))
		}
		all := tileOf(t, s, whole, z, x, y)
		if n := len(decoded(t, got)); n >= len(all) || n == 0 {
			t.Errorf("zoom %d: %d features of %d", z, n, len(all))
		}
	}
	hidden := access.With(t.Context(), rights{access.All, access.Restriction{Hidden: []string{"n"}}})
	ref := open(hidden, t, c, "all.geojson")
	if b, err := s.Tile(hidden, ref, 0, 0, 0, nil); err != nil || len(decoded(t, b)[0].Properties) != 0 {
		t.Errorf("%d bytes, error %v", len(b), err)
	}
	if _, err := s.Tile(hidden, ref, 0, 0, 0, []string{"n"}); !errors.As(err, new(*catalog.UnknownColumnError)) {
		t.Errorf("error %v", err)
	}
	hidden = access.With(t.Context(), rights{access.All, access.Restriction{Hidden: []string{"geometry"}}})
	if b, err := s.Tile(hidden, open(hidden, t, c, "all.geojson"), 0, 0, 0, nil); b != nil || err != nil {
		t.Errorf("%d bytes, error %v", len(b), err)
	}
}

func write(t *testing.T, dir, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDataset compares the tiles of a dataset with those of one file with the same rows.
func TestDataset(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	dir, parts := t.TempDir(), t.TempDir()
	geometries := randomGeometries(rng, 4000)
	write(t, dir, "all.geojson", featureCollection("", geometries))
	for i := range 4 {
		write(t, parts, fmt.Sprintf("%d.geojson", i), featureCollection("", geometries[i*1000:(i+1)*1000]))
	}
	c := openCatalog(t, catalog.Config{
		Roots:    []catalog.Root{{Dir: dir}},
		Datasets: []catalog.Dataset{{Name: "parts", Files: []string{parts + "/*.geojson"}}},
	})
	for _, limit := range []int{0, 300} {
		s := New(Config{MaxFeatures: limit})
		defer s.Close()
		for z := range uint32(5) {
			x, y := uint32(1)<<z/2, uint32(1)<<z/2
			want := tileOf(t, s, open(t.Context(), t, c, "all.geojson"), z, x, y)
			got := tileOf(t, s, open(t.Context(), t, c, "parts"), z, x, y)
			if !slices.Equal(texts(t, got), texts(t, want)) || len(want) == 0 {
				t.Errorf("zoom %d: %d features, not %d", z, len(got), len(want))
			}
			for i := range got {
				if got[i].ID != want[i].ID {
					t.Errorf("zoom %d: feature %v, not %v", z, got[i].ID, want[i].ID)
				}
			}
		}
	}
}

// TestChangedFile wants the tiles of a file that was written anew.
func TestChangedFile(t *testing.T) {
	dir := t.TempDir()
	c := openCatalog(t, catalog.Config{Roots: []catalog.Root{{Dir: dir}}})
	s := New(Config{})
	defer s.Close()
	for n := range 3 {
		write(t, dir, "a.geojson", featureCollection("", make([]string, 0)))
		var all []string
		for i := range n + 1 {
			all = append(all, pointJSON(float64(i), 1))
		}
		write(t, dir, "a.geojson", featureCollection("", all))
		if err := c.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		for z := range uint32(3) {
			ref := open(t.Context(), t, c, "a.geojson")
			if found := tileOf(t, s, ref, z, 1<<z/2, 1<<z/2-min(z, 1)); len(found) != n+1 {
				t.Errorf("%d features, not %d", len(found), n+1)
			}
		}
		if tiles := len(s.cache.tables["a.geojson"].tiles); tiles != 3 {
			t.Errorf("the cache has %d tiles", tiles)
		}
	}
}

// TestTileIsMadeOnce requests a tile from many goroutines, some of which leave.
func TestTileIsMadeOnce(t *testing.T) {
	c := newCache(1 << 20)
	var mu sync.Mutex
	made := 0
	begun, end := make(chan struct{}), make(chan struct{})
	leaving, leave := context.WithCancel(t.Context())
	f := func(ctx context.Context) ([]byte, error) {
		mu.Lock()
		made++
		first := made == 1
		mu.Unlock()
		if first { // its caller leaves
			close(begun)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		<-end
		return []byte("tile"), nil
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		if _, err := c.get(leaving, key{}, f); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	<-begun
	for range 20 {
		wait.Go(func() {
			if b, err := c.get(t.Context(), key{}, f); string(b) != "tile" || err != nil {
				t.Errorf("%q, error %v", b, err)
			}
		})
	}
	leave()
	close(end)
	wait.Wait()
	if made != 2 {
		t.Errorf("made %d times", made)
	}
}

// TestCacheIsBounded puts more tiles into a cache than it keeps.
func TestCacheIsBounded(t *testing.T) {
	c := newCache(10_000)
	for i := range uint32(100) {
		k := key{tableKey: tableKey{name: fmt.Sprint(i % 7)}, x: i}
		made := func(context.Context) ([]byte, error) { return make([]byte, 500), nil }
		if _, err := c.get(t.Context(), k, made); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, table := range c.tables {
			n += len(table.tiles)
		}
		if c.bytes > c.limit || n != c.recent.Len() || c.bytes != int64(n)*(500+entryOverhead) {
			t.Fatalf("%d tiles of %d bytes", n, c.bytes)
		}
	}
}

// TestOverviewIsMadeOnce requests tiles of a large table from many goroutines, some of which leave.
func TestOverviewIsMadeOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	ref := openText(t, "a.geojson", featureCollection("", randomGeometries(rng, 5000)), false)
	s := New(Config{CacheBytes: -1})
	defer s.Close()
	s.overviews.rows = 100
	left, leave := context.WithCancel(t.Context())
	leave()
	if _, err := s.Tile(left, ref, 0, 0, 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	k := tableKeyOf(t.Context(), ref)
	var wait sync.WaitGroup
	found := make([]*overview, 20)
	for i := range found {
		wait.Go(func() {
			if b, err := s.Tile(t.Context(), ref, uint32(i)%2, 0, 0, nil); b == nil || err != nil {
				t.Errorf("%d bytes, error %v", len(b), err)
			}
			found[i] = s.overviews.known(k)
		})
	}
	wait.Wait()
	for _, o := range found {
		if o == nil || o != found[0] {
			t.Error("there are several overviews")
		}
	}
	s.overviews.mu.Lock() // their maker may not have returned
	defer s.overviews.mu.Unlock()
	if s.overviews.bytes != found[0].bytes || len(s.overviews.tables) != 1 {
		t.Errorf("%d bytes of %d overviews", s.overviews.bytes, len(s.overviews.tables))
	}
}

// TestOverviewsAreBounded makes more overviews than are kept.
func TestOverviewsAreBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 6))
	dir := t.TempDir()
	c := openCatalog(t, catalog.Config{Roots: []catalog.Root{{Dir: dir}}})
	s := New(Config{CacheBytes: -1, IndexBytes: 100_000})
	defer s.Close()
	s.overviews.rows = 100
	for i := range 6 {
		name := fmt.Sprintf("%d.geojson", i)
		write(t, dir, name, featureCollection("", randomGeometries(rng, 3000)))
		if err := c.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if found := tileOf(t, s, open(t.Context(), t, c, name), 1, 0, 0); len(found) < 100 {
			t.Errorf("%d features", len(found))
		}
		s.overviews.mu.Lock()
		n, bytes := len(s.overviews.tables), s.overviews.bytes
		s.overviews.mu.Unlock()
		if bytes > 100_000 || n == 0 {
			t.Errorf("%d overviews of %d bytes", n, bytes)
		}
	}
}

// TestCloseEndsTheMaking closes a Set that makes an overview.
func TestCloseEndsTheMaking(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	ref := openText(t, "a.geojson", featureCollection("", randomGeometries(rng, 20_000)), false)
	s := New(Config{})
	s.overviews.rows = 100
	done := make(chan error)
	go func() {
		_, err := s.Tile(t.Context(), ref, 0, 0, 0, nil)
		done <- err
	}()
	for s.overviews.making(tableKeyOf(t.Context(), ref)) == nil {
		runtime.Gosched()
	}
	s.Close()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// making returns the overview of a table, or the call that makes it, or nil.
func (o *overviews) making(k tableKey) *overviewCall {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tables[k]
}

// TestDamagedTable damages the file of a parsed table. The tile is that of a new parse.
func TestDamagedTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	dir, cache := t.TempDir(), t.TempDir()
	write(t, dir, "a.geojson", featureCollection("", randomGeometries(rng, 5000)))
	cfg := catalog.Config{Roots: []catalog.Root{{Dir: dir}}, CacheDir: cache}
	first := openCatalog(t, cfg)
	s := New(Config{CacheBytes: -1})
	defer s.Close()
	want := tileOf(t, s, open(t.Context(), t, first, "a.geojson"), 2, 1, 1)
	first.Saved(t.Context())
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	damaged := 0
	err := filepath.WalkDir(cache, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".arrow" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		damaged++
		for i := len(text) / 4; i < len(text)/3; i++ {
			text[i] ^= 0x55
		}
		return os.WriteFile(path, text, 0o600)
	})
	if err != nil || damaged == 0 {
		t.Fatalf("%d files, error %v", damaged, err)
	}
	again := openCatalog(t, cfg)
	got := tileOf(t, s, open(t.Context(), t, again, "a.geojson"), 2, 1, 1)
	if !slices.Equal(texts(t, got), texts(t, want)) || len(want) < 100 {
		t.Errorf("%d features, not %d", len(got), len(want))
	}
	if n := again.Stats().Parses; n != 1 {
		t.Errorf("%d parses", n)
	}
}

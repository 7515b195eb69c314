package tree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/source"
)

// fakeStore is a store of objects that have no bytes.
type fakeStore struct{ objects []remote.Object }

// List implements remote.Store with pages of a thousand objects.
func (s *fakeStore) List(_ context.Context, prefix string, at remote.Place) ([]remote.Object, remote.Place, error) {
	from, _ := at.(int)
	to := min(from+1000, len(s.objects))
	var page []remote.Object
	for _, o := range s.objects[from:to] {
		if strings.HasPrefix(o.Key, prefix) {
			page = append(page, o)
		}
	}
	if to == len(s.objects) {
		return page, nil, nil
	}
	return page, to, nil
}

func (s *fakeStore) Stat(_ context.Context, key string) (remote.Object, error) {
	for _, o := range s.objects {
		if o.Key == key {
			return o, nil
		}
	}
	return remote.Object{}, &remote.Failure{Kind: remote.Missing, Err: errors.New("no such key")}
}

func (s *fakeStore) Read(context.Context, remote.Object, int64, int64) (io.ReadCloser, error) {
	return nil, errors.New("it has no bytes")
}

func (s *fakeStore) Close() error { return nil }

// registry has a format with siblings, one whose files may be siblings, and one with layers.
var registry = readers.Registry{
	{Name: "geojson", Extensions: []string{".geojson"}},
	{Name: "shp", Binary: true, Extensions: []string{".shp"}, Siblings: []string{".dbf", ".prj"}},
	{Name: "dbf", Binary: true, Extensions: []string{".dbf"}, Siblings: []string{".cpg"}},
	{Name: "kml", Extensions: []string{".kml"}, Layered: true},
}

// openStores opens a tree of roots in stores, by alias, and records the reported changes.
func openStores(t *testing.T, stores map[string]*fakeStore, cfg Config) *Tree {
	t.Helper()
	for _, alias := range slices.Sorted(maps.Keys(stores)) {
		cfg.Roots = append(cfg.Roots, Root{Alias: alias, URL: "s3://bucket/" + alias, Refresh: time.Hour})
	}
	cfg.Store = func(_ context.Context, url string) (*remote.Root, error) {
		return remote.NewRoot(stores[strings.TrimPrefix(url, "s3://bucket/")], url, remote.Options{}), nil
	}
	cfg.Formats, cfg.Rescan, cfg.Log = registry, time.Hour, zerolog.Nop()
	if cfg.Changed == nil {
		cfg.Changed = func(string, source.Identity) {}
	}
	if cfg.Removed == nil {
		cfg.Removed = func(string) {}
	}
	tree, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	return tree
}

func manyObjects(n, version int) []remote.Object {
	objects := make([]remote.Object, n)
	for i := range objects {
		objects[i] = remote.Object{
			Key: fmt.Sprintf("part=%04d/%07d.geojson", i/1000, i), Size: int64(1000 + i),
			Modified: time.Unix(1_700_000_000+int64(i+version), 0),
			Version:  source.ObjectVersion(fmt.Sprintf(`etag:"%032x"`, i+version)),
		}
	}
	return objects
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// TestBytesPerKey bounds what the list of a store uses, and how much of it a refresh replaces.
func TestBytesPerKey(t *testing.T) {
	const n = 100_000
	store := &fakeStore{manyObjects(n, 0)}
	before := heapBytes()
	tree := openStores(t, map[string]*fakeStore{"": store}, Config{})
	if got := (heapBytes() - before) / n; got > 70 {
		t.Errorf("%d bytes for a key, want at most 70", got)
	}
	if got, _ := tree.Count(); got != n {
		t.Fatalf("%d entries", got)
	}
	for _, tt := range []struct {
		name   string
		change func(objects []remote.Object) []remote.Object
		pages  int // that are new
	}{
		{"nothing", func(all []remote.Object) []remote.Object { return all }, 0},
		{"one changed", func(all []remote.Object) []remote.Object {
			all = slices.Clone(all)
			all[n/2].Size++
			return all
		}, 1},
		{"one added", func(all []remote.Object) []remote.Object {
			added := remote.Object{Key: all[n/2].Key[:17] + "a.geojson", Version: "size"}
			return slices.Insert(slices.Clone(all), n/2+1, added)
		}, 2},
		{"one removed", func(all []remote.Object) []remote.Object {
			return slices.Delete(slices.Clone(all), n/2, n/2+1)
		}, 2},
		{"all changed", func([]remote.Object) []remote.Object { return manyObjects(n, 1) }, n},
	} {
		old := tree.index.Load().listings[0]
		store.objects = tt.change(store.objects)
		before := heapBytes()
		if err := tree.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		now, fresh := tree.index.Load().listings[0], 0
		for _, p := range now.pages {
			if !slices.Contains(old.pages, p) {
				fresh++
			}
		}
		if fresh > tt.pages {
			t.Errorf("%s: %d of %d pages are new, want at most %d", tt.name, fresh, len(now.pages), tt.pages)
		}
		if tt.pages == 0 && now != old {
			t.Errorf("%s: a new listing", tt.name)
		}
		old = nil
		if grown := (heapBytes() - before) / n; grown > 4 {
			t.Errorf("%s: %d bytes more for each key after a refresh", tt.name, grown)
		}
	}
}

func TestVersionForms(t *testing.T) {
	const sum = "9b2cf535f27731c974343645a3985328"
	for _, tt := range []struct {
		version string
		bytes   int
	}{
		{"", 0},
		{`etag:"` + sum + `"`, 17},
		{`etag:"` + sum + `-12"`, 18},
		{`etag:"` + sum + `-012"`, 44},
		{`etag:"` + sum + `-"`, 41},
		{`etag:"` + strings.ToUpper(sum) + `"`, 40},
		{`etag:"` + sum, 39},
		{`etag:"` + sum[1:] + `"`, 39},
		{`etag:"0x8DC3F0A1B2C3D4E"`, 10},
		{`etag:"0x8dc3"`, 14},
		{`etag:"0xFFFFFFFFFFFFFFFFF"`, 27},
		{"generation:1700000000000000", 9},
		{"generation:017", 15},
		{"generation:", 12},
		{"date", 5},
		{"size", 5},
		{"t", 2},
	} {
		b := appendVersion([]byte("x"), source.ObjectVersion(tt.version))
		if got := versionOf(string(b[1:])); string(got) != tt.version || len(b) != 1+tt.bytes {
			t.Errorf("%q: %q in %d bytes, want %d", tt.version, got, len(b)-1, tt.bytes)
		}
	}
}

// randomObjects returns objects with names that are alike, in the order of their keys.
func randomObjects(rng *rand.Rand, n int) []remote.Object {
	parts := []string{"a", "b", "a.e", "a-", "a b", "#", "$", "%41", "\xff", "data", "data.1", "ü"}
	extensions := []string{".geojson", ".shp", ".dbf", ".DBF", ".prj", ".cpg", ".kml", ".none", ".shp.gz", ""}
	objects := map[string]remote.Object{}
	for range n {
		key := parts[rng.IntN(len(parts))] + extensions[rng.IntN(len(extensions))]
		for range rng.IntN(3) {
			key = parts[rng.IntN(len(parts))] + fmt.Sprint(rng.IntN(3)) + "/" + key
		}
		objects[key] = remote.Object{
			Key: key, Size: rng.Int64N(5), Modified: time.Unix(rng.Int64N(3), 0).UTC(), Version: []source.ObjectVersion{
				"date", "size", "generation:7", `etag:"9b2cf535f27731c974343645a3985328"`,
			}[rng.IntN(4)],
		}
	}
	return slices.SortedFunc(maps.Values(objects), func(a, b remote.Object) int { return cmp.Compare(a.Key, b.Key) })
}

// wanted returns the entries that a store has, by their names.
func wanted(m *Mount, objects []remote.Object) map[string]Entry {
	entries := map[string]Entry{}
	byStem, present := map[string][]remote.Object{}, map[string]bool{}
	for _, o := range objects {
		byStem[stemOf(o.Key)] = append(byStem[stemOf(o.Key)], o)
		present[o.Key] = true
	}
	for _, o := range objects {
		f := fileOf(o)
		if format, ok, _ := registry.OfName(o.Key); ok {
			f.format = format.Name
			var siblings []source.Sibling
			for _, s := range byStem[stemOf(o.Key)] {
				if source.IsSibling(path.Base(o.Key), path.Base(s.Key), format.Siblings) {
					siblings = append(siblings, source.Sibling{Name: path.Base(s.Key), Identity: fileOf(s).identity})
				}
			}
			f.identity = f.identity.With(siblings)
			if !slices.ContainsFunc(registry.MainsOf(o.Key), func(main string) bool { return present[main] }) {
				entries[m.name(o.Key)] = m.entry(o.Key, f)
			}
		}
	}
	return entries
}

// TestListings compares the index of random stores, whose objects come in random order too, with one
// made without pages.
func TestListings(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 15
	}
	aliases := []string{"", "a1", "x"}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 0))
		stores := map[string]*fakeStore{"": {}, "a1": {}, "x": {}}
		changed, removed := map[string]bool{}, map[string]bool{}
		var tree *Tree
		old := map[string]Entry{}
		for round := range 3 {
			for _, alias := range aliases {
				stores[alias].objects = randomObjects(rng, rng.IntN(1500))
			}
			if round == 0 { // a collision is an error of Open
				stores["a1"].objects = nil
				tree = openStores(t, stores, Config{
					Changed: func(name string, _ source.Identity) { changed[name] = true },
					Removed: func(name string) { removed[name] = true },
				})
			}
			want := map[string]Entry{}
			for i, alias := range aliases {
				for name, e := range wanted(tree.mounts[i], stores[alias].objects) {
					if _, taken := want[name]; !taken {
						want[name] = e
					}
				}
				if o := stores[alias].objects; rng.IntN(3) == 0 {
					rng.Shuffle(len(o), func(i, k int) { o[i], o[k] = o[k], o[i] })
					stores[alias].objects = append(o, o[:len(o)/4]...)
				}
			}
			clear(changed)
			clear(removed)
			if err := tree.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			compareIndex(t, rng, tree, want, fmt.Sprintf("seed %d, round %d", seed, round))
			for name, e := range old {
				now, ok := want[name]
				if removed[name] == ok || changed[name] != (ok && now.Identity != e.Identity) {
					t.Fatalf("seed %d: %s: removed %v, changed %v", seed, name, removed[name], changed[name])
				}
			}
			old = want
		}
		_ = tree.Close()
	}
}

func compareIndex(t *testing.T, rng *rand.Rand, tree *Tree, want map[string]Entry, when string) {
	t.Helper()
	names := slices.Sorted(maps.Keys(want))
	prefixes := []string{"", "a1/", "x", "x/a", "\xff", "%"}
	if len(names) > 0 {
		name := names[rng.IntN(len(names))]
		prefixes = append(prefixes, name, name[:rng.IntN(len(name))])
	}
	for _, prefix := range prefixes {
		var got []string
		for e := range tree.Entries(prefix) {
			got = append(got, e.Name)
			if *e != want[e.Name] {
				t.Fatalf("%s: %+v, want %+v", when, *e, want[e.Name])
			}
		}
		matching := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return !strings.HasPrefix(name, prefix)
		})
		if !slices.Equal(got, matching) {
			i := 0
			for i < min(len(got), len(matching)) && got[i] == matching[i] {
				i++
			}
			t.Fatalf("%s: prefix %q: %d names, want %d; %d and following: %q, want %q", when, prefix, len(got), len(matching),
				i, got[i:min(len(got), i+3)], matching[i:min(len(matching), i+3)])
		}
	}
	if n, _ := tree.Count(); n != len(want) {
		t.Fatalf("%s: %d entries, want %d", when, n, len(want))
	}
	x := tree.index.Load()
	for _, name := range names {
		if e, ok := x.find(name); !ok || e != want[name] {
			t.Fatalf("%s: found %+v, %v, want %+v", when, e, ok, want[name])
		}
		if e, ok := x.find(name + "!"); ok {
			t.Fatalf("%s: found %+v", when, e)
		}
	}
	if got := x.neighbors("b", 10_000, func(string) bool { return true }); !slices.Equal(got, names) {
		t.Fatalf("%s: neighbors %q, want %q", when, got, names)
	}
	for _, m := range tree.mounts {
		m.store.stats.recent = nil
	}
	for range min(len(names), 20) { // as Lookup sees it, which describes the object and looks for its siblings
		name := names[rng.IntN(len(names))]
		if e, err := tree.Lookup(context.Background(), name); err != nil || e != want[name] {
			t.Fatalf("%s: %s: looked up %+v, %v, want %+v", when, name, e, err, want[name])
		}
	}
	if _, err := tree.Lookup(context.Background(), "none.geojson"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s: %v", when, err)
	}
}

// TestLayersInOrder lists layers among files whose names are between that of their file and theirs.
func TestLayersInOrder(t *testing.T) {
	var objects []remote.Object
	for _, key := range []string{"a.kml", "a.kml!.geojson", "a.kml$.geojson", "b.kml"} {
		objects = append(objects, remote.Object{Key: key, Version: "size"})
	}
	tree := openStores(t, map[string]*fakeStore{"": {objects}}, Config{})
	names := func(prefix string) (all []string) {
		for e := range tree.Entries(prefix) {
			all = append(all, e.Name)
		}
		return all
	}
	e, err := tree.Lookup(context.Background(), "a.kml")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ layers, want []string }{
		{[]string{"T", "S"}, []string{"a.kml!.geojson", "a.kml#S", "a.kml#T", "a.kml$.geojson", "b.kml"}},
		{[]string{"T"}, []string{"a.kml", "a.kml!.geojson", "a.kml$.geojson", "b.kml"}},
		{
			[]string{strings.Repeat("T", MaxNameBytes+1), "S"},
			[]string{"a.kml!.geojson", "a.kml#S", "a.kml$.geojson", "b.kml"},
		},
	} {
		_, before := tree.Count()
		tree.SetLayers(e, tt.layers)
		if got := names(""); !slices.Equal(got, tt.want) {
			t.Errorf("%.20q: %q, want %q", tt.layers, got, tt.want)
		}
		if n, changes := tree.Count(); n != len(tt.want) || changes == before {
			t.Errorf("%.20q: %d entries, %d changes after %d", tt.layers, n, changes, before)
		}
		if got := names("a.kml#"); !slices.Equal(got, slices.DeleteFunc(tt.want, func(name string) bool {
			return !strings.HasPrefix(name, "a.kml#")
		})) {
			t.Errorf("%.20q: %q", tt.layers, got)
		}
	}
}

package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/store/internal/row"
	"github.com/vibeflight/vibeflight/readers/source"
)

// An Opener opens a store on the database of a test. Stores of one database have the same records.
type Opener func(log zerolog.Logger) (store.Store, error)

// Fresh makes an empty database, which lives until the end of the test.
type Fresh func(t testing.TB) Opener

// TestStore runs the tests that every store of records passes.
func TestStore(t *testing.T, fresh Fresh) {
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, fresh Fresh)
	}{
		{"records come back", testRecordsComeBack},
		{"shape", testShape},
		{"siblings and layers", testSiblingsAndLayers},
		{"objects", testObjects},
		{"hostile names", testHostileNames},
		{"put refuses", testPutRefuses},
		{"replace delete prune", testReplaceDeletePrune},
		{"records of a name", testRecordsOfAName},
		{"newest", testNewest},
		{"pages", testPages},
		{"prune of many pages", testPruneOfManyPages},
		{"listing ends", testListingEnds},
		{"canceled and closed", testCanceledAndClosed},
		{"writers at once", testWritersAtOnce},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, fresh) })
	}
}

// open opens a store and returns it with its log. It closes the store at the end of the test.
func open(t testing.TB, db Opener) (store.Store, *Log) {
	t.Helper()
	log := &Log{}
	s, err := db(zerolog.New(log))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s, log
}

func testRecordsComeBack(t *testing.T, fresh Fresh) {
	low, empty, nul := "a", "", "\x00 and ' and \u2028"
	nan := math.Float64frombits(0xfff8_0000_dead_beef)
	for _, tt := range []struct {
		name string
		r    store.Record
	}{
		{"nothing known", store.Record{}},
		{"all", Sample("x", 7)},
		{"largest", store.Record{
			Identity: source.Identity{
				Size: math.MaxInt64, Mtime: math.MinInt64, Ctime: math.MaxInt64,
				Device: math.MaxUint64, Inode: 1 << 63,
			},
			FormatVersion: math.MaxInt, Rows: math.MaxInt64, TableBytes: math.MinInt64, ParseTime: math.MaxInt64,
			ParsedAt: time.Unix(0, math.MaxInt64).UTC(),
		}},
		{"earliest", store.Record{ParsedAt: time.Unix(0, math.MinInt64).UTC()}},
		{"epoch", store.Record{ParsedAt: time.Unix(0, 0).UTC()}},
		{"box of nothing", store.Record{BBox: &[4]float64{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}}},
		{"box of odd bits", store.Record{BBox: &[4]float64{
			math.Copysign(0, -1), nan, math.SmallestNonzeroFloat64,
			math.MaxFloat64,
		}}},
		{"texts like times", store.Record{LastError: "2020-01-01T00:00:00Z", Engine: "2451545.0", CRS: "1"}},
		{"statistics", store.Record{Columns: []store.ColumnStats{
			{Name: "a"},
			{Name: "b<>&", Type: "list<item: utf8>", Nulls: 1, Min: &low, Max: &empty},
			{Name: nul, Type: nul, Min: &nul},
		}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := fresh(t)
			s, _ := open(t, db)
			tt.r.Key = store.Key{Name: "x", Options: [32]byte{31: 1}}
			Put(t, s, tt.r)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s, log := open(t, db)
			got, ok, err := s.Get(context.Background(), tt.r.Key)
			if !ok || err != nil {
				t.Fatalf("get: %v, %v", ok, err)
			}
			WantSame(t, got, tt.r)
			if log.String() != "" {
				t.Errorf("logged %s", log)
			}
		})
	}
}

// testShape stores a shape, which exists since version 2. Samples have none, because databases of
// all versions contain them.
func testShape(t *testing.T, fresh Fresh) {
	s, _ := open(t, fresh(t))
	r := Sample("a", 1)
	r.Shape = []byte(`{"columns":[]}`)
	Put(t, s, r)
	got := All(t, s)
	if len(got) != 1 {
		t.Fatalf("%d records, want 1", len(got))
	}
	WantSame(t, got[0], r)
}

// testSiblingsAndLayers stores siblings and layers, which exist since version 3.
func testSiblingsAndLayers(t *testing.T, fresh Fresh) {
	s, _ := open(t, fresh(t))
	plain, layered := Sample("a", 1), Sample("b", 1)
	layered.Identity.Siblings, layered.Layers = [16]byte{15: 1}, []string{"Stops", "", "\u2028 \"<é>\""}
	Put(t, s, plain, layered)
	got := All(t, s)
	if len(got) != 2 {
		t.Fatalf("%d records, want 2", len(got))
	}
	WantSame(t, got[0], plain)
	WantSame(t, got[1], layered)
	n := 0
	err := s.Layered(context.Background(), func(r store.Record) error {
		n++
		WantSame(t, r, layered)
		return nil
	})
	if err != nil || n != 1 {
		t.Errorf("%d records with layers, %v, want 1", n, err)
	}
	layered.Layers = []string{"a\x00b"}
	if err := s.Put(context.Background(), layered); err == nil {
		t.Error("put a name with a NUL")
	}
}

// testObjects stores the version of an object of a store, which exists since version 4.
func testObjects(t *testing.T, fresh Fresh) {
	s, _ := open(t, fresh(t))
	r := Sample("s3://bucket/roads.geojson", 1)
	r.Identity = source.Identity{Size: 10, Object: `etag:"9b2cf5"`}
	Put(t, s, r)
	got := All(t, s)
	if len(got) != 1 {
		t.Fatalf("%d records, want 1", len(got))
	}
	WantSame(t, got[0], r)
}

func testHostileNames(t *testing.T, fresh Fresh) {
	s, _ := open(t, fresh(t))
	names := []string{
		`'`, `"`, `'; DROP TABLE record; --`, `%`, `_`, `?`, `:a`, `\`, "a\nb", " ", "\u202e", "é",
		"e\u0301", "2020-01-01T00:00:00Z", "1", "0x1",
		"null", "\U0010ffff", "a/b", "A/b", strings.Repeat("n", 70000),
	}
	for i, name := range names {
		Put(t, s, Sample(name, i))
	}
	for i, name := range names {
		got, ok, err := s.Get(context.Background(), store.Key{Name: name, Options: [32]byte{1}})
		if !ok || err != nil || got.FormatVersion != i {
			t.Errorf("%q: version %d, %v, %v, want version %d", name, got.FormatVersion, ok, err, i)
		}
	}
	var listed []string
	for _, r := range All(t, s) {
		listed = append(listed, r.Name)
	}
	slices.Sort(names)
	if !slices.Equal(listed, names) {
		t.Errorf("listed %.100q, want %.100q", listed, names)
	}
	for _, name := range []string{"", "\x00", "a\x00b", "\xff", "a\xc3", "\xed\xa0\x80"} {
		_, _, err := s.Get(context.Background(), store.Key{Name: name})
		for what, err := range map[string]error{
			"get": err, "put": s.Put(context.Background(), Sample(name, 1)),
			"delete": s.Delete(context.Background(), store.Key{Name: name}),
		} {
			if err == nil {
				t.Errorf("%s %q: no error", what, name)
			}
		}
	}
	if n := len(All(t, s)); n != len(names) {
		t.Errorf("%d records, want %d", n, len(names))
	}
}

func testPutRefuses(t *testing.T, fresh Fresh) {
	s, _ := open(t, fresh(t))
	bad := "\xff"
	Put(t, s, Sample("x", 1))
	for _, tt := range []struct {
		name   string
		change func(*store.Record)
	}{
		{"short digest", func(r *store.Record) { r.Content = r.Content[:31] }},
		{"year 2262", func(r *store.Record) { r.ParsedAt = time.Date(2263, 1, 1, 0, 0, 0, 0, time.UTC) }},
		{"error text", func(r *store.Record) { r.LastError = bad }},
		{"crs with NUL", func(r *store.Record) { r.CRS = "\x00" }},
		{"geometry type", func(r *store.Record) { r.GeometryTypes = []string{bad} }},
		{"column name", func(r *store.Record) { r.Columns[0].Name = bad }},
		{"column minimum", func(r *store.Record) { r.Columns[0].Min = &bad }},
		{"blocks too large", func(r *store.Record) { r.Blocks = make([]byte, row.MaxValueBytes+1) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Sample("x", 2)
			tt.change(&r)
			err := s.Put(context.Background(), r)
			if err == nil {
				t.Fatal("no error")
			}
			t.Log(err)
			got, _, err := s.Get(context.Background(), r.Key)
			if err != nil {
				t.Fatal(err)
			}
			WantSame(t, got, Sample("x", 1))
		})
	}
}

func testReplaceDeletePrune(t *testing.T, fresh Fresh) {
	s, _ := open(t, fresh(t))
	ctx := context.Background()
	other := Sample("b", 3)
	other.Options = [32]byte{}
	Put(t, s, Sample("b", 1), Sample("a", 1), other, Sample("b", 2), Sample("c", 1), Sample("B", 1))
	want := []string{"B 1", "a 1", "b 3", "b 2", "c 1"}
	check := func() {
		t.Helper()
		var got []string
		for _, r := range All(t, s) {
			got = append(got, fmt.Sprint(r.Name, " ", r.FormatVersion))
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	check()
	if n, err := s.Prune(ctx, func(name string) bool {
		return strings.ToLower(name) == name && name != "b"
	}); n != 3 || err != nil {
		t.Errorf("pruned %d, %v, want 3", n, err)
	}
	want = []string{"a 1", "c 1"}
	check()
	for range 2 {
		// c has other options.
		if err := errors.Join(s.Delete(ctx, store.Key{Name: "c"}), s.Delete(ctx, Sample("a", 0).Key)); err != nil {
			t.Error(err)
		}
	}
	want = []string{"c 1"}
	check()
	if _, ok, err := s.Get(ctx, store.Key{Name: "a", Options: [32]byte{1}}); ok || err != nil {
		t.Errorf("get of what was deleted: %v, %v", ok, err)
	}
}

func testRecordsOfAName(t *testing.T, fresh Fresh) {
	s, _ := open(t, fresh(t))
	const n = row.PageRows + 1
	for _, name := range []string{"a", "b", "c", "b#", "B"} {
		for i := range n {
			r := Sample(name, i)
			r.Options = [32]byte{byte(i >> 8), byte(i)} // also zeros only
			Put(t, s, r)
		}
	}
	i := 0
	err := s.Of(context.Background(), "b", func(r store.Record) error {
		if r.Name != "b" || r.FormatVersion != i {
			t.Errorf("record %d is %s, version %d", i, r.Name, r.FormatVersion)
		}
		i++
		return nil
	})
	if i != n || err != nil {
		t.Errorf("%d records, %v, want %d", i, err, n)
	}
	if err := s.Of(context.Background(), "none", func(store.Record) error {
		return errors.New("there is none")
	}); err != nil {
		t.Error(err)
	}
	if err := s.Of(context.Background(), "", nil); err == nil {
		t.Error("of no name")
	}
}

func testNewest(t *testing.T, fresh Fresh) {
	s, _ := open(t, fresh(t))
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for i, day := range []int{3, 1, 4, 0, 2} {
		r := Sample(string(rune('a'+day)), i)
		if r.ParsedAt = at.AddDate(0, 0, day); day == 0 {
			r.ParsedAt = time.Time{} // time unknown
		}
		Put(t, s, r)
	}
	for n, want := range []string{"", "e", "ed", "edc", "edcb", "edcba", "edcba"} {
		records, err := s.Newest(context.Background(), n)
		var got string
		for _, r := range records {
			got += r.Name
		}
		if got != want || err != nil {
			t.Errorf("the newest %d: %q, %v, want %q", n, got, err, want)
		}
	}
}

// testPages reads listings longer than a page, by rows and by bytes, and writes during the listing.
func testPages(t *testing.T, fresh Fresh) {
	for _, tt := range []struct {
		name              string
		records, bytesMin int
	}{
		{"one page", row.PageRows, 0},
		{"one more", row.PageRows + 1, 0},
		{"by bytes", 5, row.PageBytes/2 + 1},
		{"each its page", 3, row.PageBytes},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := open(t, fresh(t))
			ctx := context.Background()
			for i := range tt.records {
				r := Sample(fmt.Sprintf("%05d", i), 0)
				r.Blocks = make([]byte, tt.bytesMin)
				Put(t, s, r)
			}
			seen := 0
			err := s.All(ctx, func(r store.Record) error {
				if want := fmt.Sprintf("%05d", seen); r.Name != want {
					t.Errorf("got %s, want %s", r.Name, want)
				}
				if seen++; seen%16 != 1 {
					return nil
				}
				return errors.Join(s.Put(ctx, Sample("a", seen)), s.Delete(ctx, r.Key),
					s.Delete(ctx, Sample("a", 0).Key))
			})
			if seen != tt.records || err != nil {
				t.Errorf("saw %d, %v, want %d", seen, err, tt.records)
			}
			if left, want := len(All(t, s)), tt.records-(tt.records+15)/16; left != want {
				t.Errorf("%d records are left, want %d", left, want)
			}
		})
	}
}

func testPruneOfManyPages(t *testing.T, fresh Fresh) {
	s, _ := open(t, fresh(t))
	for i := range 2*row.PageRows + 1 {
		Put(t, s, store.Record{Key: store.Key{Name: fmt.Sprintf("%05d", i)}})
	}
	asked := 0
	if n, err := s.Prune(context.Background(), func(name string) bool {
		asked++
		return name >= "00500"
	}); n != 500 || err != nil || asked != 2*row.PageRows+1 {
		t.Errorf("pruned %d of %d, %v, want 500 of %d", n, asked, err, 2*row.PageRows+1)
	}
	if left := len(All(t, s)); left != 2*row.PageRows+1-500 {
		t.Errorf("%d are left", left)
	}
}

func testListingEnds(t *testing.T, fresh Fresh) {
	s, _ := open(t, fresh(t))
	Put(t, s, Sample("a", 1), Sample("b", 1))
	stop := errors.New("enough")
	seen := 0
	if err := s.All(context.Background(), func(store.Record) error {
		seen++
		return stop
	}); !errors.Is(err, stop) || seen != 1 {
		t.Errorf("saw %d, error %v, want 1 and %v", seen, err, stop)
	}
}

func testCanceledAndClosed(t *testing.T, fresh Fresh) {
	s, log := open(t, fresh(t))
	Put(t, s, Sample("a", 1))
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	calls := func(ctx context.Context) map[string]error {
		_, _, get := s.Get(ctx, Sample("a", 1).Key)
		_, prune := s.Prune(ctx, func(string) bool { return false })
		_, newest := s.Newest(ctx, 1)
		return map[string]error{
			"get": get, "prune": prune, "newest": newest, "put": s.Put(ctx, Sample("a", 2)),
			"delete": s.Delete(ctx, Sample("a", 0).Key),
			"all":    s.All(ctx, func(store.Record) error { return nil }),
		}
	}
	for what, err := range calls(canceled) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s, canceled: %v", what, err)
		}
	}
	if got := All(t, s); len(got) != 1 {
		t.Errorf("%d records, want 1", len(got))
	} else {
		Intact(t, got[0])
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for what, err := range calls(context.Background()) {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s, closed: %v", what, err)
		}
	}
	if log.String() != "" {
		t.Errorf("logged %s", log)
	}
}

// testWritersAtOnce writes from two stores of one database. No record is lost or incomplete.
func testWritersAtOnce(t *testing.T, fresh Fresh) {
	db := fresh(t)
	a, logA := open(t, db)
	b, logB := open(t, db)
	const each = 50
	var wg sync.WaitGroup
	for i, s := range []store.Store{a, b, a, b} {
		wg.Go(func() {
			for n := range each {
				name := fmt.Sprintf("own %d %03d", i, n)
				for _, r := range []store.Record{Sample(name, n), Sample("shared", n*4+i)} {
					if err := s.Put(t.Context(), r); err != nil {
						t.Errorf("%s: %v", r.Name, err)
					}
				}
				got, ok, err := s.Get(t.Context(), Sample("shared", 0).Key)
				if !ok || err != nil {
					t.Errorf("get: %v, %v", ok, err)
				}
				Intact(t, got)
			}
		})
	}
	wg.Wait()
	for _, s := range []store.Store{a, b} {
		got := All(t, s)
		for _, r := range got {
			Intact(t, r)
		}
		if len(got) != 4*each+1 {
			t.Errorf("%d records, want %d", len(got), 4*each+1)
		}
	}
	if logA.String()+logB.String() != "" {
		t.Errorf("logs %s %s", logA, logB)
	}
}

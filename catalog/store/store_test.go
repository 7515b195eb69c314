package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers/source"
)

func TestRecordsComeBack(t *testing.T) {
	low, empty, nul := "a", "", "\x00 and ' and \u2028"
	nan := math.Float64frombits(0xfff8_0000_dead_beef)
	for _, tt := range []struct {
		name string
		r    Record
	}{
		{"nothing known", Record{}},
		{"all", sample("x", 7)},
		{"largest", Record{
			Identity: source.Identity{
				Size: math.MaxInt64, Mtime: math.MinInt64, Ctime: math.MaxInt64,
				Inode: 1 << 63,
			},
			FormatVersion: math.MaxInt, Rows: math.MaxInt64, TableBytes: math.MinInt64, ParseTime: math.MaxInt64,
			ParsedAt: time.Unix(0, math.MaxInt64).UTC(),
		}},
		{"earliest", Record{ParsedAt: time.Unix(0, math.MinInt64).UTC()}},
		{"epoch", Record{ParsedAt: time.Unix(0, 0).UTC()}},
		{"box of nothing", Record{BBox: &[4]float64{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}}},
		{"box of odd bits", Record{BBox: &[4]float64{
			math.Copysign(0, -1), nan, math.SmallestNonzeroFloat64,
			math.MaxFloat64,
		}}},
		{"texts like times", Record{LastError: "2020-01-01T00:00:00Z", Engine: "2451545.0", CRS: "1"}},
		{"statistics", Record{Columns: []ColumnStats{
			{Name: "a"},
			{"b<>&", "list<item: utf8>", 1, &low, &empty},
			{Name: nul, Type: nul, Min: &nul},
		}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := fresh(t)
			s, _ := open(t, path)
			tt.r.Key = Key{Name: "x", Options: [32]byte{31: 1}}
			put(t, s, tt.r)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s, log := open(t, path)
			got, ok, err := s.Get(context.Background(), tt.r.Key)
			if !ok || err != nil {
				t.Fatalf("get: %v, %v", ok, err)
			}
			wantSame(t, got, tt.r)
			if log.String() != "" {
				t.Errorf("logged %s", log)
			}
		})
	}
}

// TestShape stores a shape, which exists since version 2. Samples have none, because databases of
// all versions contain them.
func TestShape(t *testing.T) {
	s, _ := open(t, fresh(t))
	r := sample("a", 1)
	r.Shape = []byte(`{"columns":[]}`)
	put(t, s, r)
	got := all(t, s)
	if len(got) != 1 {
		t.Fatalf("%d records, want 1", len(got))
	}
	wantSame(t, got[0], r)
}

// TestSiblingsAndLayers stores siblings and layers, which exist since version 3.
func TestSiblingsAndLayers(t *testing.T) {
	s, _ := open(t, fresh(t))
	plain, layered := sample("a", 1), sample("b", 1)
	layered.Identity.Siblings, layered.Layers = [16]byte{15: 1}, []string{"Stops", "", "\u2028 \"<é>\""}
	put(t, s, plain, layered)
	got := all(t, s)
	if len(got) != 2 {
		t.Fatalf("%d records, want 2", len(got))
	}
	wantSame(t, got[0], plain)
	wantSame(t, got[1], layered)
	n := 0
	err := s.Layered(context.Background(), func(r Record) error {
		n++
		wantSame(t, r, layered)
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

// TestObjects stores the version of an object of a store, which exists since version 4.
func TestObjects(t *testing.T) {
	s, _ := open(t, fresh(t))
	r := sample("s3://bucket/roads.geojson", 1)
	r.Identity = source.Identity{Size: 10, Object: `etag:"9b2cf5"`}
	put(t, s, r)
	got := all(t, s)
	if len(got) != 1 {
		t.Fatalf("%d records, want 1", len(got))
	}
	wantSame(t, got[0], r)
}

func TestHostileNames(t *testing.T) {
	s, _ := open(t, fresh(t))
	names := []string{
		`'`, `"`, `'; DROP TABLE record; --`, `%`, `_`, `?`, `:a`, `\`, "a\nb", " ", "\u202e", "é",
		"e\u0301", "2020-01-01T00:00:00Z", "1", "0x1",
		"null", "\U0010ffff", "a/b", "A/b", strings.Repeat("n", 70000),
	}
	for i, name := range names {
		put(t, s, sample(name, i))
	}
	for i, name := range names {
		got, ok, err := s.Get(context.Background(), Key{Name: name, Options: [32]byte{1}})
		if !ok || err != nil || got.FormatVersion != i {
			t.Errorf("%q: version %d, %v, %v, want version %d", name, got.FormatVersion, ok, err, i)
		}
	}
	var listed []string
	for _, r := range all(t, s) {
		listed = append(listed, r.Name)
	}
	slices.Sort(names)
	if !slices.Equal(listed, names) {
		t.Errorf("listed %.100q, want %.100q", listed, names)
	}
	for _, name := range []string{"", "\x00", "a\x00b", "\xff", "a\xc3", "\xed\xa0\x80"} {
		_, _, err := s.Get(context.Background(), Key{Name: name})
		for what, err := range map[string]error{
			"get": err, "put": s.Put(context.Background(), sample(name, 1)),
			"delete": s.Delete(context.Background(), Key{Name: name}),
		} {
			if err == nil {
				t.Errorf("%s %q: no error", what, name)
			}
		}
	}
	if n := len(all(t, s)); n != len(names) {
		t.Errorf("%d records, want %d", n, len(names))
	}
}

func TestPutRefuses(t *testing.T) {
	s, _ := open(t, fresh(t))
	bad := "\xff"
	put(t, s, sample("x", 1))
	for _, tt := range []struct {
		name   string
		change func(*Record)
	}{
		{"short digest", func(r *Record) { r.Content = r.Content[:31] }},
		{"year 2262", func(r *Record) { r.ParsedAt = time.Date(2263, 1, 1, 0, 0, 0, 0, time.UTC) }},
		{"error text", func(r *Record) { r.LastError = bad }},
		{"crs with NUL", func(r *Record) { r.CRS = "\x00" }},
		{"geometry type", func(r *Record) { r.GeometryTypes = []string{bad} }},
		{"column name", func(r *Record) { r.Columns[0].Name = bad }},
		{"column minimum", func(r *Record) { r.Columns[0].Min = &bad }},
		{"blocks too large", func(r *Record) { r.Blocks = make([]byte, maxValueBytes+1) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := sample("x", 2)
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
			wantSame(t, got, sample("x", 1))
		})
	}
}

func TestReplaceDeletePrune(t *testing.T) {
	s, _ := open(t, fresh(t))
	ctx := context.Background()
	other := sample("b", 3)
	other.Options = [32]byte{}
	put(t, s, sample("b", 1), sample("a", 1), other, sample("b", 2), sample("c", 1), sample("B", 1))
	want := []string{"B 1", "a 1", "b 3", "b 2", "c 1"}
	check := func() {
		t.Helper()
		var got []string
		for _, r := range all(t, s) {
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
		if err := errors.Join(s.Delete(ctx, Key{Name: "c"}), s.Delete(ctx, sample("a", 0).Key)); err != nil {
			t.Error(err)
		}
	}
	want = []string{"c 1"}
	check()
	if _, ok, err := s.Get(ctx, Key{Name: "a", Options: [32]byte{1}}); ok || err != nil {
		t.Errorf("get of what was deleted: %v, %v", ok, err)
	}
}

func TestRecordsOfAName(t *testing.T) {
	s, _ := open(t, fresh(t))
	const n = pageRows + 1
	for _, name := range []string{"a", "b", "c", "b#", "B"} {
		for i := range n {
			r := sample(name, i)
			r.Options = [32]byte{byte(i >> 8), byte(i)} // also zeros only
			put(t, s, r)
		}
	}
	i := 0
	err := s.Of(context.Background(), "b", func(r Record) error {
		if r.Name != "b" || r.FormatVersion != i {
			t.Errorf("record %d is %s, version %d", i, r.Name, r.FormatVersion)
		}
		i++
		return nil
	})
	if i != n || err != nil {
		t.Errorf("%d records, %v, want %d", i, err, n)
	}
	if err := s.Of(context.Background(), "none", func(Record) error {
		return errors.New("there is none")
	}); err != nil {
		t.Error(err)
	}
	if err := s.Of(context.Background(), "", nil); err == nil {
		t.Error("of no name")
	}
}

func TestNewest(t *testing.T) {
	s, _ := open(t, fresh(t))
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for i, day := range []int{3, 1, 4, 0, 2} {
		r := sample(string(rune('a'+day)), i)
		if r.ParsedAt = at.AddDate(0, 0, day); day == 0 {
			r.ParsedAt = time.Time{} // time unknown
		}
		put(t, s, r)
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

// TestPages reads listings longer than a page, by rows and by bytes, and writes during the listing.
func TestPages(t *testing.T) {
	for _, tt := range []struct {
		name              string
		records, bytesMin int
	}{
		{"one page", pageRows, 0},
		{"one more", pageRows + 1, 0},
		{"by bytes", 5, pageBytes/2 + 1},
		{"each its page", 3, pageBytes},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := open(t, fresh(t))
			ctx := context.Background()
			for i := range tt.records {
				r := sample(fmt.Sprintf("%05d", i), 0)
				r.Blocks = make([]byte, tt.bytesMin)
				put(t, s, r)
			}
			seen := 0
			err := s.All(ctx, func(r Record) error {
				if want := fmt.Sprintf("%05d", seen); r.Name != want {
					t.Errorf("got %s, want %s", r.Name, want)
				}
				if seen++; seen%16 != 1 {
					return nil
				}
				return errors.Join(s.Put(ctx, sample("a", seen)), s.Delete(ctx, r.Key),
					s.Delete(ctx, sample("a", 0).Key))
			})
			if seen != tt.records || err != nil {
				t.Errorf("saw %d, %v, want %d", seen, err, tt.records)
			}
			if left, want := len(all(t, s)), tt.records-(tt.records+15)/16; left != want {
				t.Errorf("%d records are left, want %d", left, want)
			}
		})
	}
}

func TestPruneOfManyPages(t *testing.T) {
	s, _ := open(t, fresh(t))
	for i := range 2*pageRows + 1 {
		put(t, s, Record{Key: Key{Name: fmt.Sprintf("%05d", i)}})
	}
	asked := 0
	if n, err := s.Prune(context.Background(), func(name string) bool {
		asked++
		return name >= "00500"
	}); n != 500 || err != nil || asked != 2*pageRows+1 {
		t.Errorf("pruned %d of %d, %v, want 500 of %d", n, asked, err, 2*pageRows+1)
	}
	if left := len(all(t, s)); left != 2*pageRows+1-500 {
		t.Errorf("%d are left", left)
	}
}

func TestListingEnds(t *testing.T) {
	s, _ := open(t, fresh(t))
	put(t, s, sample("a", 1), sample("b", 1))
	stop := errors.New("enough")
	seen := 0
	if err := s.All(context.Background(), func(Record) error {
		seen++
		return stop
	}); !errors.Is(err, stop) || seen != 1 {
		t.Errorf("saw %d, error %v, want 1 and %v", seen, err, stop)
	}
}

func TestCanceledAndClosed(t *testing.T) {
	s, log := open(t, fresh(t))
	put(t, s, sample("a", 1))
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	calls := func(ctx context.Context) map[string]error {
		_, _, get := s.Get(ctx, sample("a", 1).Key)
		_, prune := s.Prune(ctx, func(string) bool { return false })
		_, newest := s.Newest(ctx, 1)
		return map[string]error{
			"get": get, "prune": prune, "newest": newest, "put": s.Put(ctx, sample("a", 2)),
			"delete": s.Delete(ctx, sample("a", 0).Key),
			"all":    s.All(ctx, func(Record) error { return nil }),
		}
	}
	for what, err := range calls(canceled) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s, canceled: %v", what, err)
		}
	}
	if got := all(t, s); len(got) != 1 {
		t.Errorf("%d records, want 1", len(got))
	} else {
		intact(t, got[0])
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for what, err := range calls(context.Background()) {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s, closed: %v", what, err)
		}
	}
	if log.String() != "" {
		t.Errorf("logged %s", log)
	}
}

// TestSettings checks the settings that speed and privacy depend on.
func TestSettings(t *testing.T) {
	path := fresh(t)
	s, _ := open(t, path)
	put(t, s, sample("a", 1))
	for pragma, want := range map[string]string{
		"synchronous": "1", "journal_mode": "wal", "busy_timeout": "5000",
		"user_version":   fmt.Sprint(len(migrations())),
		"application_id": fmt.Sprint(applicationID),
	} {
		var got string
		if err := s.db.write.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", pragma, got, err, want)
		}
	}
	for _, suffix := range []string{"", "-wal", ".lock"} {
		info, err := os.Stat(path + suffix)
		if err != nil || info.Mode() != fileMode {
			t.Errorf("%q: %v, %v, want mode %v", suffix, info.Mode(), err, os.FileMode(fileMode))
		}
	}
}

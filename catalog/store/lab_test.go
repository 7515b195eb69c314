package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/readers/source"
)

// TestMain runs the test binary as a child process if childVar is set.
func TestMain(m *testing.M) {
	if job := os.Getenv(childVar); job != "" {
		os.Exit(child(job))
	}
	os.Exit(m.Run())
}

// lines is a log that can be read while it is written.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func fresh(t testing.TB) string { return filepath.Join(t.TempDir(), "catalog.db") }

// open opens a store and returns it with its log. It closes the store at the end of the test.
func open(t testing.TB, path string) (*SQLite, *lines) {
	t.Helper()
	log := &lines{}
	s, err := OpenSQLite(path, zerolog.New(log))
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

func put(t testing.TB, s Store, records ...Record) {
	t.Helper()
	for _, r := range records {
		if err := s.Put(context.Background(), r); err != nil {
			t.Fatalf("put %q: %v", r.Name, err)
		}
	}
}

func all(t testing.TB, s Store) []Record {
	t.Helper()
	var records []Record
	if err := s.All(context.Background(), func(r Record) error {
		records = append(records, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return records
}

func wantSame(t testing.TB, got, want Record) {
	t.Helper()
	if g, w := bits(got), bits(want); !reflect.DeepEqual(g, w) {
		t.Errorf("%q:\n got %+v\nwant %+v", want.Name, g, w)
	}
}

// bits returns the record with its box as integers, because a NaN does not equal itself.
func bits(r Record) any {
	var box []uint64
	if r.BBox != nil {
		for _, v := range r.BBox {
			box = append(box, math.Float64bits(v))
		}
	}
	r.BBox = nil
	return struct {
		Record
		Box []uint64
	}{r, box}
}

// sample returns a record whose fields all follow from the name and a version. A mixture of two
// records is therefore detected.
func sample(name string, version int) Record {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", name, version))
	n := binary.LittleEndian.Uint64(sum[:])
	text := fmt.Sprintf("%x", sum)
	low := "0" + text
	return Record{
		Key: Key{Name: name, Options: [32]byte{1}},
		Identity: source.Identity{
			Size: int64(version), Mtime: int64(n >> 1), Ctime: -int64(n >> 2),
			Inode: ^n,
		},
		Content: sum[:], Format: "geojson", FormatVersion: version, OptionsJSON: `{"a":"` + text + `"}`,
		Schema: bytes.Repeat(sum[:], 20), Rows: int64(n >> 3), TableBytes: int64(n >> 4),
		BBox:          &[4]float64{float64(n), 1, 2, 3},
		GeometryTypes: []string{"Point", text}, CRS: `"` + text + `"`,
		Columns: []ColumnStats{{text, "int64", int64(n >> 5), &low, &text}},
		Engine:  "cpu", ParseTime: time.Duration(n >> 6), ParsedAt: time.Unix(0, int64(n>>2)).UTC(), LastError: text,
		Blocks: bytes.Repeat(sum[:], version%300), // up to two pages of the database
	}
}

// intact checks that a record is a complete sample.
func intact(t testing.TB, r Record) {
	t.Helper()
	want := sample(r.Name, r.FormatVersion)
	if len(want.Blocks) == 0 {
		want.Blocks = nil
	}
	wantSame(t, r, want)
}

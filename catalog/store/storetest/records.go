// Package storetest has the tests that every store of records passes, and records for tests.
package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Log is a log that can be read while it is written.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// Put puts records.
func Put(t testing.TB, s store.Store, records ...store.Record) {
	t.Helper()
	for _, r := range records {
		if err := s.Put(context.Background(), r); err != nil {
			t.Fatalf("put %q: %v", r.Name, err)
		}
	}
}

// All returns the records of a store.
func All(t testing.TB, s store.Store) []store.Record {
	t.Helper()
	var records []store.Record
	if err := s.All(context.Background(), func(r store.Record) error {
		records = append(records, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return records
}

// WantSame compares records, with the bits of their boxes.
func WantSame(t testing.TB, got, want store.Record) {
	t.Helper()
	if g, w := bits(got), bits(want); !reflect.DeepEqual(g, w) {
		t.Errorf("%q:\n got %+v\nwant %+v", want.Name, g, w)
	}
}

// bits returns the record with its box as integers, because a NaN does not equal itself.
func bits(r store.Record) any {
	var box []uint64
	if r.BBox != nil {
		for _, v := range r.BBox {
			box = append(box, math.Float64bits(v))
		}
	}
	r.BBox = nil
	return struct {
		store.Record
		Box []uint64
	}{r, box}
}

// Sample returns a record whose fields all follow from the name and a version. A mixture of two
// records is therefore detected.
func Sample(name string, version int) store.Record {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", name, version))
	n := binary.LittleEndian.Uint64(sum[:])
	text := fmt.Sprintf("%x", sum)
	low := "0" + text
	return store.Record{
		Key: store.Key{Name: name, Options: [32]byte{1}},
		Identity: source.Identity{
			Size: int64(version), Mtime: int64(n >> 1), Ctime: -int64(n >> 2),
			Device: n, Inode: ^n,
		},
		Content: sum[:], Format: "geojson", FormatVersion: version, OptionsJSON: `{"a":"` + text + `"}`,
		Schema: bytes.Repeat(sum[:], 20), Rows: int64(n >> 3), TableBytes: int64(n >> 4),
		BBox:          &[4]float64{float64(n), 1, 2, 3},
		GeometryTypes: []string{"Point", text}, CRS: `"` + text + `"`,
		Columns: []store.ColumnStats{{Name: text, Type: "int64", Nulls: int64(n >> 5), Min: &low, Max: &text}},
		Engine:  "cpu", ParseTime: time.Duration(n >> 6), ParsedAt: time.Unix(0, int64(n>>2)).UTC(), LastError: text,
		Blocks: bytes.Repeat(sum[:], version%300), // up to two pages of the database
	}
}

// Intact checks that a record is a complete sample.
func Intact(t testing.TB, r store.Record) {
	t.Helper()
	want := Sample(r.Name, r.FormatVersion)
	if len(want.Blocks) == 0 {
		want.Blocks = nil
	}
	WantSame(t, r, want)
}

// Works puts a record and gets it back.
func Works(t testing.TB, s store.Store) {
	t.Helper()
	want := Sample("works", 1)
	Put(t, s, want)
	got, ok, err := s.Get(context.Background(), want.Key)
	if !ok || err != nil {
		t.Fatalf("get after put: %v, %v", ok, err)
	}
	WantSame(t, got, want)
}

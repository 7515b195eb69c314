package tables

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// TestProgressOfPacked expects that a file counts as half read when all of it is unpacked and none
// of its content is parsed.
func TestProgressOfPacked(t *testing.T) {
	folder := t.TempDir()
	open := func(name string, bytes int) *source.File {
		path := filepath.Join(folder, name)
		must(t, os.WriteFile(path, make([]byte, bytes), 0o600))
		src, err := source.Open(name, path)
		must(t, err)
		t.Cleanup(func() { _ = src.Close() })
		return src
	}
	packed, content := open("a.rows.gz", 100), open("a.rows", 1000)
	var f Call
	read := func(src *source.File, bytes int, want float64) {
		t.Helper()
		_, err := src.ReadAt(make([]byte, bytes), 0)
		must(t, err)
		if got := f.Progress(); got != want {
			t.Errorf("progress %v with %d bytes of %s, want %v", got, bytes, src.Name, want)
		}
	}
	f.Unpacks(packed)
	read(packed, 50, 0.25)
	read(packed, 50, 0.5)
	f.Reads(content)
	read(content, 500, 0.75)
	read(content, 500, 1)
	read(content, 500, 1)
}

// TestLiveKeeps expects that a partialTable keeps the first batches that have space and the latest
// ones.
func TestLiveKeeps(t *testing.T) {
	batch := func() *geoarrow.Columns {
		return &geoarrow.Columns{Attributes: []geoarrow.Column{{Values: make([]byte, 10)}}}
	}
	if n := batch().Bytes(); n != 10 {
		t.Fatalf("a batch of %d bytes, want 10", n)
	}
	l := &PartialTable{room: 35, changed: make(chan struct{})}
	var put []*geoarrow.Columns
	for i := range 9 {
		put = append(put, batch())
		l.Put(i, put[i])
	}
	for i, b := range put {
		want := b
		if i == 3 || i == 4 { // the first three have space, and the latest four are kept
			want = nil
		}
		if got, err := l.batch(t.Context(), i); got != want || err != nil {
			t.Errorf("batch %d: %p, %v, want %p", i, got, err, want)
		}
	}
	l.end()
	for i := range put {
		if got, err := l.batch(t.Context(), i); got != nil || err != nil {
			t.Errorf("batch %d after the end: %p, %v, want none", i, got, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

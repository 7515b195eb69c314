package inbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/internal/system/systemtest"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// open returns an inbox in a writable root.
func open(t *testing.T, root tree.Root) *Inbox {
	t.Helper()
	files, err := tree.Open(t.Context(), tree.Config{
		Roots: []tree.Root{root}, Rescan: time.Hour, Log: zerolog.Nop(),
		Changed: func(string, source.Identity) {}, Removed: func(string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	})
	evict := func(context.Context, string) (int, error) { return 0, nil }
	c, err := New(t.Context(), Config{Tree: files, Evict: evict}, files.Mounts()[0])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func someRows(t *testing.T, n int) arrow.Record {
	t.Helper()
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator,
		arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil))
	defer b.Release()
	for i := range n {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
	}
	return b.NewRecord()
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range found {
		names = append(names, d.Name())
	}
	return names
}

// TestDraftOnAFullDisk expects an error about the full disk and no remaining file.
func TestDraftOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	c := open(t, tree.Root{Dir: dir})
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	rec := someRows(t, 100_000)
	d, err := c.Draft(t.Context(), "a", Create, rec.Schema())
	if err != nil {
		t.Fatal(err)
	}
	d.file.file, full = full, d.file.file
	defer full.Close()
	err = d.Write(rec)
	if err == nil {
		_, err = d.Commit(t.Context())
	}
	var limit *readers.LimitError
	if !errors.As(err, &limit) || !strings.Contains(err.Error(), "--writable") {
		t.Errorf("got %v", err)
	}
	d.Abort()
	if left := namesIn(t, dir); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// TestDraftsOfACrash opens a folder after a crash. Files of the crash are removed; files that
// another server is writing remain.
func TestDraftsOfACrash(t *testing.T) {
	dir := t.TempDir()
	c := open(t, tree.Root{Dir: dir})
	rec := someRows(t, 10)
	d, err := c.Draft(t.Context(), "a", Create, rec.Schema())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{draftPrefix + "crashed", ".other", "b.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := systemtest.Mkfifo(filepath.Join(dir, draftPrefix+"pipe")); err != nil {
		t.Fatal(err)
	}
	other := open(t, tree.Root{Dir: dir})
	for _, name := range namesIn(t, dir) {
		if strings.HasPrefix(name, draftPrefix) && name != d.temp {
			t.Errorf("%s is left", name)
		}
	}
	if err := d.Write(rec); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(namesIn(t, dir), " "); got != ".other a.arrow b.txt" {
		t.Errorf("files %s", got)
	}
	// Another server does not list the open draft of this one, but the folder contains it.
	second, err := other.Draft(t.Context(), "a", Create, rec.Schema())
	if err == nil {
		_, err = second.Commit(t.Context())
	}
	var exists *ExistsError
	if !errors.As(err, &exists) {
		t.Errorf("got %v", err)
	}
}

func TestPlace(t *testing.T) {
	dir := t.TempDir()
	c := open(t, tree.Root{Alias: "put", Dir: dir})
	tests := []struct{ name, full, rel string }{
		{"a", "put/a.arrow", "a.arrow"},
		{"put/a.arrow", "put/a.arrow", "a.arrow"},
		{"b/a", "put/b/a.arrow", "b/a.arrow"},
		{"a%23b", "put/a%23b.arrow", "a#b.arrow"},
		{"../a", "", ""},
		{"a/../b", "", ""},
		{"put/../a", "", ""},
		{"/a", "", ""},
		{"a/", "", ""},
		{"a//b", "", ""},
		{"a\x00b", "", ""},
		{"a.b", "", ""},
		{".a/b", "", ""},
	}
	for _, tt := range tests {
		full, rel, err := c.resolve(tt.name)
		if full != tt.full || rel != tt.rel || (err == nil) != (tt.full != "") {
			t.Errorf("%q: got %q, %q, %v, want %q, %q", tt.name, full, rel, err, tt.full, tt.rel)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "..", "a.arrow")); !errors.Is(err, os.ErrNotExist) {
		t.Error("it got out")
	}
}

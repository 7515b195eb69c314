package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/readers"
)

// manyFiles writes n files of one row in a hundred folders, and returns the parent folder.
func manyFiles(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		path := filepath.Join(dir, fmt.Sprintf("%02d", i%100))
		if i < 100 {
			must(t, os.Mkdir(path, 0o755))
		}
		must(t, os.WriteFile(filepath.Join(path, fmt.Sprintf("%06d.rows", i)), []byte("1;a;1 1\n"), 0o644))
	}
	return dir
}

func TestManyFiles(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 20_000
	}
	w := newWorld(t)
	w.data = manyFiles(t, n)
	c := w.open()
	all := c.List(context.Background(), "", "")
	if len(all) != n {
		t.Fatalf("%d entries, want %d", len(all), n)
	}
	for i, e := range all {
		if number := i%(n/100)*100 + i/(n/100); e.Name != fmt.Sprintf("%02d/%06d.rows", number%100, number) {
			t.Fatalf("entry %d is %s", i, e.Name)
		}
	}
	rows, others := c.List(context.Background(), "42/", "rows"), c.List(context.Background(), "42/", "other")
	if got := len(rows) + len(others); got != n/100 {
		t.Errorf("%d entries in a folder, want %d", got, n/100)
	}
	w.write("07/000007.rows", "2;changed;1 1\n")
	eventually(t, "the change", func() error {
		if e := c.List(context.Background(), "07/000007", "")[0]; e.Size != 14 {
			return fmt.Errorf("%d bytes are listed", e.Size)
		}
		return nil
	})
	w.want(c, "07/000007.rows")
	w.want(c, "99/000099.rows")
	w.close(c)
	w.wantTidy()
}

func BenchmarkList100k(b *testing.B) {
	var format rowsFormat
	cfg := Config{
		Roots: []Root{{Dir: manyFiles(b, 100_000)}}, Formats: readers.Registry{format.format()},
		Log: zerolog.Nop(),
	}
	b.Run("Open", func(b *testing.B) {
		for b.Loop() {
			c, err := Open(context.Background(), cfg)
			must(b, err)
			must(b, c.Close())
		}
	})
	c, err := Open(context.Background(), cfg)
	must(b, err)
	defer c.Close()
	b.Run("List", func(b *testing.B) {
		for b.Loop() {
			if got := len(c.List(context.Background(), "", "")); got != 100_000 {
				b.Fatalf("%d entries", got)
			}
		}
	})
	b.Run("Rescan", func(b *testing.B) {
		for b.Loop() {
			must(b, c.Refresh(context.Background()))
		}
	})
}

// BenchmarkListSiblings100k lists files of four siblings each, in folders of 1000 files.
func BenchmarkListSiblings100k(b *testing.B) {
	dir := b.TempDir()
	for i := range 25_000 {
		folder := filepath.Join(dir, fmt.Sprintf("%02d", i%100))
		must(b, os.MkdirAll(folder, 0o755))
		for _, ext := range []string{".shp", ".dbf", ".shx", ".cpg"} {
			must(b, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%06d%s", i, ext)), nil, 0o644))
		}
	}
	cfg := Config{Roots: []Root{{Dir: dir}}, Log: zerolog.Nop()}
	paired(&cfg)
	c, err := Open(context.Background(), cfg)
	must(b, err)
	defer c.Close()
	b.Run("Rescan", func(b *testing.B) {
		for b.Loop() {
			must(b, c.Refresh(context.Background()))
		}
	})
	b.Run("Lookup", func(b *testing.B) {
		for b.Loop() {
			_, err := c.Lookup(context.Background(), "07/000007.shp")
			must(b, err)
		}
	})
}

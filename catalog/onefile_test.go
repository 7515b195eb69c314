package catalog

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// A root of one file has that file alone, with its siblings, and follows its changes.
func TestRootOfOneFile(t *testing.T) {
	dir := t.TempDir()
	for _, rel := range []string{"a.fake", "b.fake", "a.other", "a/c.fake", "roads.shp", "roads.dbf", "x.pack/main.bin"} {
		write(t, filepath.Join(dir, rel), rel)
	}
	one := func(only string) func(*Config) {
		return func(cfg *Config) {
			cfg.Roots = []Root{{Dir: dir, Only: only}, {Alias: "again", Dir: dir, Only: only}}
		}
	}
	l := newLab(t, dir, sized, one("a.fake"))
	l.wantNames("a.fake", "again/a.fake")
	for _, name := range []string{"b.fake", "a.other", "a/c.fake", "again/b.fake", "../a.fake"} {
		if e, err := l.Lookup(context.Background(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, %v, want none", name, e, err)
		}
	}
	l.parse("a.fake")
	l.write("a.fake", "longer text")
	h := l.table("a.fake")
	defer h.Release()
	if want := int64(len("longer text")); h.Table.Rows != want {
		t.Errorf("%d rows, want %d of the changed file", h.Table.Rows, want)
	}
	if err := os.Remove(filepath.Join(dir, "a.fake")); err != nil {
		t.Fatal(err)
	}
	l.wantNames()

	shapes := newLab(t, dir, sized, paired, one("roads.shp"))
	shapes.wantNames("again/roads.shp", "roads.shp")
	if e, err := shapes.Lookup(context.Background(), "roads.shp"); err != nil || e.Identity.Siblings == [16]byte{} {
		t.Errorf("%+v, %v, want the identity of its siblings too", e, err)
	}
	newLab(t, dir, sized, bundled, one("x.pack")).wantNames("again/x.pack", "x.pack")
}

func TestRootOfAFileThatIsNoEntry(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "roads.shp"), "x")
	write(t, filepath.Join(dir, "roads.dbf"), "x")
	write(t, filepath.Join(dir, "notes.md"), "x")
	for _, only := range []string{"roads.dbf", "notes.md", "gone.fake"} {
		cfg := Config{Roots: []Root{{Dir: dir, Only: only}}, Log: zerolog.Nop()}
		paired(&cfg)
		c, err := Open(t.Context(), cfg)
		if err == nil {
			_ = c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, only)+": no file of a known format") {
			t.Errorf("%s: %v, want an error with its path", only, err)
		}
	}
}

// The files of a root that is not listed are found by their names, hidden ones too.
func TestRootThatIsNotListed(t *testing.T) {
	l := newLab(t, "", sized, paired, func(cfg *Config) { cfg.Roots[0].NamedOnly = true })
	for _, rel := range []string{"a/.b/x.fake", "roads.shp", "roads.dbf", "notes.md"} {
		l.write(rel, rel)
	}
	if err := l.Refresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	l.wantNames()
	l.parse("a/.b/x.fake")
	l.parse("a/.b/x.fake")
	if n := l.parses.Load(); n != 1 {
		t.Errorf("%d parses, want 1 for both calls", n)
	}
	l.write("a/.b/x.fake", "longer text than before")
	h := l.table("a/.b/x.fake")
	defer h.Release()
	if want := int64(len("longer text than before")); h.Table.Rows != want {
		t.Errorf("%d rows, want %d of the changed file", h.Table.Rows, want)
	}
	l.parse("roads.shp")
	for name, want := range map[string]string{
		"roads.dbf": `no entry "roads.dbf": belongs to roads.shp`,
		"notes.md":  `no entry "notes.md": not a known format`,
		"none.fake": `no entry "none.fake": `,
		"a":         `no entry "a": not a regular file`,
		"../x.fake": `no entry "../x.fake"`,
	} {
		if _, err := l.Lookup(context.Background(), name); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	l.wantNames()
}

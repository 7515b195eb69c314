package catalog

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// paired adds a format of shapes with attributes in a second file, and one of attributes alone,
// like shapefiles and DBF files.
func paired(cfg *Config) {
	cfg.Formats = append(fakeFormats(),
		readers.Format{
			Name: "shapes", Extensions: []string{".shp"}, Siblings: []string{".dbf", ".shx", ".cpg"},
			Open: fakeFormats()[0].Open, CPU: fakeFormats()[0].CPU,
		},
		readers.Format{
			Name: "records", Extensions: []string{".dbf"}, Siblings: []string{".cpg"},
			Open: fakeFormats()[0].Open, CPU: fakeFormats()[0].CPU,
		},
	)
}

func TestSiblingsAreNoEntries(t *testing.T) {
	l := newLab(t, "", sized, paired)
	for _, rel := range []string{
		"a/roads.shp", "a/roads.DBF", "a/roads.shx", "a/roads.cpg", "a/alone.dbf", "a/Roads.dbf",
		"a/roads.2.dbf", "b/roads.dbf", "c/x.SHP", "c/x.dbf", "c/x.fake",
	} {
		l.write(rel, rel)
	}
	// not a file, so it has no siblings
	if err := os.Mkdir(filepath.Join(l.dir, "a/alone.shp"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := []string{"a/Roads.dbf", "a/alone.dbf", "a/roads.2.dbf", "a/roads.shp", "b/roads.dbf", "c/x.SHP", "c/x.fake"}
	l.wantNames(want...)
	for _, name := range []string{"a/roads.DBF", "c/x.dbf", "a/roads.cpg"} {
		if e, err := l.Lookup(context.Background(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, %v, want none", name, e, err)
		}
	}
	for _, e := range l.List(context.Background(), "", "") {
		now, err := l.Lookup(context.Background(), e.Name)
		if err != nil || now != *e {
			t.Errorf("%s: looked up %+v, %v, listed %+v", e.Name, now, err, e)
		}
	}

	// The attributes become an entry as soon as the shapes are gone.
	if err := os.Remove(filepath.Join(l.dir, "a/roads.shp")); err != nil {
		t.Fatal(err)
	}
	l.wantNames("a/Roads.dbf", "a/alone.dbf", "a/roads.2.dbf", "a/roads.DBF", "b/roads.dbf", "c/x.SHP", "c/x.fake")
	if _, err := l.Lookup(context.Background(), "a/roads.DBF"); err != nil {
		t.Error(err)
	}
}

func TestSiblingsThatChange(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(l *lab)
	}{
		{"written", func(l *lab) { l.write("roads.dbf", "longer text") }},
		{"replaced by the same", func(l *lab) {
			l.write("new", "text")
			if err := os.Rename(filepath.Join(l.dir, "new"), filepath.Join(l.dir, "roads.dbf")); err != nil {
				l.t.Fatal(err)
			}
		}},
		{"removed", func(l *lab) {
			if err := os.Remove(filepath.Join(l.dir, "roads.dbf")); err != nil {
				l.t.Fatal(err)
			}
		}},
		{"appeared", func(l *lab) { l.write("roads.CPG", "UTF-8") }},
		{"written after a link", func(l *lab) { l.write("elsewhere/x.shx", "longer text") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t, "", sized, paired)
			l.write("roads.shp", "text")
			l.write("roads.dbf", "text")
			l.write("elsewhere/x.shx", "text")
			// os.Root alone would not follow it
			l.link(filepath.Join(l.dir, "elsewhere/x.shx"), "roads.shx")
			l.wantNames("roads.shp")
			before := l.table("roads.shp")
			before.Release()
			l.parse("roads.shp")
			if n := l.parses.Load(); n != 1 {
				t.Errorf("%d parses of a file that did not change", n)
			}
			tt.change(l)
			after := l.table("roads.shp")
			after.Release()
			if before.Version == after.Version || l.parses.Load() != 2 {
				t.Errorf("version %s is now %s, %d parses", before.Version, after.Version, l.parses.Load())
			}
			var changed *ChangedError
			if _, err := l.Table(t.Context(), Request{Name: "roads.shp", Version: before.Version}); !errors.As(err,
				&changed) {
				t.Errorf("the old version: error %v, want *ChangedError", err)
			}
			eventually(t, "the list", func() error {
				list := l.List(context.Background(), "", "shapes")
				if len(list) != 1 || list[0].Identity != after.Entry.Identity {
					return errors.New("it has the old identity")
				}
				return nil
			})
		})
	}
}

// TestSiblingsInTheCacheKey expects that the digest of the content includes the siblings.
func TestSiblingsInTheCacheKey(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Formats[0].Siblings = []string{".att", ".txt"} })
	text := textOf(1, 300)
	w.write("a.rows", text)
	w.write("a.att", "text")
	seen := map[string]bool{}
	for i, step := range []struct {
		name   string
		change func()
		parses int64
	}{
		{"at first", func() {}, 1},
		{"as it was", func() {}, 0},
		{"written again with the same text", func() { w.write("a.att", "text") }, 0},
		{"another text", func() { w.write("a.att", "another text") }, 1},
		{"of another extension", func() {
			if err := os.Rename(w.path("a.att"), w.path("a.txt")); err != nil {
				t.Fatal(err)
			}
		}, 1},
		{"removed", func() {
			if err := os.Remove(w.path("a.txt")); err != nil {
				t.Fatal(err)
			}
		}, 1},
		{"back", func() { w.write("a.att", "text") }, 1}, // the store only knows the last content
	} {
		step.change()
		c := w.open()
		a := w.want(c, "a.rows")
		w.close(c)
		if w.wantParses(step.parses); t.Failed() {
			t.Fatalf("step %d, %s", i, step.name)
		}
		if again := i == 1; seen[a.version] != again {
			t.Errorf("step %d, %s: version %s was there before: %v", i, step.name, a.version, !again)
		}
		seen[a.version] = true
	}
	w.wantTables(4)
}

func TestDigestWithSiblings(t *testing.T) {
	a, b := source.Digest{1}, source.Digest{2}
	if a.With(".dbf", b) == a || a.With(".dbf", b) == a.With(".shx", b) || a.With(".dbf", b) == b.With(".dbf", a) {
		t.Error("two contents have one digest")
	}
}

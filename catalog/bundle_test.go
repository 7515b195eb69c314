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

// bundled adds a format whose files are folders.
func bundled(cfg *Config) {
	cfg.Formats = append(fakeFormats(), readers.Format{
		Name:   "packs",
		Bundle: source.Bundle{Extension: ".pack", Main: "main.bin", Members: []string{".bin", ".idx"}},
		Open:   fakeFormats()[0].Open, CPU: fakeFormats()[0].CPU,
	})
}

func TestAFolderIsOneEntry(t *testing.T) {
	l := newLab(t, "", sized, bundled)
	for _, rel := range []string{
		"a/x.pack/main.bin", "a/x.pack/1.idx", "a/x.pack/inside.fake", "a/x.pack/deep/more.fake", "a/y.fake",
		"b/no.pack/other.bin", "b/no.pack/inside.fake", "Z.PACK/main.bin", "main.bin",
	} {
		l.write(rel, rel)
	}
	names := []string{"Z.PACK", "a/x.pack", "a/y.fake", "b/no.pack/inside.fake"}
	l.wantNames(names...)
	for _, name := range []string{"a/x.pack/inside.fake", "a/x.pack/deep/more.fake", "a/x.pack/main.bin", "b/no.pack"} {
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
	e, err := l.Lookup(context.Background(), "a/x.pack")
	if want := int64(len("a/x.pack/main.bin") + len("a/x.pack/1.idx")); err != nil || e.Size != want {
		t.Errorf("%d bytes, %v, want %d", e.Size, err, want)
	}

	// Without its main file it is a folder like any other.
	if err := os.Remove(filepath.Join(l.dir, "a/x.pack/main.bin")); err != nil {
		t.Fatal(err)
	}
	l.wantNames("Z.PACK", "a/x.pack/deep/more.fake", "a/x.pack/inside.fake", "a/y.fake", "b/no.pack/inside.fake")
	l.write("a/x.pack/main.bin", "back")
	l.wantNames(names...)
	if err := os.RemoveAll(filepath.Join(l.dir, "a/x.pack")); err != nil {
		t.Fatal(err)
	}
	l.wantNames("Z.PACK", "a/y.fake", "b/no.pack/inside.fake")
}

func TestFoldersThatChange(t *testing.T) {
	for _, tt := range []struct {
		name   string
		same   bool
		change func(l *lab)
	}{
		{"main", false, func(l *lab) { l.write("x.pack/main.bin", "longer text") }},
		{"member", false, func(l *lab) { l.write("x.pack/1.idx", "longer text") }},
		{"new member", false, func(l *lab) { l.write("x.pack/2.idx", "text") }},
		{"removed member", false, func(l *lab) { _ = os.Remove(filepath.Join(l.dir, "x.pack/1.idx")) }},
		{"another file", true, func(l *lab) { l.write("x.pack/lock", "text") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t, "", sized, bundled)
			l.write("x.pack/main.bin", "text")
			l.write("x.pack/1.idx", "text")
			l.wantNames("x.pack")
			was := l.table("x.pack")
			defer was.Release()
			before, err := l.Lookup(t.Context(), "x.pack")
			if err != nil {
				t.Fatal(err)
			}
			tt.change(l)
			after, err := l.Lookup(t.Context(), "x.pack")
			if err != nil || (after.Identity == before.Identity) != tt.same {
				t.Fatalf("was %+v, is %+v, %v", before.Identity, after.Identity, err)
			}
			l.table("x.pack").Release()
			if n := l.parses.Load(); (n == 1) != tt.same {
				t.Errorf("%d parses", n)
			}
		})
	}
}

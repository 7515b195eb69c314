package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/internal/system/systemtest"
	"github.com/vibeflight/vibeflight/readers"
)

func TestListing(t *testing.T) {
	dir := t.TempDir()
	for rel, text := range map[string]string{
		"b.fake": "", "a.fake": "x", "deep/er/c.FAKE": "", "deep/d.other": "", "plain": "FAKE…",
		"text.txt": "FAKE", "none.txt": "none", "none": "",
		"x.png": "FAKE", ".hidden.fake": "", ".git/e.fake": "", "o#dd%.fake": "", "caf\xe9.fake": "",
	} {
		write(t, filepath.Join(dir, rel), text)
	}
	if err := systemtest.Mkfifo(filepath.Join(dir, "pipe")); err != nil {
		t.Fatal(err)
	}
	l := newLab(t, dir, sized)
	l.wantNames("a.fake", "b.fake", "caf%E9.fake", "deep/d.other", "deep/er/c.FAKE", "o%23dd%25.fake",
		"plain", "text.txt")
	got := l.List(context.Background(), "deep/", "fake")
	if len(got) != 1 || got[0].Name != "deep/er/c.FAKE" || got[0].Format != "fake" {
		t.Errorf(`List("deep/", "fake") = %v, want deep/er/c.FAKE alone`, got)
	}
	for _, e := range l.List(context.Background(), "", "") {
		now, err := l.Lookup(context.Background(), e.Name)
		if err != nil || now != *e {
			t.Errorf("Lookup(%q) = %v, %v, want %v as listed", e.Name, now, err, e)
		}
	}
	for _, name := range []string{"o#dd%.fake", "none", "pipe", "deep", "x.png", ".hidden.fake", "../" +
		filepath.Base(dir) + "/a.fake", "deep/../a.fake", dir + "/a.fake"} {
		_, err := l.Lookup(context.Background(), name)
		var missing *NotFoundError
		if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Lookup(%q) gives error %v, want a *NotFoundError", name, err)
		}
	}
}

func TestRoots(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	write(t, filepath.Join(one, "a.fake"), "1")
	write(t, filepath.Join(two, "a.fake"), "22")
	if _, err := Open(t.Context(), Config{Roots: []Root{{Dir: one}, {Dir: two}}, Formats: fakeFormats()}); err == nil ||
		!strings.Contains(err.Error(), `"a.fake"`) {
		t.Errorf("two roots with a.fake: error %v, want one that names it", err)
	}
	if _, err := Open(t.Context(), Config{
		Roots:   []Root{{Alias: "x", Dir: one}, {Alias: "x", Dir: two}},
		Formats: fakeFormats(),
	}); err == nil {
		t.Error("one alias for two roots: no error")
	}
	l := newLab(t, one, sized, func(c *Config) { c.Roots = []Root{{Dir: one}, {Alias: "x", Dir: two}} })
	l.wantNames("a.fake", "x/a.fake")
	if e, err := l.Lookup(context.Background(), "x/a.fake"); err != nil || e.Size != 2 {
		t.Errorf("Lookup(x/a.fake) = %v, %v, want the file of 2 bytes", e, err)
	}

	// In a collision at run time the first root wins, whichever file is older.
	write(t, filepath.Join(one, "x/a.fake"), "333")
	eventually(t, "first root's file", func() error {
		for _, e := range l.List(context.Background(), "x/", "") {
			if e.Size == 3 {
				return nil
			}
		}
		return fmt.Errorf("listed %v", l.List(context.Background(), "", ""))
	})
	if e, err := l.Lookup(context.Background(), "x/a.fake"); err != nil || e.Size != 3 {
		t.Errorf("Lookup(x/a.fake) = %v, %v, want the first root's file of 3 bytes", e, err)
	}
}

func TestLinks(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret.fake"), "secret")
	dir := t.TempDir()
	l := &lab{t: t, dir: dir}
	l.write("real/a.fake", "a")
	l.link("a.fake", "real/sibling.fake")
	l.link("../real/a.fake", "links/up.fake")
	l.link(filepath.Join(dir, "real/a.fake"), "links/absolute.fake")
	l.link("real", "folder")
	l.link(filepath.Join(dir, "real"), "absolute")
	l.link(filepath.Join(outside, "secret.fake"), "links/out.fake")
	l.link("../../"+filepath.Base(outside)+"/secret.fake", "links/relout.fake")
	l.link(outside, "outside")
	l.link("..", "links/loop")
	l.link(".", "self")
	l.link("ring.fake", "ring.fake")
	l.link("nowhere", "dangling.fake")
	l = newLab(t, dir, sized)
	l.wantNames("absolute/a.fake", "absolute/sibling.fake", "folder/a.fake", "folder/sibling.fake",
		"links/absolute.fake", "links/up.fake", "real/a.fake", "real/sibling.fake")
	for _, name := range l.names() {
		if h := l.table(name); h.Table.Bytes != 1 {
			t.Errorf("%s has %d bytes, want 1", name, h.Table.Bytes)
		}
	}
	for _, name := range []string{
		"links/out.fake", "links/relout.fake", "outside/secret.fake", "ring.fake",
		"dangling.fake", "self/real/a.fake", "links/loop/real/a.fake", "folder/../real/a.fake",
	} {
		if e, err := l.Lookup(context.Background(), name); err == nil {
			t.Errorf("Lookup(%q) = %v, want an error", name, e)
		}
	}
}

func TestLinkSwappedAfterListing(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "a.fake"), "secret")
	l := newLab(t, "", sized)
	l.write("a.fake", "ok")
	l.write("folder/a.fake", "ok")
	l.wantNames("a.fake", "folder/a.fake")
	stale := map[string]Entry{}
	for _, e := range l.List(context.Background(), "", "") {
		stale[e.Name] = *e
	}
	l.link(filepath.Join(outside, "a.fake"), "a.fake")
	if err := os.RemoveAll(filepath.Join(l.dir, "folder")); err != nil {
		t.Fatal(err)
	}
	l.link(outside, "folder")
	for name, e := range stale {
		if src, err := e.Open(t.Context(), readers.Format{}); err == nil {
			t.Errorf("%s: opened %v through the swapped link", name, src.Identity)
		}
		if _, err := l.Table(t.Context(), Request{Name: name}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Table(%q) gives error %v, want a *NotFoundError", name, err)
		}
	}
	l.wantNames()
}

func TestLinkSwappedWhileOpened(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "a.fake"), "secret")
	l := newLab(t, "", sized)
	l.write("real.fake", "public")
	l.link("real.fake", "a.fake")
	e, err := l.Lookup(context.Background(), "a.fake")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	swapped := make(chan error)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				swapped <- nil
				return
			default:
			}
			target := [...]string{"real.fake", filepath.Join(outside, "a.fake")}[i%2]
			next := filepath.Join(l.dir, ".next")
			if err := errors.Join(os.Symlink(target, next), os.Rename(next, e.Path)); err != nil {
				swapped <- err
				return
			}
		}
	}()
	for range 2000 {
		src, err := e.Open(t.Context(), readers.Format{})
		if err != nil {
			continue
		}
		text := make([]byte, 6)
		if _, err := src.ReadAt(text, 0); err != nil || string(text) == "secret" {
			t.Errorf("read %q, %v", text, err)
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
	close(done)
	if err := <-swapped; err != nil {
		t.Error(err)
	}
}

func TestFollowsItsRoots(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Config)
		blind  bool
	}{
		{"watch", func(c *Config) { c.Rescan = time.Hour }, false},
		{"polling", func(c *Config) { c.Rescan = 10 * time.Millisecond }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t, "", sized, tt.change)
			if tt.blind {
				_ = l.tree.StopInotify()
			}
			l.follow()
		})
	}
}

// follow changes the folder in all ways and waits until the list shows it.
func (l *lab) follow() {
	t := l.t
	t.Helper()
	path := func(rel string) string { return filepath.Join(l.dir, rel) }
	l.wantNames()
	l.write("a.fake", "1")
	l.wantNames("a.fake")
	l.write("new/folder/b.fake", "1")
	l.wantNames("a.fake", "new/folder/b.fake")
	l.write("new/folder/c.fake", "1")
	l.wantNames("a.fake", "new/folder/b.fake", "new/folder/c.fake")
	l.write("new/folder/c.fake", "12345")
	eventually(t, "changed file", func() error {
		if e := l.List(context.Background(), "new/folder/c", ""); len(e) != 1 || e[0].Size != 5 {
			return fmt.Errorf("listed %v, want 5 bytes", e)
		}
		return nil
	})
	if err := os.Rename(path("new"), path("moved")); err != nil {
		t.Fatal(err)
	}
	l.wantNames("a.fake", "moved/folder/b.fake", "moved/folder/c.fake")
	l.write("moved/folder/d.fake", "")
	l.write("new/folder/e.fake", "")
	l.wantNames("a.fake", "moved/folder/b.fake", "moved/folder/c.fake", "moved/folder/d.fake", "new/folder/e.fake")
	l.write("new/folder/f.fake", "")
	l.write("moved/folder/g.fake", "")
	l.wantNames("a.fake", "moved/folder/b.fake", "moved/folder/c.fake", "moved/folder/d.fake",
		"moved/folder/g.fake", "new/folder/e.fake", "new/folder/f.fake")
	if err := os.RemoveAll(path("moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path("a.fake")); err != nil {
		t.Fatal(err)
	}
	l.wantNames("new/folder/e.fake", "new/folder/f.fake")
	for range 5 { // the new folder may get the old one's inode
		if err := os.RemoveAll(path("new")); err != nil {
			t.Fatal(err)
		}
		l.write("new/folder/e.fake", "")
		l.wantNames("new/folder/e.fake")
		l.write("new/folder/f.fake", "")
		l.wantNames("new/folder/e.fake", "new/folder/f.fake")
	}
	l.write("late", "none of ours")
	l.write("late", "FAKE now")
	l.wantNames("late", "new/folder/e.fake", "new/folder/f.fake")
	l.link("new/folder", "link")
	l.wantNames("late", "link/e.fake", "link/f.fake", "new/folder/e.fake", "new/folder/f.fake")
	l.write("new/folder/h.fake", "")
	l.wantNames("late", "link/e.fake", "link/f.fake", "link/h.fake", "new/folder/e.fake", "new/folder/f.fake",
		"new/folder/h.fake")
	if err := os.Remove(path("link")); err != nil {
		t.Fatal(err)
	}
	l.link("new/folder/e.fake", "link.fake")
	l.wantNames("late", "link.fake", "new/folder/e.fake", "new/folder/f.fake", "new/folder/h.fake")
	l.write("new/folder/e.fake", "1234567")
	eventually(t, "changed file after a link", func() error {
		if e := l.List(context.Background(), "link.fake", ""); len(e) != 1 || e[0].Size != 7 {
			return fmt.Errorf("listed %v, want 7 bytes", e)
		}
		return nil
	})
}

func TestLookupIsAheadOfTheWatch(t *testing.T) {
	l := newLab(t, "", sized)
	if err := l.tree.StopInotify(); err != nil { // notices no changes
		t.Fatal(err)
	}
	l.write("deep/a.fake", "1")
	h := l.table("deep/a.fake")
	if h.Table.Bytes != 1 || h.Cached {
		t.Errorf("new file: %d bytes, cached %v, want 1, false", h.Table.Bytes, h.Cached)
	}
	l.write("deep/a.fake", "22")
	again := l.table("deep/a.fake")
	if again.Table.Bytes != 2 || again.Cached || again.Version == h.Version {
		t.Errorf("changed file: %d bytes, cached %v, version %s after %s; want 2 bytes of a new version",
			again.Table.Bytes, again.Cached, again.Version, h.Version)
	}
	if s := l.Stats(); s.Tables != 1 || s.Bytes != 2 {
		t.Errorf("after the change %d tables of %d bytes are kept, want the new one of 2", s.Tables, s.Bytes)
	}
	var changed *ChangedError
	if _, err := l.Table(t.Context(), Request{Name: "deep/a.fake", Version: h.Version}); !errors.As(err, &changed) ||
		changed.Have != again.Version {
		t.Errorf("old version: error %v, want a *ChangedError", err)
	}
	if _, ok := l.peek("deep/a.fake"); !ok {
		t.Error("Peek finds nothing of what is parsed")
	}
	if err := os.Remove(filepath.Join(l.dir, "deep/a.fake")); err != nil {
		t.Fatal(err)
	}
	if _, ok := l.peek("deep/a.fake"); ok {
		t.Error("Peek finds a table of a file that went")
	}
	if _, err := l.Lookup(context.Background(), "deep/a.fake"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed file: error %v, want a *NotFoundError", err)
	}
	if s := l.Stats(); s.Tables != 0 {
		t.Errorf("%d tables kept of a file that went", s.Tables)
	}
}

func TestRootIsReplaced(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "data")
	write(t, filepath.Join(base, "v1/a.fake"), "1")
	write(t, filepath.Join(base, "v2/a.fake"), "22")
	write(t, filepath.Join(base, "v2/b.fake"), "")
	l := &lab{t: t, dir: base}
	l.link("v1", "data")
	l = newLab(t, dir, sized)
	l.wantNames("a.fake")
	if err := os.Symlink("v2", filepath.Join(base, "next")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(base, "next"), dir); err != nil {
		t.Fatal(err)
	}
	if h := l.table("a.fake"); h.Table.Bytes != 2 {
		t.Errorf("a.fake has %d bytes after the switch, want 2", h.Table.Bytes)
	}
	if err := l.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.wantNames("a.fake", "b.fake")
}

func TestClosed(t *testing.T) {
	l := newLab(t, "", sized)
	l.write("a.fake", "1")
	h := l.table("a.fake")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	h.Release()
	if _, err := l.Table(t.Context(), Request{Name: "a.fake"}); !errors.Is(err, ErrClosed) {
		t.Errorf("Table after Close gives error %v, want ErrClosed", err)
	}
	if err := l.Refresh(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("Refresh after Close gives error %v, want ErrClosed", err)
	}
}

package source

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/vibeflight/vibeflight/internal/system/systemtest"
)

func TestOpenInStaysBelowTheRoot(t *testing.T) {
	base := t.TempDir()
	write(t, filepath.Join(base, "outside"), "secret")
	write(t, filepath.Join(base, "root/folder/inside"), "text")
	for link, target := range map[string]string{
		"in": "folder/inside", "out": "../outside",
		"absolute": filepath.Join(base, "outside"), "ring": "ring",
	} {
		if err := os.Symlink(target, filepath.Join(base, "root", link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := systemtest.Mkfifo(filepath.Join(base, "root/pipe")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(base, "root"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, rel := range []string{"folder/inside", "in"} {
		f, err := OpenIn(root, "name", rel)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		p := make([]byte, 4)
		if _, err := f.ReadAt(p, 0); string(p) != "text" || err != nil || f.Size != 4 {
			t.Errorf("%s: read %q, %v, size %d, want text", rel, p, err, f.Size)
		}
		if err := f.Unchanged(); err != nil {
			t.Errorf("%s: %v", rel, err)
		}
	}
	for _, rel := range []string{
		"out", "absolute", "ring", "../outside", filepath.Join(base, "outside"),
		"folder", "pipe", "none",
	} {
		if f, err := OpenIn(root, "name", rel); err == nil {
			t.Errorf("%s: opened %v", rel, f.Identity)
		}
	}
}

func TestUnchanged(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, path string)
	}{
		{"written", func(t *testing.T, path string) { write(t, path, "longer text") }},
		{"replaced", func(t *testing.T, path string) {
			write(t, path+".new", "text")
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		}},
		{"removed", func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}},
		{"link out of the root", func(t *testing.T, path string) {
			write(t, filepath.Join(path, "../../outside"), "text")
			if err := errors.Join(os.Remove(path), os.Symlink("../outside", path)); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "root")
			path := filepath.Join(dir, "file")
			write(t, path, "text")
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			in, err := OpenIn(root, "name", "file")
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			by, err := Open("name", path)
			if err != nil {
				t.Fatal(err)
			}
			defer by.Close()
			for _, f := range []*File{in, by} {
				if err := f.Unchanged(); err != nil {
					t.Errorf("before: %v", err)
				}
			}
			tt.change(t, path)
			for _, f := range []*File{in, by} {
				if err := f.Unchanged(); !errors.Is(err, ErrChanged) {
					t.Errorf("after: error %v, want one that wraps ErrChanged", err)
				}
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

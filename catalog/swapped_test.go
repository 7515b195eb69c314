package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/vibeflight/vibeflight/readers/source"
)

// TestSwapped replaces a file, or a folder in its path, between the lookup in the catalog and the
// opening. This counts as a change of the file, and the next lookup finds no file.
func TestSwapped(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "a.fake"), "FAKE")
	for _, c := range []struct {
		name string
		swap func(folder, file string) error
	}{
		{"file gone", func(_, file string) error { return os.Remove(file) }},
		{"file is a link out", func(_, file string) error {
			return errors.Join(os.Remove(file), os.Symlink(filepath.Join(outside, "a.fake"), file))
		}},
		{"file is a loop", func(_, file string) error {
			return errors.Join(os.Remove(file), os.Symlink("a.fake", file))
		}},
		{"file is a folder", func(_, file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o755)) }},
		{"folder gone", func(folder, _ string) error { return os.RemoveAll(folder) }},
		{"folder is a link out", func(folder, _ string) error {
			return errors.Join(os.RemoveAll(folder), os.Symlink(outside, folder))
		}},
		{"folder is a loop", func(folder, _ string) error {
			return errors.Join(os.RemoveAll(folder), os.Symlink("sub", folder))
		}},
		{"folder is a file", func(folder, _ string) error {
			return errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t, "", sized)
			l.write("sub/a.fake", "FAKE")
			req := Request{Name: "sub/a.fake"}
			j, err := l.job(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			folder := filepath.Join(l.dir, "sub")
			if err := c.swap(folder, filepath.Join(folder, "a.fake")); err != nil {
				t.Fatal(err)
			}
			if _, err := l.tables.Get(t.Context(), j); !errors.Is(err, source.ErrChanged) {
				t.Errorf("got %v, want one that wraps source.ErrChanged", err)
			}
			var notFound *NotFoundError
			if _, err := l.Table(t.Context(), req); !errors.As(err, &notFound) {
				t.Errorf("then %v, want a NotFoundError", err)
			}
		})
	}
}

// TestClosedIsNoChange closes the catalog at the same point instead.
func TestClosedIsNoChange(t *testing.T) {
	l := newLab(t, "", sized)
	l.write("a.fake", "FAKE")
	j, err := l.job(t.Context(), Request{Name: "a.fake"})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.tables.Get(t.Context(), j); !errors.Is(err, ErrClosed) || errors.Is(err, source.ErrChanged) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

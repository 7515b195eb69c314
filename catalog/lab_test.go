package catalog

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// lab is a catalog of one format, "fake", with the test's own parse function.
type lab struct {
	*Catalog
	t      *testing.T
	dir    string
	parses atomic.Int64
}

// parseFunc replaces readers.Read.
type parseFunc func(ctx context.Context, src *source.File) (*readers.Table, error)

// sized returns a table with as many bytes as the file.
func sized(_ context.Context, src *source.File) (*readers.Table, error) {
	return &readers.Table{
		Format: "fake", Rows: src.Size, Bytes: src.Size, Batches: []*geoarrow.Columns{{}}, Starts: []int64{0, src.Size},
	}, nil
}

func fakeFormats() readers.Registry {
	return readers.Registry{
		{
			Name: "fake", Extensions: []string{".fake"},
			Sniff:   func(head []byte) bool { return bytes.HasPrefix(head, []byte("FAKE")) },
			Options: []readers.Option{{Name: "colour", Default: "red"}},
			Open: func(context.Context, *source.File, readers.Options) (readers.Layout, error) {
				return readers.Layout{}, nil
			},
			CPU: func(readers.Layout) readers.Parser { return nil },
		},
		{Name: "other", Extensions: []string{".other"}},
	}
}

// newLab opens a catalog for dir or an empty folder. At the end it checks that no goroutine is
// left.
func newLab(t *testing.T, dir string, parse parseFunc, change ...func(*Config)) *lab {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	before := runtime.NumGoroutine()
	cfg := Config{Roots: []Root{{Dir: dir}}, Formats: fakeFormats(), Log: zerolog.Nop()}
	for _, f := range change {
		f(&cfg)
	}
	c, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{Catalog: c, t: t, dir: dir}
	c.loader.Read = func(ctx context.Context, _ readers.Format, _ readers.Parser, src *source.File, _ readers.Limits,
		_ readers.Keeper,
	) (*readers.Table, error) {
		l.parses.Add(1)
		return parse(ctx, src)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		eventually(t, "no goroutine left", func() error {
			if n := runtime.NumGoroutine(); n > before {
				buf := make([]byte, 1<<16)
				return fmt.Errorf("%d goroutines, %d before:\n%s", n, before, buf[:runtime.Stack(buf, true)])
			}
			return nil
		})
	})
	return l
}

func (l *lab) write(rel, text string) { l.t.Helper(); write(l.t, filepath.Join(l.dir, rel), text) }

func (l *lab) link(target, rel string) {
	l.t.Helper()
	path := filepath.Join(l.dir, rel)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		l.t.Fatal(err)
	}
	_ = os.Remove(path)
	if err := os.Symlink(target, path); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) table(name string) *TableRef {
	l.t.Helper()
	h, err := l.Table(l.t.Context(), Request{Name: name})
	if err != nil {
		l.t.Fatal(err)
	}
	return h
}

// parse gets the table of a name and releases it at once.
func (l *lab) parse(name string) { l.t.Helper(); l.table(name).Release() }

func (l *lab) names() []string {
	var names []string
	for _, e := range l.List(context.Background(), "", "") {
		names = append(names, e.Name)
	}
	return names
}

// wantNames waits until exactly these names are listed.
func (l *lab) wantNames(want ...string) {
	l.t.Helper()
	eventually(l.t, "the names", func() error {
		if got := l.names(); !slices.Equal(got, want) {
			return fmt.Errorf("listed %q, want %q", got, want)
		}
		return nil
	})
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

// eventually calls ok until it returns no error. The deadline only makes a failing test end.
func eventually(t testing.TB, what string, ok func() error) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		err := ok()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (l *lab) evict(name string) int {
	l.t.Helper()
	n, err := l.Evict(l.t.Context(), name)
	if err != nil {
		l.t.Fatal(err)
	}
	return n
}

// List returns Entries as a slice.
func (c *Catalog) List(ctx context.Context, prefix, format string) []*Entry {
	return slices.Collect(c.Entries(ctx, prefix, format))
}

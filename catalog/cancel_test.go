package catalog

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
)

// watchingFS is a file system that calls back on each write to a file that it created.
type watchingFS struct {
	files.FS
	wrote func()
}

func (w *watchingFS) Create(name string) (files.File, error) {
	f, err := w.FS.Create(name)
	if err != nil {
		return nil, err
	}
	return watchedFile{f, w}, nil
}

type watchedFile struct {
	files.File
	fs *watchingFS
}

func (f watchedFile) WriteAt(p []byte, off int64) (int, error) {
	f.fs.wrote()
	return f.File.WriteAt(p, off)
}

// TestWritesEndWithTheirClients ends the last client of a table, or closes the catalog, at any
// point of the parse. Only the write in progress is completed afterwards.
func TestWritesEndWithTheirClients(t *testing.T) {
	for _, how := range []string{"client", "catalog"} {
		t.Run(how, func(t *testing.T) {
			// The large number in the last row makes all batches be written twice.
			text := textOf(1, 400) + "99999999999;x;1 1,2 2\n"
			for at, done := int64(1), false; !done; at += 7 {
				w := newWorld(t, small, memory(1))
				w.write("a.rows", text)
				var writes, after atomic.Int64
				ctx, cancel := context.WithCancel(t.Context())
				var c *Catalog
				closed := make(chan error, 1)
				w.fs = &watchingFS{w.fs, func() {
					switch n := writes.Add(1); {
					case n > at:
						after.Add(1)
					case n < at:
					case how == "catalog":
						go func() { closed <- c.Close() }()
						c.stop() // as Close does; it returns when the contexts of all parses have ended
					default:
						cancel()
						eventually(t, "the client has left", func() error {
							if c.tables.Stats().Parsing > 0 {
								return errors.New("a parse is waited for")
							}
							return nil
						})
					}
				}}
				c = w.open()
				h, err := c.Table(ctx, Request{Name: "a.rows"})
				if done = err == nil; done {
					h.Release()
				}
				if how == "catalog" && !done {
					must(t, <-closed)
				} else {
					w.close(c)
				}
				cancel()
				if n := after.Load(); n > 2 && !done {
					t.Errorf("%d writes after write %d, when all had left: %v", n, at, err)
				}
			}
		})
	}
}

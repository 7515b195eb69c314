package catalog

import (
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Entry is one recognised file.
type Entry struct {
	Name     string // in the catalog
	Format   string // the format's name
	Path     string // where it lies; for people, since opening it there could follow a link out of its root
	Size     int64  // bytes
	Identity source.Identity
	Modified time.Time

	root *root
	rel  string
}

// file is what one look at a regular file told.
type file struct {
	identity source.Identity
	modified time.Time
	format   string // "" for a file that is none of ours
}

func (r *root) entry(rel string, f file) Entry {
	return Entry{
		Name: r.name(rel), Format: f.format, Path: r.path(rel), Size: f.identity.Size, Identity: f.identity, Modified: f.modified,
		root: r, rel: rel,
	}
}

// recognise says of which format the file called rel is, or "". It reads the file, which lies at at below dir, only where its extension
// says nothing.
func recognise(formats readers.Registry, rel string, dir *os.Root, at string) (string, error) {
	f, ok, err := formats.Detect(rel, func() ([]byte, error) {
		src, err := source.OpenIn(dir, rel, at)
		if err != nil {
			return nil, err
		}
		defer src.Close()
		return src.Head(readers.SniffBytes)
	})
	if err != nil || !ok {
		return "", err
	}
	return f.Name, nil
}

// Lookup finds the entry of a name as it is now: it looks at the file, so it sees one that changed or came a moment ago, before the watch
// has told. Without such a file it gives a *NotFoundError.
func (c *Catalog) Lookup(name string) (Entry, error) {
	if c.ctx.Err() != nil {
		return Entry{}, ErrClosed
	}
	known, listed := c.index.Load().entries[name]
	for _, r := range c.roots {
		rel, ok := r.rel(name)
		if !ok {
			continue
		}
		e, err := c.look(r, rel, known)
		if exhausted(err) {
			return Entry{}, fmt.Errorf("%s: %w", name, err)
		}
		if err != nil {
			continue // whatever else keeps it from being looked at keeps it from being an entry
		}
		if !listed || e.Identity != known.Identity || e.Format != known.Format || e.root != known.root {
			c.tables.dropOthers(name, e.Identity)
			c.watch.suspect(place{r, parent(rel)})
		}
		return e, nil
	}
	if c.ctx.Err() != nil { // the roots were closed meanwhile
		return Entry{}, ErrClosed
	}
	c.tables.evict(name)
	if listed {
		c.watch.suspect(place{known.root, parent(known.rel)})
	}
	return Entry{}, &NotFoundError{Name: name, Closest: closest(name, c.index.Load().names, 3)}
}

// look makes the entry at rel from the file as it is now. known is what the index says of it, if anything.
func (c *Catalog) look(r *root, rel string, known Entry) (Entry, error) {
	dir, err := r.open()
	if err != nil {
		return Entry{}, err
	}
	if known.root != r {
		// The index lists no path twice through a loop of links; nor may a name that a client made up.
		if err := r.descend(dir, rel); err != nil {
			return Entry{}, err
		}
	}
	at, info, err := r.locate(dir, rel)
	if err != nil {
		return Entry{}, err
	}
	if !info.Mode().IsRegular() {
		return Entry{}, fmt.Errorf("%s: not a regular file: %w", rel, fs.ErrNotExist)
	}
	f := file{identity: source.IdentityOf(info), modified: info.ModTime(), format: known.Format}
	if known.root != r || known.Identity != f.identity {
		if f.format, err = recognise(c.cfg.Formats, rel, dir, at); err != nil {
			return Entry{}, err
		}
	}
	if f.format == "" {
		return Entry{}, fmt.Errorf("%s: none of the known formats: %w", rel, fs.ErrNotExist)
	}
	return r.entry(rel, f), nil
}

// read opens the entry's file.
func (e Entry) read() (*source.File, error) {
	dir, err := e.root.open()
	if err != nil {
		return nil, err
	}
	at, _, err := e.root.locate(dir, e.rel)
	if err != nil {
		return nil, err
	}
	return source.OpenIn(dir, e.Name, at)
}

package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Entry is one recognised file.
type Entry struct {
	Name     string // in the catalog
	Layer    string // of the file; "": the first one, or there are none
	Format   string // the format's name
	Path     string // where it lies; for people, since opening it there could follow a link out of its root
	Size     int64  // bytes
	Identity source.Identity
	Modified time.Time

	root   *root
	rel    string
	tables *tablesIn // of an archive of several; else nil
}

// tablesIn are the tables of an archive that has several, each of which is a layer. They are the
// same for one identity of the file.
type tablesIn struct {
	formats map[string]string // by layer
}

// File is the name of the entry's file: Name without the layer.
func (e Entry) File() string {
	file, _, _ := strings.Cut(e.Name, "#")
	return file
}

// file is what one look at a regular file told.
type file struct {
	identity source.Identity // its siblings' too
	modified time.Time
	format   string // "" for a file that is none of ours
	tables   *tablesIn
	sibling  bool // it belongs to another one
}

func (r *root) entry(rel string, f file) Entry {
	return Entry{
		Name: r.name(rel), Format: f.format, Path: r.path(rel), Size: f.identity.Size, Identity: f.identity,
		Modified: f.modified,
		root:     r, rel: rel, tables: f.tables,
	}
}

// recognise says of which format the file at rel below dir is, or "", and which tables there are in
// an archive. It reads the file only where its extension says nothing. The operator's options may
// name the format of the file, which the catalog calls name.
func (c *Catalog) recognise(f *file, name, rel string, dir *os.Root) error {
	formats := c.cfg.Formats
	f.format, f.tables = "", nil
	if c.cfg.Options != nil {
		if named, ok := formats.ByName(readers.FormatNamed(c.cfg.Options(name))); ok {
			f.format = named.Name
			return nil
		}
	}
	format, members, ok, err := formats.Inspect(rel, func() (*source.File, error) {
		return source.OpenIn(dir, rel, rel)
	})
	if err != nil || !ok {
		return err
	}
	f.format = format.Name
	if len(members) > 0 {
		f.tables = &tablesIn{make(map[string]string, len(members))}
		for i := range members {
			f.tables.formats[members[i].Layer] = members[i].Format.Name
		}
	}
	return nil
}

// Lookup finds the entry of a name as it is now: it looks at the file, so it sees one that changed
// or came a moment ago, before the watch has told. Without such a file, or if it is known not to
// have the layer, it gives a *NotFoundError.
func (c *Catalog) Lookup(name string) (Entry, error) {
	file, layer, ok := splitName(name)
	if !ok {
		return Entry{}, c.notFound(name)
	}
	e, err := c.lookupFile(file)
	var none *NotFoundError
	if errors.As(err, &none) {
		return Entry{}, c.notFound(name)
	}
	if err != nil {
		return Entry{}, err
	}
	if e, ok = c.ofLayer(e, layer); !ok {
		return Entry{}, c.notFound(name)
	}
	return e, nil
}

// lookupAs is Lookup of an entry that is read as the named format, whatever its name and its bytes
// say. A format that does not exist is ignored here; ParseOptions refuses it. A file that is no
// entry stays one: only the operator's options make entries, so that a client cannot read any file
// of a root.
func (c *Catalog) lookupAs(name, format string) (Entry, error) {
	file, layer, ok := splitName(name)
	if _, known := c.cfg.Formats.ByName(format); !known || !ok {
		return c.Lookup(name)
	}
	listed, err := c.lookupFile(file)
	if err != nil {
		return c.Lookup(name)
	}
	e, err := c.lookAs(listed.root, listed.rel, format)
	if exhausted(err) {
		return Entry{}, fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		return c.Lookup(name)
	}
	if e, ok = c.ofLayer(e, layer); !ok {
		return c.Lookup(name)
	}
	return e, nil
}

// lookAs is look at a file that is of a format.
func (c *Catalog) lookAs(r *root, rel, format string) (Entry, error) {
	dir, err := r.open()
	if err != nil {
		return Entry{}, err
	}
	if err := r.descend(dir, rel); err != nil {
		return Entry{}, err
	}
	f, err := regularFile(dir, rel)
	if err != nil {
		return Entry{}, err
	}
	f.format = format
	return c.withSiblings(r, dir, rel, f)
}

// regularFile is the file at rel below dir as it is now, without its format.
func regularFile(dir *os.Root, rel string) (file, error) {
	_, info, err := source.Locate(dir, rel)
	if err != nil {
		return file{}, err
	}
	if !info.Mode().IsRegular() {
		return file{}, fmt.Errorf("%s: not a regular file: %w", rel, fs.ErrNotExist)
	}
	return file{identity: source.IdentityOf(info), modified: info.ModTime()}, nil
}

// lookupFile is Lookup of the name of a file.
func (c *Catalog) lookupFile(name string) (Entry, error) {
	if c.ctx.Err() != nil {
		return Entry{}, ErrClosed
	}
	known := Entry{}
	at, listed := c.index.Load().files[name]
	if listed {
		known = *at
	}
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
	c.tables.evict(name, nil)
	if listed {
		c.watch.suspect(place{known.root, parent(known.rel)})
	}
	return Entry{}, &NotFoundError{Name: name}
}

// look makes the entry at rel from the file as it is now. known is what the index says of it, if
// anything.
func (c *Catalog) look(r *root, rel string, known Entry) (Entry, error) {
	dir, err := r.open()
	if err != nil {
		return Entry{}, err
	}
	if known.root != r {
		// The index lists no path twice through a loop of links; nor may a name that a client made
		// up.
		if err := r.descend(dir, rel); err != nil {
			return Entry{}, err
		}
	}
	f, err := regularFile(dir, rel)
	if err != nil {
		return Entry{}, err
	}
	f.format, f.tables = known.Format, known.tables
	if known.root != r || known.Identity.With(nil) != f.identity {
		if err := c.recognise(&f, r.name(rel), rel, dir); err != nil {
			return Entry{}, err
		}
	}
	if f.format == "" {
		return Entry{}, fmt.Errorf("%s: none of the known formats: %w", rel, fs.ErrNotExist)
	}
	return c.withSiblings(r, dir, rel, f)
}

// withSiblings completes the entry of a file by what lies beside it now. A file that belongs to
// another one is no entry.
func (c *Catalog) withSiblings(r *root, dir *os.Root, rel string, f file) (Entry, error) {
	for _, main := range c.cfg.Formats.MainsOf(rel) {
		if _, info, err := source.Locate(dir, main); err == nil && info.Mode().IsRegular() {
			return Entry{}, fmt.Errorf("%s: belongs to %s: %w", rel, main, fs.ErrNotExist)
		}
	}
	if format, _ := c.cfg.Formats.ByName(f.format); len(format.Siblings) > 0 {
		beside, err := source.SiblingsIn(dir, rel, format.Siblings...)
		if err != nil {
			return Entry{}, err
		}
		f.identity = f.identity.With(beside)
	}
	return r.entry(rel, f), nil
}

// read opens the entry's file with its siblings, which have one of the extensions.
func (e Entry) read(siblings []string) (*source.File, error) {
	dir, err := e.root.open()
	if err != nil {
		return nil, err
	}
	return source.OpenIn(dir, e.File(), e.rel, siblings...)
}

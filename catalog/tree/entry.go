package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/internal/system"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Entry is one recognized file, or one layer of it.
type Entry struct {
	Name     string // in the catalog
	Layer    string // of the file; "": the first one, or the file has no layers
	Format   string // the format's name
	Path     string // of the file, for messages; opening it could follow a link out of its root
	Size     int64  // bytes
	Identity source.Identity
	Modified time.Time

	mount  *Mount
	rel    string
	tables *archiveTables // of an archive with several tables; else nil

	members *members // of a dataset; else nil
}

// archiveTables are the tables of an archive that has several, each of which is a layer. They are
// fixed for one identity of the file.
type archiveTables struct {
	formats map[string]string // by layer
}

// File returns the name of the entry's file: Name without the layer.
func (e Entry) File() string {
	file, _, _ := strings.Cut(e.Name, "#")
	return file
}

// Location returns the absolute path of the entry's file, or its URL, as a key that does not depend
// on the server's roots. A path that is not UTF-8 is quoted.
func (e Entry) Location() string {
	if e.mount != nil && e.mount.store != nil {
		return e.Path
	}
	abs, err := filepath.Abs(e.Path)
	if err != nil {
		abs = e.Path
	}
	if !utf8.ValidString(abs) {
		abs = strconv.QuoteToASCII(abs)
	}
	return abs
}

// In reports whether the entry's file is below a root.
func (e Entry) In(m *Mount) bool { return e.mount == m }

// Rel returns the path of the entry's file below its root.
func (e Entry) Rel() string { return e.rel }

// Open opens the entry's file, which is of a format, with its siblings. Reads of a file in a store end
// with ctx.
func (e Entry) Open(ctx context.Context, f readers.Format) (*source.File, error) {
	if e.mount.store != nil {
		main := file{identity: e.Identity, modified: e.Modified}.object(e.rel)
		return source.OpenFrom(e.mount.folder(ctx, parent(e.rel), main), e.File(), path.Base(e.rel), f.Siblings...)
	}
	dir, err := e.mount.Open()
	if err != nil {
		return nil, err
	}
	if f.Bundle.Names(e.rel) {
		return source.OpenBundleIn(dir, e.File(), e.rel, f.Bundle)
	}
	return source.OpenIn(dir, e.File(), e.rel, f.Siblings...)
}

// file is what was found out about a regular file.
type file struct {
	identity source.Identity // includes that of its siblings
	modified time.Time
	format   string // "" for a file of no known format
	tables   *archiveTables
	sibling  bool // it belongs to another file
}

func (m *Mount) entry(rel string, f file) Entry { return m.entryNamed(m.name(rel), rel, f) }

// entryNamed is entry with the name of rel in the catalog.
func (m *Mount) entryNamed(name, rel string, f file) Entry {
	return Entry{
		Name: name, Format: f.format, Path: m.path(rel), Size: f.identity.Size,
		Identity: f.identity, Modified: f.modified, mount: m, rel: rel, tables: f.tables,
	}
}

// recognize finds the format of the file at rel below dir, and the tables of an archive. The format
// of an unknown file is "". The file is read only where its extension is ambiguous. name is the
// file's name in the catalog, by which the operator's options may set its format.
func (t *Tree) recognize(f *file, name, rel string, dir *os.Root) error {
	f.tables = nil
	if f.format = t.formatOfOptions(name); f.format != "" {
		return nil
	}
	return t.inspect(f, rel, func() (*source.File, error) { return source.OpenIn(dir, rel, rel) })
}

// formatOfOptions returns the format that the operator's options for a file name, or "".
func (t *Tree) formatOfOptions(name string) string {
	if t.cfg.Options == nil {
		return ""
	}
	named, _ := t.cfg.Formats.ByName(readers.FormatNamed(t.cfg.Options(name)))
	return named.Name
}

// inspect finds the format of the file at rel by its name, or where that does not tell, by its
// content.
func (t *Tree) inspect(f *file, rel string, open func() (*source.File, error)) error {
	format, members, ok, err := t.cfg.Formats.Inspect(rel, open)
	if err != nil || !ok {
		return err
	}
	f.format = format.Name
	if len(members) > 0 {
		f.tables = &archiveTables{make(map[string]string, len(members))}
		for i := range members {
			f.tables.formats[members[i].Layer] = members[i].Format.Name
		}
	}
	return nil
}

// Lookup returns the entry of a name as its file is now. It examines the file, so that it also sees
// a change that the watch has not reported yet. A request to a store ends with ctx, and with the
// tree. It returns a *NotFoundError if there is no such file, or if the file is known not to have the
// layer.
func (t *Tree) Lookup(ctx context.Context, name string) (Entry, error) {
	file, layer, ok := SplitName(name)
	if !ok {
		return Entry{}, t.NotFound(name)
	}
	e, err := t.lookupFile(ctx, file)
	var notFound *NotFoundError
	if errors.As(err, &notFound) {
		return Entry{}, t.NotFound(name)
	}
	if err != nil {
		return Entry{}, err
	}
	if e, ok = t.ofLayer(e, layer); !ok {
		return Entry{}, t.NotFound(name)
	}
	return e, nil
}

// LookupAs is Lookup for a file that is to be read as the named format, whatever its name and its
// bytes say. An unknown format is ignored here; Format.ParseOptions refuses it. Only a file that is
// an entry already is found: otherwise a client could read any file of a root.
func (t *Tree) LookupAs(ctx context.Context, name, format string) (Entry, error) {
	file, layer, ok := SplitName(name)
	if _, known := t.cfg.Formats.ByName(format); !known || !ok {
		return t.Lookup(ctx, name)
	}
	if e, ok := t.dataset(name); ok {
		return e, nil
	}
	listed, err := t.lookupFile(ctx, file)
	if err != nil {
		return t.Lookup(ctx, name)
	}
	e, err := t.examineAs(ctx, listed.mount, listed.rel, format)
	if system.Exhausted(err) {
		return Entry{}, fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		return t.Lookup(ctx, name)
	}
	if e, ok = t.ofLayer(e, layer); !ok {
		return t.Lookup(ctx, name)
	}
	return e, nil
}

// examineAs makes the entry at rel from the file as it is now, as a file of a format.
func (t *Tree) examineAs(ctx context.Context, m *Mount, rel, format string) (Entry, error) {
	if m.store != nil {
		ctx, end := t.whileOpen(ctx)
		defer end()
		o, err := m.store.stats.stat(ctx, m.store.root, rel)
		if err != nil {
			return Entry{}, err
		}
		f := fileOf(o)
		f.format = format
		return t.objectWithSiblings(m, rel, f)
	}
	dir, err := m.Open()
	if err != nil {
		return Entry{}, err
	}
	if err := m.descend(dir, rel); err != nil {
		return Entry{}, err
	}
	f, err := regularFile(dir, rel)
	if err != nil {
		return Entry{}, err
	}
	f.format = format
	return t.withSiblings(m, dir, rel, f)
}

// regularFile returns the file at rel below dir as it is now, without its format.
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

// lookupFile is Lookup for the name of a file.
func (t *Tree) lookupFile(ctx context.Context, name string) (Entry, error) {
	if t.ctx.Err() != nil {
		return Entry{}, ErrClosed
	}
	if e, ok := t.dataset(name); ok {
		return e, nil
	}
	known, listed := t.index.Load().find(name)
	for _, m := range t.mounts {
		rel, ok := m.Rel(name)
		if !ok || m.Unlisted {
			continue
		}
		e, err := t.examine(ctx, m, rel, known)
		if system.Exhausted(err) || err != nil && m.store != nil && !errors.Is(err, fs.ErrNotExist) {
			return Entry{}, fmt.Errorf("%s: %w", name, err)
		}
		if err != nil {
			continue // any other obstacle means that it is not an entry
		}
		if !listed || e.Identity != known.Identity || e.Format != known.Format || e.mount != known.mount {
			t.cfg.Changed(name, e.Identity)
			t.watch.suspect(place{m, parent(rel)})
		}
		return e, nil
	}
	if t.ctx.Err() != nil { // the roots were closed meanwhile
		return Entry{}, ErrClosed
	}
	t.cfg.Removed(name)
	if listed {
		t.watch.suspect(place{known.mount, parent(known.rel)})
	}
	return Entry{}, &NotFoundError{Name: name}
}

// examine makes the entry at rel from the file as it is now. known is the entry in the index, if
// any.
func (t *Tree) examine(ctx context.Context, m *Mount, rel string, known Entry) (Entry, error) {
	if m.store != nil {
		return t.examineObject(ctx, m, rel, known)
	}
	dir, err := m.Open()
	if err != nil {
		return Entry{}, err
	}
	if known.mount != m {
		// The index lists no path twice through a loop of links. A name made up by a client must
		// not do so either.
		if err := m.descend(dir, rel); err != nil {
			return Entry{}, err
		}
	}
	switch f, ok, err := t.bundle(dir, rel); {
	case err != nil:
		return Entry{}, err
	case ok:
		return m.entry(rel, f), nil
	case t.inBundle(dir, rel):
		return Entry{}, fmt.Errorf("%s: belongs to a folder that is an entry: %w", rel, fs.ErrNotExist)
	}
	f, err := regularFile(dir, rel)
	if err != nil {
		return Entry{}, err
	}
	f.format, f.tables = known.Format, known.tables
	if known.mount != m || known.Identity.With(nil) != f.identity {
		if err := t.recognize(&f, m.name(rel), rel, dir); err != nil {
			return Entry{}, err
		}
	}
	if f.format == "" {
		return Entry{}, fmt.Errorf("%s: not a known format: %w", rel, fs.ErrNotExist)
	}
	return t.withSiblings(m, dir, rel, f)
}

// withSiblings adds the present siblings to the entry of a file. A file that belongs to another one
// is not an entry.
func (t *Tree) withSiblings(m *Mount, dir *os.Root, rel string, f file) (Entry, error) {
	for _, main := range t.cfg.Formats.MainsOf(rel) {
		if _, info, err := source.Locate(dir, main); err == nil && info.Mode().IsRegular() {
			return Entry{}, fmt.Errorf("%s: belongs to %s: %w", rel, main, fs.ErrNotExist)
		}
	}
	if format, _ := t.cfg.Formats.ByName(f.format); len(format.Siblings) > 0 {
		siblings, err := source.SiblingsIn(dir, rel, format.Siblings...)
		if err != nil {
			return Entry{}, err
		}
		f.identity = f.identity.With(siblings)
	}
	return m.entry(rel, f), nil
}

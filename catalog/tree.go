package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/readers/source"
)

// place is a folder of a root.
type place struct {
	root *root
	rel  string // "." for the root itself
}

// folder is what one look at a folder told.
type folder struct {
	id       folderID
	links    int // to folders, on the way here
	files    map[string]file
	subs     map[string]sub
	hasLinks bool // to anything: what they lead to changes without this folder
}

type sub struct {
	id     folderID
	linked bool
}

// tree is what the walks know of all roots. One walk at a time changes it.
type tree map[place]*folder

// walk reads the folder at p and those below it. Folders of old that are still the same lend what
// is known of their files.
func (c *Catalog) walk(ctx context.Context, t, old tree, p place, trail []folderID, links int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := c.readFolder(p, old[p])
	if exhausted(err) {
		return err
	}
	if err != nil {
		// A folder that vanished meanwhile or may not be read has no entries; the others do.
		level := zerolog.DebugLevel
		if errors.Is(err, fs.ErrPermission) && !c.unreadable[p] {
			level, c.unreadable[p] = zerolog.WarnLevel, true
		}
		c.cfg.Log.WithLevel(level).Err(err).Str("folder", p.root.path(p.rel)).Msg("folder left out")
		return nil
	}
	delete(c.unreadable, p)
	f.links = links
	t[p] = f
	trail = append(slices.Clip(trail), f.id)
	for name, s := range f.subs {
		if err := c.enter(ctx, t, old, p, name, s, trail, links); err != nil {
			return err
		}
	}
	return nil
}

// enter walks one folder of p, unless it is a loop.
func (c *Catalog) enter(ctx context.Context, t, old tree, p place, name string, s sub, trail []folderID,
	links int,
) error {
	next := place{p.root, path.Join(p.rel, name)}
	if s.linked {
		links++
	}
	if err := mayEnter(trail, s.id, links); err != nil {
		c.cfg.Log.Debug().Err(err).Str("folder", p.root.path(next.rel)).Msg("folder left out")
		return nil
	}
	return c.walk(ctx, t, old, next, trail, links)
}

// readFolder lists one folder. It is watched first, so that nothing falls between the list and the
// watch.
func (c *Catalog) readFolder(p place, old *folder) (*folder, error) {
	dir, err := p.root.open()
	if err != nil {
		return nil, err
	}
	at, info, err := source.Locate(dir, p.rel)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: not a folder", p.rel)
	}
	c.watch.add(idOf(info), p.root.path(p.rel))
	here, err := dir.OpenRoot(at)
	if err != nil {
		return nil, err
	}
	defer here.Close()
	list, err := here.Open(".")
	if err != nil {
		return nil, err
	}
	defer list.Close()
	if info, err = list.Stat(); err != nil {
		return nil, err
	}
	f := &folder{id: idOf(info), files: map[string]file{}, subs: map[string]sub{}}
	found, err := list.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	for _, d := range found {
		if hidden(d.Name()) {
			continue
		}
		err := c.note(f, old, p, here, d)
		if exhausted(err) {
			return nil, err
		}
		if err != nil {
			c.cfg.Log.Debug().Err(err).Str("file", p.root.path(path.Join(p.rel, d.Name()))).Msg("file left out")
		}
	}
	c.group(f.files)
	return f, nil
}

// group gives files of one folder their siblings, which are no entries.
func (c *Catalog) group(files map[string]file) {
	var byStem map[string][]string // made when the first file asks
	for base, main := range files {
		format, _ := c.cfg.Formats.ByName(main.format)
		if len(format.Siblings) == 0 {
			continue
		}
		if byStem == nil {
			byStem = make(map[string][]string, len(files))
			for other := range files {
				stem := source.Stem(other)
				byStem[stem] = append(byStem[stem], other)
			}
		}
		var beside []source.Sibling
		for _, other := range byStem[source.Stem(base)] {
			if source.IsSibling(base, other, format.Siblings) {
				s := files[other]
				beside = append(beside, source.Sibling{Name: other, Identity: s.identity.With(nil)})
				s.sibling = true
				files[other] = s
			}
		}
		main = files[base]
		main.identity = main.identity.With(beside)
		files[base] = main
	}
}

// note puts a file or a folder that was found in here, which is p, into f. What gives an error is
// not put there, so that the next look tries again.
func (c *Catalog) note(f, old *folder, p place, here *os.Root, d fs.DirEntry) error {
	base := d.Name()
	linked := d.Type()&fs.ModeSymlink != 0
	from, rel := here, base
	var info fs.FileInfo
	var err error
	if linked {
		f.hasLinks = true
		// Only the root knows whether the link stays inside: here would refuse "../x".
		rel = path.Join(p.rel, base)
		if from, err = p.root.open(); err == nil {
			_, info, err = source.Locate(from, rel)
		}
	} else {
		info, err = here.Lstat(base)
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		f.subs[base] = sub{id: idOf(info), linked: linked}
		return nil
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	now := file{identity: source.IdentityOf(info), modified: info.ModTime()}
	if old != nil && old.files[base].identity.With(nil) == now.identity {
		now.format, now.tables = old.files[base].format, old.files[base].tables
	} else if err := c.recognise(&now, p.root.name(path.Join(p.rel, base)), rel, from); err != nil {
		return err
	}
	f.files[base] = now
	return nil
}

// renew reads the folder at p again and, of the folders below it, those that came; those that went
// are dropped.
func (c *Catalog) renew(ctx context.Context, t tree, p place) error {
	old, ok := t[p]
	if !ok {
		return nil // its parent has changed too, and brings it
	}
	f, err := c.readFolder(p, old)
	if exhausted(err) {
		return err
	}
	if err != nil || f.id != old.id && p.rel != "." {
		t.drop(p) // replaced: its parent has changed too, and brings the new one
		return nil
	}
	f.links = old.links
	t[p] = f
	for name, s := range old.subs {
		if now, ok := f.subs[name]; !ok || now != s {
			t.drop(place{p.root, path.Join(p.rel, name)})
		}
	}
	trail := t.trail(p)
	for name, s := range f.subs {
		if _, known := t[place{p.root, path.Join(p.rel, name)}]; known {
			continue
		}
		if err := c.enter(ctx, t, nil, p, name, s, trail, f.links); err != nil {
			return err
		}
	}
	return nil
}

// drop forgets p and all folders below it.
func (t tree) drop(p place) {
	for q := range t {
		if q.root == p.root && below(q.rel, p.rel) {
			delete(t, q)
		}
	}
}

// trail gives the folders from the root to p.
func (t tree) trail(p place) []folderID {
	trail := []folderID{}
	if f := t[place{p.root, "."}]; f != nil {
		trail = append(trail, f.id)
	}
	if p.rel == "." {
		return trail
	}
	for i := range len(p.rel) + 1 {
		if i < len(p.rel) && p.rel[i] != '/' {
			continue
		}
		if f := t[place{p.root, p.rel[:i]}]; f != nil {
			trail = append(trail, f.id)
		}
	}
	return trail
}

// index is what List and Lookup read: immutable.
type index struct {
	files   map[string]*Entry   // by their names
	layers  map[string][]string // of those that are known to have several
	names   []string            // of all entries, sorted: those of files, and of layers
	entries []*Entry            // in the order of names
}

// indexOf gives the entries of all roots. Where two roots have the same name the first root wins,
// and collide is told.
func (c *Catalog) indexOf(t tree, collide func(first, second Entry)) *index {
	x := &index{files: map[string]*Entry{}}
	for _, r := range c.roots {
		for p, f := range t {
			if p.root != r {
				continue
			}
			for base, file := range f.files {
				if file.format == "" || file.sibling {
					continue
				}
				e := r.entry(path.Join(p.rel, base), file)
				if first, ok := x.files[e.Name]; ok {
					collide(*first, e)
					continue
				}
				x.files[e.Name] = &e
				x.names = append(x.names, e.Name)
			}
		}
	}
	return x
}

// arrange sorts the names, and gives each of them its entry.
func (x *index) arrange() {
	slices.Sort(x.names)
	x.entries = make([]*Entry, len(x.names))
	for i, name := range x.names {
		e, ok := x.files[name]
		if !ok {
			e = x.ofLayer(name)
		}
		x.entries[i] = e
	}
}

// from gives the entries whose names begin with prefix.
func (x *index) from(prefix string) []*Entry {
	lo, _ := slices.BinarySearch(x.names, prefix)
	n := sort.Search(len(x.names)-lo, func(i int) bool { return !strings.HasPrefix(x.names[lo+i], prefix) })
	return x.entries[lo : lo+n : lo+n]
}

package catalog

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

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

// walk reads the folder at p and those below it. Folders of old that are still the same lend what is known of their files.
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
		c.cfg.Log.Debug().Err(err).Str("folder", p.root.path(p.rel)).Msg("folder left out")
		return nil
	}
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
func (c *Catalog) enter(ctx context.Context, t, old tree, p place, name string, s sub, trail []folderID, links int) error {
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

// readFolder lists one folder. It is watched first, so that nothing falls between the list and the watch.
func (c *Catalog) readFolder(p place, old *folder) (*folder, error) {
	dir, err := p.root.open()
	if err != nil {
		return nil, err
	}
	at, info, err := p.root.locate(dir, p.rel)
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
	return f, nil
}

// note puts a file or a folder that was found in here, which is p, into f. What gives an error is not put there, so that the next look tries again.
func (c *Catalog) note(f, old *folder, p place, here *os.Root, d fs.DirEntry) error {
	base := d.Name()
	linked := d.Type()&fs.ModeSymlink != 0
	from, at := here, base
	var info fs.FileInfo
	var err error
	if linked {
		f.hasLinks = true
		// Only the root knows whether the link stays inside: here would refuse "../x".
		if from, err = p.root.open(); err == nil {
			at, info, err = p.root.locate(from, path.Join(p.rel, base))
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
	if old != nil && old.files[base].identity == now.identity {
		now.format = old.files[base].format
	} else if now.format, err = recognise(c.cfg.Formats, base, from, at); err != nil {
		return err
	}
	f.files[base] = now
	return nil
}

// renew reads the folder at p again and, of the folders below it, those that came; those that went are dropped.
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
	entries map[string]Entry
	names   []string // sorted
}

// indexOf gives the entries of all roots. Where two roots have the same name the first root wins, and collide is told.
func (c *Catalog) indexOf(t tree, collide func(first, second Entry)) *index {
	x := &index{entries: map[string]Entry{}}
	for _, r := range c.roots {
		for p, f := range t {
			if p.root != r {
				continue
			}
			for base, file := range f.files {
				if file.format == "" {
					continue
				}
				e := r.entry(path.Join(p.rel, base), file)
				if first, ok := x.entries[e.Name]; ok {
					collide(first, e)
					continue
				}
				x.entries[e.Name] = e
				x.names = append(x.names, e.Name)
			}
		}
	}
	slices.Sort(x.names)
	return x
}

// from gives the names that begin with prefix.
func (x *index) from(prefix string) []string {
	lo, _ := slices.BinarySearch(x.names, prefix)
	hi := lo
	for hi < len(x.names) && strings.HasPrefix(x.names[hi], prefix) {
		hi++
	}
	return x.names[lo:hi]
}

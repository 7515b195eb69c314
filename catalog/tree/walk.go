package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/internal/system"
	"github.com/vibeflight/vibeflight/readers/source"
)

// place is a folder of a root.
type place struct {
	mount *Mount
	rel   string // "." for the root itself
}

// folder is the content of a folder when it was read.
type folder struct {
	id       folderID
	links    int // to folders, on the way here
	files    map[string]file
	subs     map[string]sub
	hasLinks bool // to anything: their targets change without this folder
}

type sub struct {
	id     folderID
	linked bool
}

// folders are those of all roots. One walk at a time changes them.
type folders map[place]*folder

// walk reads the folder at p and those below it into all. Formats of files that have not changed
// are taken from old.
func (t *Tree) walk(ctx context.Context, all, old folders, p place, trail []folderID, links int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := t.readFolder(p, old[p])
	if system.Exhausted(err) {
		return err
	}
	if err != nil {
		// A folder that was removed meanwhile, or may not be read, has no entries; the others do.
		level := zerolog.DebugLevel
		if errors.Is(err, fs.ErrPermission) && !t.unreadable[p] {
			level, t.unreadable[p] = zerolog.WarnLevel, true
		}
		t.cfg.Log.WithLevel(level).Err(err).Str("folder", p.mount.path(p.rel)).Msg("folder left out")
		return nil
	}
	delete(t.unreadable, p)
	f.links = links
	all[p] = f
	trail = append(slices.Clip(trail), f.id)
	for name, s := range f.subs {
		if err := t.enter(ctx, all, old, p, name, s, trail, links); err != nil {
			return err
		}
	}
	return nil
}

// enter walks one folder of p, unless it is a loop.
func (t *Tree) enter(ctx context.Context, all, old folders, p place, name string, s sub, trail []folderID,
	links int,
) error {
	next := place{p.mount, path.Join(p.rel, name)}
	if !t.enters(next) {
		return nil
	}
	if s.linked {
		links++
	}
	if err := mayEnter(trail, s.id, links); err != nil {
		t.cfg.Log.Debug().Err(err).Str("folder", p.mount.path(next.rel)).Msg("folder left out")
		return nil
	}
	return t.walk(ctx, all, old, next, trail, links)
}

// readFolder lists one folder. The watch begins first, so that no change between the two is missed.
func (t *Tree) readFolder(p place, old *folder) (*folder, error) {
	dir, err := p.mount.Open()
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
	id := system.IDOf(info, p.mount.path(p.rel))
	t.watch.add(id, p.mount.path(p.rel))
	if whole, ok, err := t.bundle(dir, p.rel); err != nil || ok {
		return &folder{id: id, files: map[string]file{".": whole}}, err
	}
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
	f := &folder{id: system.IDOf(info, p.mount.path(p.rel)), files: map[string]file{}, subs: map[string]sub{}}
	found, err := list.Readdirnames(-1) // ReadDir would stat each file of a root, and note does
	if err != nil {
		return nil, err
	}
	for _, base := range found {
		if hidden(base) {
			continue
		}
		err := t.note(f, old, p, here, base)
		if system.Exhausted(err) {
			return nil, err
		}
		if err != nil {
			t.cfg.Log.Debug().Err(err).Str("file", p.mount.path(path.Join(p.rel, base))).Msg("file left out")
		}
	}
	t.group(f.files)
	return f, nil
}

// group marks the siblings among the files of one folder, which are not entries, and adds them to
// the identities of their main files.
func (t *Tree) group(files map[string]file) {
	var byStem map[string][]string // made for the first file that has siblings
	for base, main := range files {
		format, _ := t.cfg.Formats.ByName(main.format)
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
		var siblings []source.Sibling
		for _, other := range byStem[source.Stem(base)] {
			if source.IsSibling(base, other, format.Siblings) {
				s := files[other]
				siblings = append(siblings, source.Sibling{Name: other, Identity: s.identity.With(nil)})
				s.sibling = true
				files[other] = s
			}
		}
		main = files[base]
		main.identity = main.identity.With(siblings)
		files[base] = main
	}
}

// note adds a file or folder of here, which is the folder at p, to f. After an error it adds nothing,
// so that the next walk tries again.
func (t *Tree) note(f, old *folder, p place, here *os.Root, base string) error {
	from, rel := here, base
	info, err := here.Lstat(base)
	if err != nil {
		return err
	}
	linked := info.Mode()&fs.ModeSymlink != 0
	if linked {
		f.hasLinks = true
		// Only the root knows whether the link stays inside: here would refuse "../x".
		rel = path.Join(p.rel, base)
		if from, err = p.mount.Open(); err == nil {
			_, info, err = source.Locate(from, rel)
		}
		if err != nil {
			return err
		}
	}
	if info.IsDir() {
		id := system.IDOf(info, p.mount.path(path.Join(p.rel, base)))
		f.subs[base] = sub{id: id, linked: linked}
		return nil
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	now := file{identity: source.IdentityOf(info), modified: info.ModTime()}
	if old != nil && old.files[base].identity.With(nil) == now.identity {
		now.format, now.tables = old.files[base].format, old.files[base].tables
	} else if err := t.recognize(&now, p.mount.name(path.Join(p.rel, base)), rel, from); err != nil {
		return err
	}
	f.files[base] = now
	return nil
}

// renew reads the folder at p again. It also reads its new subfolders, and drops the removed ones.
func (t *Tree) renew(ctx context.Context, all folders, p place) error {
	old, ok := all[p]
	if !ok {
		return nil // its parent has changed too, and adds it
	}
	f, err := t.readFolder(p, old)
	if system.Exhausted(err) {
		return err
	}
	if err != nil || f.id != old.id && p.rel != "." {
		all.drop(p) // replaced: its parent has changed too, and adds the new one
		return nil
	}
	f.links = old.links
	all[p] = f
	for name, s := range old.subs {
		if now, ok := f.subs[name]; !ok || now != s {
			all.drop(place{p.mount, path.Join(p.rel, name)})
		}
	}
	trail := all.trail(p)
	for name, s := range f.subs {
		if _, known := all[place{p.mount, path.Join(p.rel, name)}]; known {
			continue
		}
		if err := t.enter(ctx, all, nil, p, name, s, trail, f.links); err != nil {
			return err
		}
	}
	return nil
}

// drop removes p and all folders below it.
func (all folders) drop(p place) {
	for q := range all {
		if q.mount == p.mount && below(q.rel, p.rel) {
			delete(all, q)
		}
	}
}

// trail returns the folders from the root to p.
func (all folders) trail(p place) []folderID {
	trail := []folderID{}
	if f := all[place{p.mount, "."}]; f != nil {
		trail = append(trail, f.id)
	}
	if p.rel == "." {
		return trail
	}
	for i := range len(p.rel) + 1 {
		if i < len(p.rel) && p.rel[i] != '/' {
			continue
		}
		if f := all[place{p.mount, p.rel[:i]}]; f != nil {
			trail = append(trail, f.id)
		}
	}
	return trail
}

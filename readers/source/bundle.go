package source

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Bundle is a kind of folder that users see as one file. The zero value is no kind.
type Bundle struct {
	Extension string   // of the folder, in lower case, with dot: ".gdb"
	Main      string   // name of the file in it that is opened
	Members   []string // extensions of the files that the content depends on, Main's too; in lower case, with dot
}

// Names reports whether a folder of this name may be of the kind.
func (b *Bundle) Names(name string) bool {
	return b.Extension != "" && lower(path.Ext(strings.TrimRight(name, "/"))) == b.Extension
}

func (b *Bundle) has(name string) bool { return slices.Contains(b.Members, lower(path.Ext(name))) }

// lister is a Folder that can tell the names of its files.
type lister interface{ names() ([]string, error) }

func (dir anywhere) names() ([]string, error) {
	f, err := os.Open(string(dir))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func (dir inside) names() ([]string, error) {
	at, _, err := Locate(dir.root, dir.rel)
	if err != nil {
		return nil, err
	}
	f, err := dir.root.Open(at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func (a *archive) names() ([]string, error) { //nolint:unparam // the others read a folder
	return slices.Collect(maps.Keys(a.members)), nil
}

// membersIn returns the files of a bundle, sorted by name.
func membersIn(dir Folder, b *Bundle) ([]Sibling, error) {
	l, ok := dir.(lister)
	if !ok {
		return nil, fmt.Errorf("a folder %s is read from a disk only: make it a %s.zip", b.Extension, b.Extension)
	}
	names, err := l.names()
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !b.has(name) })
	slices.Sort(names)
	infos, err := dir.Look(names)
	if err != nil {
		return nil, err
	}
	var members []Sibling
	for i, info := range infos {
		if info != nil {
			members = append(members, Sibling{names[i], IdentityOf(info)})
		}
	}
	return members, nil
}

// identityOf returns the identity of all members: their size is the sum, their times are the last
// ones. ok is false if the main file is not among them.
func (b *Bundle) identityOf(members []Sibling) (id Identity, ok bool) {
	for _, m := range members {
		id.Size += m.Identity.Size
		id.Mtime, id.Ctime = max(id.Mtime, m.Identity.Mtime), max(id.Ctime, m.Identity.Ctime)
		if m.Name == b.Main {
			id.Inode, ok = m.Identity.Inode, true
		}
	}
	return id.With(members), ok
}

// BundleIn returns the identity of the bundle at rel below root, and the time of its last change. ok
// is false if the folder is not a bundle of this kind.
func BundleIn(root *os.Root, rel string, b Bundle) (id Identity, modified time.Time, ok bool, err error) {
	if !b.Names(rel) || !filepath.IsLocal(rel) {
		return Identity{}, time.Time{}, false, nil
	}
	dir := inside{root, rel}
	if main, err := dir.Look([]string{b.Main}); err != nil || main[0] == nil {
		return Identity{}, time.Time{}, false, err
	}
	members, err := membersIn(dir, &b)
	if err != nil {
		return Identity{}, time.Time{}, false, err
	}
	id, ok = b.identityOf(members)
	return id, time.Unix(0, id.Mtime), ok, nil
}

// IsBundle reports whether the folder at a path is a bundle.
func IsBundle(at string, b Bundle) bool {
	if !b.Names(at) {
		return false
	}
	info, err := os.Stat(filepath.Join(at, b.Main))
	return err == nil && info.Mode().IsRegular()
}

// OpenBundle opens the main file of the bundle at a path under a catalog name. The caller closes it.
// Its identity covers all members.
func OpenBundle(name, at string, b Bundle) (*File, error) { return openBundle(anywhere(at), name, b) }

// OpenBundleIn is OpenBundle of the folder at rel below root, with the rules of OpenIn.
func OpenBundleIn(root *os.Root, name, rel string, b Bundle) (*File, error) {
	if !filepath.IsLocal(rel) {
		return nil, &fs.PathError{Op: "open", Path: rel, Err: fs.ErrInvalid}
	}
	return openBundle(inside{root, rel}, name, b)
}

func openBundle(dir Folder, name string, b Bundle) (*File, error) {
	members, err := membersIn(dir, &b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	id, ok := b.identityOf(members)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name + "/" + b.Main, Err: fs.ErrNotExist}
	}
	f, err := open(dir, name, b.Main)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(members, func(m Sibling) bool { return m.Name == b.Main })
	if f.Identity != members[i].Identity {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", name, ErrChanged)
	}
	f.Path, f.Identity, f.Modified = strings.TrimSuffix(f.Path, "/"+b.Main), id, time.Unix(0, id.Mtime)
	f.bundle = &bundleFiles{Bundle: b, members: members, identity: members[i].Identity}
	return f, nil
}

// bundleFiles is what a File knows of the bundle that it is the main file of.
type bundleFiles struct {
	Bundle
	members  []Sibling // when it was opened
	identity Identity  // of the main file
}

// Member returns the file of a bundle that has a name, or nil if there is none. It is the same each
// time, and is closed with f. An error that wraps ErrChanged says that it changed since f was opened.
func (f *File) Member(name string) (*File, error) {
	if f.bundle == nil {
		return nil, nil
	}
	if name == f.base {
		return f, nil
	}
	i, ok := slices.BinarySearchFunc(f.bundle.members, name, func(m Sibling, name string) int {
		return strings.Compare(m.Name, name)
	})
	if !ok {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.opened[name]; m != nil {
		return m, nil
	}
	m, err := open(f.folder, f.Name+"/"+name, name)
	if err != nil {
		return nil, gone(f.Name+"/"+name, err)
	}
	if was := f.bundle.members[i].Identity; f.packed == nil && m.Identity != was {
		_ = m.Close()
		return nil, fmt.Errorf("%s: %w: was %v, is %v", m.Name, ErrChanged, was, m.Identity)
	}
	m.main = f
	if f.opened == nil {
		f.opened = map[string]*File{}
	}
	f.opened[name] = m
	return m, nil
}

// MemberNames returns the names of the files of a bundle, sorted. It is nil for any other file.
func (f *File) MemberNames() []string {
	if f.bundle == nil {
		return nil
	}
	names := make([]string, len(f.bundle.members))
	for i := range names {
		names[i] = f.bundle.members[i].Name
	}
	return names
}

// AllBytes returns the size of the file, or that of all files of a bundle.
func (f *File) AllBytes() int64 {
	if f.bundle == nil {
		return f.Size
	}
	total := int64(0)
	for _, m := range f.bundle.members {
		total += m.Identity.Size
	}
	return total
}

// bundleUnchanged is Unchanged of a bundle.
func (f *File) bundleUnchanged() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, err := membersIn(f.folder, &f.bundle.Bundle)
	if err != nil {
		return fmt.Errorf("%s: %w (%w)", f.Name, ErrChanged, err)
	}
	if !slices.Equal(now, f.bundle.members) {
		return fmt.Errorf("%s: %w: one of its files is another one, or came, or went", f.Name, ErrChanged)
	}
	for _, m := range f.opened {
		if info, err := m.content.Stat(); err != nil || IdentityOf(info) != m.Identity {
			return fmt.Errorf("%s: %w", m.Name, ErrChanged)
		}
	}
	if info, err := f.content.Stat(); err != nil || IdentityOf(info) != f.bundle.identity {
		return fmt.Errorf("%s: %w", f.Name, ErrChanged)
	}
	return nil
}

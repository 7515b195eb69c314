package source

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// Sibling is a file that lies next to another of the same stem and belongs to it, as roads.dbf to
// roads.shp.
type Sibling struct {
	Name     string // its last component
	Identity Identity
}

// With is the identity of a file together with its siblings, in any order: another one if any of
// them changes, appears or vanishes.
func (id Identity) With(siblings []Sibling) Identity {
	id.Siblings = [16]byte{}
	if len(siblings) == 0 {
		return id
	}
	h := sha256.New()
	for _, s := range slices.SortedFunc(slices.Values(siblings), func(a, b Sibling) int {
		return strings.Compare(a.Name, b.Name)
	}) {
		h.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(s.Name))))
		h.Write([]byte(s.Name))
		h.Write(s.Identity.bytes())
	}
	copy(id.Siblings[:], h.Sum(nil))
	return id
}

// Spellings are the names that a file next to the one called name has if it has the same stem and
// the extension, in ASCII letters of any case: lower case first, upper case last. What belongs to
// an archive is in it: next to one there is nothing.
//
//	Spellings("roads.shp", ".qi") = roads.qi roads.Qi roads.qI roads.QI
//
// What follows a hyphen in an extension is appended to the whole name, as SQLite does:
//
//	Spellings("roads.GPKG", ".gpkg-wal") = roads.GPKG-wal
func Spellings(name, extension string) []string {
	if archived(name) {
		return nil
	}
	if own, suffix, ok := strings.Cut(extension, "-"); ok {
		if lower(path.Ext(name)) != own {
			return nil
		}
		return []string{name + "-" + suffix}
	}
	names := []string{Stem(name)}
	for _, b := range []byte(lower(extension)) {
		next := make([]string, 0, 2*len(names))
		for _, s := range names {
			next = append(next, s+string([]byte{b}))
		}
		if 'a' <= b && b <= 'z' {
			for _, s := range names {
				next = append(next, s+string([]byte{b - 'a' + 'A'}))
			}
		}
		names = next
	}
	return names
}

// IsSibling reports whether other is among the spellings of name with any of the extensions, which
// are in lower case and have one dot, at the front.
func IsSibling(name, other string, extensions []string) bool {
	if _, suffix, ok := strings.Cut(path.Ext(other), "-"); ok && !strings.HasSuffix(other, name+"-"+suffix) {
		return false
	}
	return name != other && !archived(name) && Stem(name) == Stem(other) && slices.Contains(extensions,
		lower(path.Ext(other)))
}

func archived(name string) bool {
	p, _ := PackingOf(name)
	return p == Zip || p == KMZ
}

// Stem is what a file and its siblings have in common: "roads" of "roads.shp", and of
// "roads.gml.gz".
func Stem(name string) string {
	if p, inner := PackingOf(name); p == Gzip || p == Zstd {
		name = inner
	}
	return strings.TrimSuffix(name, path.Ext(name))
}

// lower is the extension in lower case, as far as it is ASCII.
func lower(extension string) string {
	b := []byte(extension)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c - 'A' + 'a'
		}
	}
	return string(b)
}

// SiblingsIn gives the siblings of the file at rel below root that have one of the extensions, as
// OpenIn finds them.
func SiblingsIn(root *os.Root, rel string, extensions ...string) ([]Sibling, error) {
	f := File{folder: inside{root, path.Dir(rel)}, base: path.Base(rel)}
	if err := f.sight(extensions...); err != nil {
		return nil, err
	}
	return f.Siblings(), nil
}

// Siblings are the siblings that f was opened with or that were asked for since, sorted by name.
func (f *File) Siblings() []Sibling {
	if f.bundle != nil {
		return slices.DeleteFunc(slices.Clone(f.bundle.members), func(m Sibling) bool { return m.Name == f.base })
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Sibling
	for _, found := range f.seen {
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b Sibling) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Sibling gives the file next to f that has the same stem and one of the extensions, of which the
// first one found wins: ".dbf" of "roads.shp" is "roads.dbf" or "roads.DBF", in this order. It is
// nil if there is none. The answer is the same each time, is closed with f alone, and what it reads
// counts as read by f too. Which siblings there are, and that they stay what they are, is something
// that Unchanged looks at from then on. An error that wraps ErrChanged says that they changed since
// f was opened.
func (f *File) Sibling(extensions ...string) (*File, error) {
	switch {
	case f.bundle != nil:
		return nil, nil
	case f.main != nil:
		return f.main.Sibling(extensions...)
	case f.folder == nil:
		return f.packed.Sibling(extensions...)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, ext := range extensions {
		s, err := f.sibling(lower(ext))
		if s != nil || err != nil {
			return s, err
		}
	}
	return nil, nil
}

// sibling gives the file of one extension; f.mu is held.
func (f *File) sibling(ext string) (*File, error) {
	if s := f.opened[ext]; s != nil {
		return s, nil
	}
	if err := f.sight(ext); err != nil {
		return nil, gone(f.Name, err)
	}
	seen := f.seen[ext]
	if len(seen) == 0 {
		return nil, nil
	}
	name := path.Join(path.Dir(f.Name), seen[0].Name)
	s, err := open(f.folder, name, seen[0].Name)
	if err != nil {
		return nil, gone(name, err)
	}
	if s.Identity != seen[0].Identity {
		_ = s.Close()
		return nil, fmt.Errorf("%s: %w: was %v, is %v", name, ErrChanged, seen[0].Identity, s.Identity)
	}
	s.main = f
	if f.opened == nil {
		f.opened = map[string]*File{}
	}
	f.opened[ext] = s
	if f.whole {
		s.Prefetch([2]int64{0, s.Size})
	}
	return s, nil
}

// sight remembers what there is of the extensions; f.mu is held, or nobody else has f yet.
func (f *File) sight(extensions ...string) error {
	var unknown []string
	for _, ext := range extensions {
		if _, known := f.seen[ext]; !known {
			unknown = append(unknown, ext)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	found, err := f.present(unknown)
	if err != nil {
		return err
	}
	if f.seen == nil {
		f.seen = map[string][]Sibling{}
	}
	for i, ext := range unknown {
		f.seen[ext] = found[i]
	}
	return nil
}

// present returns the siblings that exist now, by extension.
func (f *File) present(extensions []string) ([][]Sibling, error) {
	var names []string
	var of []int // index of the extension
	for i, ext := range extensions {
		for _, name := range Spellings(f.base, ext) {
			if name != f.base {
				names, of = append(names, name), append(of, i)
			}
		}
	}
	infos, err := f.folder.Look(names)
	if err != nil {
		return nil, err
	}
	found := make([][]Sibling, len(extensions))
	for i, info := range infos {
		if info != nil {
			found[of[i]] = append(found[of[i]], Sibling{Name: names[i], Identity: IdentityOf(info)})
		}
	}
	return found, nil
}

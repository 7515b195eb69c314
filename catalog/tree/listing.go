package tree

import (
	"path"
	"slices"
	"sort"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// listing is the files of a root, sorted by name. It is immutable. Names do not have the root's alias.
//
// A million objects use about 60 bytes each, and a new listing shares the pages of the former one
// whose files have not changed: where a page ends depends on the names next to that place alone.
type listing struct {
	pages   []*page
	formats []string // of a Tree
	entries int      // files that are entries
}

// Sizes of pages, in files. Within the limits, a page ends after a name whose hash pageEnd divides.
const (
	minPage = 256
	pageEnd = 256
	maxPage = 2048
)

// spot is the place of a file in a listing.
type spot struct{ page, file int }

// search returns the spot of the first file whose name is not less than a name.
func (l *listing) search(name string) spot {
	if len(l.pages) == 0 {
		return spot{}
	}
	n := sort.Search(len(l.pages), func(i int) bool { return l.pages[i].compare(0, name) > 0 })
	if n == 0 {
		return spot{}
	}
	if i := l.pages[n-1].search(name); i < l.pages[n-1].len() {
		return spot{n - 1, i}
	}
	return spot{n, 0}
}

// find returns the file of a name.
func (l *listing) find(name string) (file, bool) {
	at := l.search(name)
	if at.page == len(l.pages) || l.pages[at.page].compare(at.file, name) != 0 {
		return file{}, false
	}
	return l.file(at), true
}

func (l *listing) file(at spot) file { return l.pages[at.page].file(at.file, l.formats) }

// siblingsOf returns the files of the listing that belong to the file at rel.
func (l *listing) siblingsOf(rel string, extensions []string) []source.Sibling {
	dir, base := path.Split(rel)
	var siblings []source.Sibling
	for _, ext := range extensions {
		for _, name := range source.Spellings(base, ext) {
			if f, ok := l.find(escape(dir + name)); ok && name != base {
				siblings = append(siblings, source.Sibling{Name: name, Identity: f.identity.With(nil)})
			}
		}
	}
	return siblings
}

// builder makes a listing of files that come sorted by name.
type builder struct {
	formats readers.Registry
	names   []string // of the formats
	old     *listing // whose pages are shared
	at      int      // first page of old that the next page may equal
	pending []namedFile
	mains   int      // pending files that may have siblings
	others  int      // pending files that may be siblings
	open    string   // names less than this may be of the same group of siblings as a pending file
	made    *listing // apart, since it outlives the builder
}

func (t *Tree) newBuilder(old *listing) *builder {
	return &builder{formats: t.cfg.Formats, names: t.formats, old: old, made: &listing{formats: t.formats}}
}

// last returns the name of the last file, or "".
func (b *builder) last() string {
	if len(b.pending) == 0 {
		return ""
	}
	return b.pending[len(b.pending)-1].name
}

// add adds a file. Its name is not less than the last one. A file of the last name replaces it.
func (b *builder) add(name string, f file) {
	if n := len(b.pending); n > 0 && b.pending[n-1].name == name {
		b.pending[n-1].file = f
		return
	}
	if b.ends(name) {
		b.flush()
	}
	b.pending = append(b.pending, namedFile{name, f})
}

// addObject adds a file of a store, unless it has no format and can't belong to a file that has one.
// Its siblings are found when the page ends.
func (b *builder) addObject(name, rel string, f file) {
	other := b.formats.IsSibling(path.Base(rel))
	if f.format == "" && !other {
		return
	}
	b.add(name, f)
	format, _ := b.formats.ByName(f.format)
	if other {
		b.others++
	}
	if len(format.Siblings) > 0 {
		b.mains++
	}
	if other || len(format.Siblings) > 0 {
		// The name of a sibling begins with the stem and '.', and '/' follows '.'.
		b.open = max(b.open, escape(stemOf(rel))+"/")
	}
}

// ends reports whether the page ends in front of a name.
func (b *builder) ends(name string) bool {
	n := len(b.pending)
	return n >= minPage && name >= b.open && (n >= maxPage || hashOf(b.last())%pageEnd == 0)
}

// hashOf returns the FNV-1a hash of a name.
func hashOf(name string) uint32 {
	h := uint32(2166136261)
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return h
}

// flush ends the page.
func (b *builder) flush() {
	if len(b.pending) == 0 {
		return
	}
	if b.mains > 0 && b.others > 0 {
		b.group()
	}
	p := newPage(b.pending, b.names)
	clear(b.pending)
	b.pending, b.mains, b.others, b.open = b.pending[:0], 0, 0, ""
	if b.old != nil {
		first := p.name("", 0)
		for b.at < len(b.old.pages) && b.old.pages[b.at].compare(0, first) < 0 {
			b.at++
		}
		if b.at < len(b.old.pages) && b.old.pages[b.at].equal(p) {
			p = b.old.pages[b.at]
		}
	}
	for i := range p.len() {
		if p.isEntry(i) {
			b.made.entries++
		}
	}
	b.made.pages = append(b.made.pages, p)
}

// group marks the siblings among the pending files, which are not entries, and adds them to the
// identities of their main files.
func (b *builder) group() {
	byStem := map[string][]int{}
	rels := make([]string, len(b.pending))
	for i := range b.pending {
		rels[i], _ = unescape(b.pending[i].name)
		stem := stemOf(rels[i])
		byStem[stem] = append(byStem[stem], i)
	}
	for i := range b.pending {
		main := &b.pending[i].file
		format, _ := b.formats.ByName(main.format)
		if len(format.Siblings) == 0 {
			continue
		}
		var siblings []source.Sibling
		for _, k := range byStem[stemOf(rels[i])] {
			if other := path.Base(rels[k]); source.IsSibling(path.Base(rels[i]), other, format.Siblings) {
				s := &b.pending[k].file
				siblings = append(siblings, source.Sibling{Name: other, Identity: s.identity.With(nil)})
				s.sibling = true
			}
		}
		main.identity = main.identity.With(siblings)
	}
}

// stemOf returns the folder and the stem of a path.
func stemOf(rel string) string {
	dir, base := path.Split(rel)
	return dir + source.Stem(base)
}

// finish returns the listing, which is the former one if nothing has changed.
func (b *builder) finish() *listing {
	b.flush()
	b.pending = nil
	if b.old != nil && slices.Equal(b.old.pages, b.made.pages) {
		return b.old
	}
	b.made.pages = slices.Clip(b.made.pages)
	return b.made
}

// differ calls report with the names of the files that are not the same in two listings, or that only
// one of them has.
func (l *listing) differ(other *listing, report func(name string)) {
	if l == other {
		return
	}
	a, b := newCursor(nil, l, spot{}), newCursor(nil, other, spot{})
	for a.valid || b.valid {
		switch {
		case !b.valid || a.valid && a.name < b.name:
			report(a.name)
			a.step()
		case !a.valid || b.name < a.name:
			report(b.name)
			b.step()
		case a.at.file == 0 && b.at.file == 0 && a.page() == b.page():
			a.skipPage()
			b.skipPage()
		default:
			if f, g := a.file(), b.file(); f.identity != g.identity || f.sibling != g.sibling {
				report(a.name)
			}
			a.step()
			b.step()
		}
	}
}

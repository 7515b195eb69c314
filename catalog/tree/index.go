package tree

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// index is what List and Lookup read: immutable. Entries of files are made when they are requested.
type index struct {
	number   uint64 // of the indexes of a Tree
	mounts   []*Mount
	listings []*listing          // of the mounts
	datasets map[string]*Entry   // by their names
	layers   map[string][]string // of the files that are known to have several, by the files' names
	extra    []*Entry            // datasets and layers, sorted by name
	replaced map[string]bool     // files that have their layers in extra
	files    int                 // entries of files and datasets
}

// indexOf returns the index of the listings of all roots. If two roots have a file of the same name,
// the first root wins, and collide is called.
func (t *Tree) indexOf(listings []*listing, collide func(first, second Entry)) *index {
	x := &index{mounts: t.mounts, listings: listings}
	for i, l := range listings {
		if !t.mounts[i].Unlisted {
			x.files += l.entries
		}
	}
	if x.overlap() {
		merge(x.cursors("", true), func(first, second *cursor) {
			collide(first.entry(), second.entry())
			if !second.mount.Unlisted {
				x.files--
			}
		}, func(*cursor) bool { return true })
	}
	t.addDatasets(x, collide)
	return x
}

// count returns the number of all entries that are listed.
func (x *index) count() int { return x.files + len(x.extra) - len(x.datasets) - len(x.replaced) }

// listing returns that of a root, or nil before the first walk.
func (x *index) listing(i int) *listing {
	if i < len(x.listings) {
		return x.listings[i]
	}
	return nil
}

// overlap reports whether two roots may have an entry of the same name.
func (x *index) overlap() bool {
	type names struct{ first, last string }
	var all []names
	for i, l := range x.listings {
		if len(l.pages) == 0 {
			continue
		}
		last := l.pages[len(l.pages)-1]
		n := names{l.pages[0].name(x.mounts[i].head(), 0), last.name(x.mounts[i].head(), last.len()-1)}
		if slices.ContainsFunc(all, func(o names) bool { return o.first <= n.last && n.first <= o.last }) {
			return true
		}
		all = append(all, n)
	}
	return false
}

// cursors returns cursors at the first names of the roots that are not less than a name.
func (x *index) cursors(name string, unlisted bool) []*cursor {
	var all []*cursor
	for i, l := range x.listings {
		if unlisted || !x.mounts[i].Unlisted {
			all = append(all, from(x.mounts[i], l, name))
		}
	}
	return all
}

// find returns the entry of a file or a dataset.
func (x *index) find(name string) (Entry, bool) {
	if e := x.datasets[name]; e != nil {
		return *e, true
	}
	for i, l := range x.listings {
		m := x.mounts[i]
		rest, ok := strings.CutPrefix(name, m.head())
		if !ok {
			continue
		}
		if f, ok := l.find(rest); ok && f.format != "" && !f.sibling {
			rel, _ := unescape(rest)
			return m.entryNamed(name, rel, f), true
		}
	}
	return Entry{}, false
}

// from returns the entries whose names begin with prefix, sorted by name.
func (x *index) from(prefix string) iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		at, _ := slices.BinarySearchFunc(x.extra, prefix, func(e *Entry, name string) int {
			return cmp.Compare(e.Name, name)
		})
		extra := x.extra[at:]
		stopped := false
		merge(x.cursors(prefix, false), nil, func(c *cursor) bool {
			if !strings.HasPrefix(c.name, prefix) {
				return false
			}
			for len(extra) > 0 && extra[0].Name < c.name {
				stopped = !yield(extra[0])
				if extra = extra[1:]; stopped {
					return false
				}
			}
			if len(extra) > 0 && extra[0].Name == c.name || x.replaced[c.name] {
				return true
			}
			e := c.entry()
			stopped = !yield(&e)
			return !stopped
		})
		for _, e := range extra {
			if stopped || !strings.HasPrefix(e.Name, prefix) || !yield(e) {
				return
			}
		}
	}
}

// maxWalked is how many files are looked at, in front of a name and after it, to find its neighbors.
const maxWalked = 1 << 16

// neighbors returns the names next to a name that exist, sorted: those of up to n files in front of it
// and of n that follow, in each root.
func (x *index) neighbors(name string, n int, exists func(name string) bool) []string {
	var names []string
	add := func(name string) {
		if !x.replaced[name] && exists(name) {
			names = append(names, name)
		}
	}
	for _, c := range x.cursors(name, false) {
		back, first := c.at, len(names)
		for k := 0; k < maxWalked && len(names)-first < n; k++ {
			if back.file--; back.file < 0 {
				if back.page--; back.page < 0 {
					break
				}
				back.file = c.l.pages[back.page].len() - 1
			}
			if p := c.l.pages[back.page]; p.isEntry(back.file) {
				add(p.name(c.head, back.file))
			}
		}
		first = len(names)
		for k := 0; k < maxWalked && len(names)-first < n && c.valid; k++ {
			if c.page().isEntry(c.at.file) {
				add(c.name)
			}
			c.step()
		}
	}
	at, _ := slices.BinarySearchFunc(x.extra, name, func(e *Entry, name string) int {
		return cmp.Compare(e.Name, name)
	})
	for _, e := range x.extra[max(0, at-n):min(len(x.extra), at+n)] {
		if exists(e.Name) {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

package tree

import (
	"path"
	"slices"
	"sort"
	"strings"
)

// index is what List and Lookup read: immutable.
type index struct {
	files   map[string]*Entry   // by their names
	layers  map[string][]string // of those that are known to have several
	names   []string            // of all entries, sorted: those of files, and of layers
	entries []*Entry            // in the order of names
}

// indexOf returns the index of the files of all roots. If two roots have a file of the same name,
// the first root wins, and collide is called.
func (t *Tree) indexOf(all folders, collide func(first, second Entry)) *index {
	x := &index{files: map[string]*Entry{}}
	for _, m := range t.mounts {
		for p, f := range all {
			if p.mount != m {
				continue
			}
			for base, file := range f.files {
				if file.format == "" || file.sibling {
					continue
				}
				e := m.entry(path.Join(p.rel, base), file)
				if first, ok := x.files[e.Name]; ok {
					collide(*first, e)
					continue
				}
				x.files[e.Name] = &e
				if !m.Unlisted {
					x.names = append(x.names, e.Name)
				}
			}
		}
	}
	t.addDatasets(x, collide)
	return x
}

// arrange sorts the names and finds the entry of each.
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

// from returns the entries whose names begin with prefix.
func (x *index) from(prefix string) []*Entry {
	lo, _ := slices.BinarySearch(x.names, prefix)
	n := sort.Search(len(x.names)-lo, func(i int) bool { return !strings.HasPrefix(x.names[lo+i], prefix) })
	return x.entries[lo : lo+n : lo+n]
}

package tree

import "strings"

// cursor is the position of one file in the listing of a root.
type cursor struct {
	mount *Mount
	l     *listing
	head  string // of all names in the catalog: the root's alias and '/', or ""
	at    spot
	name  string // of the file, with head
	valid bool   // there is a file at the position
}

// newCursor returns a cursor at a file of a listing. Without a mount, names have no alias.
func newCursor(m *Mount, l *listing, at spot) *cursor {
	c := &cursor{mount: m, l: l, at: at}
	if m != nil {
		c.head = m.head()
	}
	c.arrive()
	return c
}

// from returns a cursor at the first file of a root whose name in the catalog is not less than a
// name.
func from(m *Mount, l *listing, name string) *cursor {
	head := m.head()
	rest, ok := strings.CutPrefix(name, head)
	switch {
	case ok:
		return newCursor(m, l, l.search(rest))
	case name < head:
		return newCursor(m, l, spot{})
	}
	return newCursor(m, l, spot{page: len(l.pages)})
}

// arrive reads the name of the file at the position.
func (c *cursor) arrive() {
	c.valid = c.at.page < len(c.l.pages)
	if c.valid {
		c.name = c.page().name(c.head, c.at.file)
	}
}

func (c *cursor) page() *page { return c.l.pages[c.at.page] }

func (c *cursor) file() file { return c.l.file(c.at) }

// step goes to the next file.
func (c *cursor) step() {
	if c.at.file++; c.at.file == c.page().len() {
		c.at = spot{page: c.at.page + 1}
	}
	c.arrive()
}

// skipPage goes to the first file of the next page.
func (c *cursor) skipPage() {
	c.at = spot{page: c.at.page + 1}
	c.arrive()
}

// toEntry goes to the next file that is an entry, unless there is one at the position.
func (c *cursor) toEntry() {
	for c.valid && !c.page().isEntry(c.at.file) {
		c.step()
	}
}

// entry returns the entry at the position.
func (c *cursor) entry() Entry {
	return c.mount.entryNamed(c.name, c.rel(), c.file())
}

// rel returns the path of the file below its root.
func (c *cursor) rel() string {
	rel, _ := unescape(c.name[len(c.head):])
	return rel
}

// merge calls yield with a cursor at each entry of several roots, sorted by name, until yield returns
// false. If several roots have an entry of the name, the first root wins, and collide is called
// with the cursors of both. collide may be nil. The cursors must not be used afterwards.
func merge(roots []*cursor, collide func(first, second *cursor), yield func(*cursor) bool) {
	garbage := newGarbage()
	for {
		garbage.collect()
		var first *cursor
		for _, c := range roots {
			switch c.toEntry(); {
			case !c.valid:
			case first == nil || c.name < first.name:
				first = c
			}
		}
		if first == nil || !yield(first) {
			return
		}
		for _, c := range roots {
			if c == first || !c.valid || c.name != first.name {
				continue
			}
			if collide != nil {
				collide(first, c)
			}
			c.step()
		}
		first.step()
	}
}

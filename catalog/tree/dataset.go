package tree

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"slices"
	"time"

	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/source"
)

// DatasetFormat is the format of the entry of a dataset.
const DatasetFormat = "dataset"

// Dataset is many files that are one table. Its entry is listed like that of a file.
type Dataset struct {
	Name string
	// Match reports whether a file is a member. Only the name and the root of e are set.
	Match func(e *Entry) bool
	// Enter reports whether a folder of an unlisted root may have members, or folders with members.
	Enter func(root Root, rel string) bool
}

// members are the files of a dataset, as of a walk: places in listings, sorted by name.
type members struct {
	mounts   []*Mount
	listings []*listing
	places   []memberPlace
}

type memberPlace struct{ root, page, file uint32 }

// IsDataset reports whether the entry is that of a dataset.
func (e Entry) IsDataset() bool { return e.members != nil }

// MemberCount returns the number of files of a dataset.
func (e Entry) MemberCount() int {
	if e.members == nil {
		return 0
	}
	return len(e.members.places)
}

// Members returns the files of a dataset, sorted by name, as of the last walk.
func (e Entry) Members() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		garbage := newGarbage()
		for i := range e.MemberCount() {
			garbage.collect()
			if !yield(e.members.at(i)) {
				return
			}
		}
	}
}

func (m *members) at(i int) Entry {
	at := m.places[i]
	l, mount := m.listings[at.root], m.mounts[at.root]
	name := l.pages[at.page].name(mount.head(), int(at.file))
	rel, _ := unescape(name[len(mount.head()):])
	return mount.entryNamed(name, rel, l.file(spot{int(at.page), int(at.file)}))
}

// addDatasets adds the entries of the datasets, and counts them. A dataset has precedence over a file
// of its name, for which collide is called.
func (t *Tree) addDatasets(x *index, collide func(first, second Entry)) {
	if len(t.cfg.Datasets) == 0 {
		return
	}
	found := make([]*members, len(t.cfg.Datasets))
	for i := range found {
		found[i] = &members{mounts: x.mounts, listings: x.listings}
	}
	merge(x.cursors("", true), nil, func(c *cursor) bool {
		e := Entry{Name: c.name, mount: c.mount, rel: c.rel()}
		at := memberPlace{uint32(slices.Index(x.mounts, c.mount)), uint32(c.at.page), uint32(c.at.file)}
		for i, d := range t.cfg.Datasets {
			if d.Match(&e) {
				found[i].places = append(found[i].places, at)
			}
		}
		return true
	})
	sets := make(map[string]*Entry, len(found))
	for i, d := range t.cfg.Datasets {
		e := &Entry{Name: d.Name, Format: DatasetFormat, Path: "dataset " + d.Name, members: found[i]}
		e.Identity, e.Modified = identityOf(*e)
		e.Size = e.Identity.Size
		file, taken := x.find(d.Name)
		if taken {
			collide(*e, file)
		}
		if !taken || file.mount.Unlisted {
			x.files++
		}
		sets[d.Name] = e
	}
	x.datasets = sets
}

// enters reports whether a walk reads a folder. Those of a listed root are all read.
func (t *Tree) enters(p place) bool {
	if p.mount.Only != "" {
		return p.rel == p.mount.Only
	}
	return !p.mount.Unlisted || slices.ContainsFunc(t.cfg.Datasets, func(d Dataset) bool {
		return d.Enter(p.mount.Root, p.rel)
	})
}

// identityOf returns the identity of the members of a dataset as one: the bytes of all, the newest
// time, and a digest of their names and identities; and the time of the newest member.
func identityOf(dataset Entry) (id source.Identity, modified time.Time) {
	h := sha256.New()
	var b []byte
	for e := range dataset.Members() {
		b = binary.LittleEndian.AppendUint32(b[:0], uint32(len(e.Name)))
		b = append(b, e.Name...)
		b = append(b, e.Format...)
		b = e.Identity.Append(b)
		h.Write(b)
		id.Size += e.Size
		id.Mtime = max(id.Mtime, e.Identity.Mtime)
		id.Ctime = max(id.Ctime, e.Identity.Ctime)
		if e.Modified.After(modified) {
			modified = e.Modified
		}
	}
	copy(id.Siblings[:], h.Sum(nil))
	return id, modified
}

// dataset returns the entry of a dataset.
func (t *Tree) dataset(name string) (Entry, bool) {
	e := t.index.Load().datasets[name]
	if e == nil {
		return Entry{}, false
	}
	return *e, true
}

// Root returns the root that an entry's file is below.
func (e Entry) Root() Root { return e.mount.Root }

// UnlistedRoot returns the root of a folder, or of a URL, whose files are only members of datasets.
func UnlistedRoot(dir string) Root {
	if remote.IsURL(dir) {
		return Root{Alias: escape(remote.Address(dir)), URL: dir, Unlisted: true}
	}
	return Root{Alias: escape(dir), Dir: dir, Unlisted: true}
}

package tree

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
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
	// Match reports whether a file is a member.
	Match func(e *Entry) bool
	// Enter reports whether a folder of an unlisted root may have members, or folders with members.
	Enter func(root Root, rel string) bool
}

// members are the files of a dataset, as of a walk.
type members struct {
	files []*Entry // sorted by name
}

// IsDataset reports whether the entry is that of a dataset.
func (e Entry) IsDataset() bool { return e.members != nil }

// Members returns the files of a dataset, sorted by name, as of the last walk. The slice must not
// be modified.
func (e Entry) Members() []*Entry {
	if e.members == nil {
		return nil
	}
	return e.members.files
}

// addDatasets adds the entries of the datasets. A dataset has precedence over a file of its name, for
// which collide is called.
func (t *Tree) addDatasets(x *index, collide func(first, second Entry)) {
	for _, d := range t.cfg.Datasets {
		found := &members{}
		for _, e := range x.files {
			if !e.IsDataset() && d.Match(e) {
				found.files = append(found.files, e)
			}
		}
		slices.SortFunc(found.files, func(a, b *Entry) int { return cmp.Compare(a.Name, b.Name) })
		id := identityOf(found.files)
		var modified time.Time
		for _, f := range found.files {
			if f.Modified.After(modified) {
				modified = f.Modified
			}
		}
		e := &Entry{
			Name: d.Name, Format: DatasetFormat, Path: "dataset " + d.Name, Size: id.Size, Identity: id,
			Modified: modified, members: found,
		}
		if file, taken := x.files[d.Name]; taken {
			collide(*e, *file)
		} else {
			x.names = append(x.names, d.Name)
		}
		x.files[d.Name] = e
	}
}

// enters reports whether a walk reads a folder. Those of a listed root are all read.
func (t *Tree) enters(p place) bool {
	return !p.mount.Unlisted || slices.ContainsFunc(t.cfg.Datasets, func(d Dataset) bool {
		return d.Enter(p.mount.Root, p.rel)
	})
}

// identityOf returns the identity of files as one: the bytes of all, the newest time, and a digest
// of their names and identities.
func identityOf(files []*Entry) (id source.Identity) {
	h := sha256.New()
	var b []byte
	for _, e := range files {
		b = binary.LittleEndian.AppendUint32(b[:0], uint32(len(e.Name)))
		b = append(b, e.Name...)
		b = append(b, e.Format...)
		b = e.Identity.Append(b)
		h.Write(b)
		id.Size += e.Size
		id.Mtime = max(id.Mtime, e.Identity.Mtime)
		id.Ctime = max(id.Ctime, e.Identity.Ctime)
	}
	copy(id.Siblings[:], h.Sum(nil))
	return id
}

// dataset returns the entry of a dataset.
func (t *Tree) dataset(name string) (Entry, bool) {
	e := t.index.Load().files[name]
	if e == nil || !e.IsDataset() {
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

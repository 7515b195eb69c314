package faulty

import (
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// sector is the unit, in bytes, that a disk writes completely or not at all.
const sector = 512

// node is the content of a regular file, independent of its name.
type node struct {
	disk    []byte  // at the last sync
	pending []write // writes since the last sync
}

// write is a call of WriteAt. If data is nil, it is a call of Truncate to off.
type write struct {
	off  int64
	data []byte
}

func (n *node) write(p []byte, off int64) {
	n.pending = append(n.pending, write{off, append([]byte{}, p...)})
}

func (n *node) truncate(size int64) { n.pending = append(n.pending, write{size, nil}) }

// sync makes all pending writes durable.
func (n *node) sync() {
	for _, w := range n.pending {
		n.disk = w.apply(n.disk, func() bool { return true })
	}
	n.pending = nil
}

// survive returns what the file contains after a power loss.
func (n *node) survive(random *rand.Rand) []byte {
	b := slices.Clone(n.disk)
	for _, w := range n.pending {
		switch random.IntN(3) {
		case 0: // kept
			b = w.apply(b, func() bool { return true })
		case 1: // torn, though the length may be that of a complete write
			b = w.apply(b, func() bool { return random.IntN(2) == 0 })
		}
	}
	return b
}

// apply performs the write, but only for sectors for which keep returns true.
func (w write) apply(b []byte, keep func() bool) []byte {
	if w.data == nil {
		return resize(b, int(w.off))
	}
	if len(w.data) == 0 {
		return b
	}
	from, end := int(w.off), int(w.off)+len(w.data)
	b = resize(b, max(len(b), end))
	for from < end {
		to := min((from/sector+1)*sector, end)
		if keep() {
			copy(b[from:to], w.data[from-int(w.off):])
		}
		from = to
	}
	return b
}

// resize truncates b or appends zeros.
func resize(b []byte, size int) []byte {
	if size <= len(b) {
		return b[:size]
	}
	return append(b, make([]byte, size-len(b))...)
}

// folder has the names in a folder.
type folder struct {
	now, disk map[string]*node
	pending   []func(names map[string]*node) // changes that are in now and not yet in disk
}

func (d *folder) change(do func(names map[string]*node)) {
	do(d.now)
	d.pending = append(d.pending, do)
}

// sync makes all names durable.
func (d *folder) sync() {
	d.disk, d.pending = maps.Clone(d.now), nil
}

// folder returns the folder of a path. Files that existed at its first use count as synced.
func (f *FS) folder(path string) (*folder, error) {
	path = filepath.Clean(path)
	if d := f.folders[path]; d != nil {
		return d, nil
	}
	entries, err := f.inner.ReadDir(path)
	if err != nil {
		return nil, err
	}
	d := &folder{now: map[string]*node{}}
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		content, err := f.content(filepath.Join(path, entry.Name()))
		if err != nil {
			return nil, err
		}
		d.now[entry.Name()] = &node{disk: content}
	}
	d.sync()
	f.folders[path] = d
	return d, nil
}

// content reads a file of the inner file system.
func (f *FS) content(name string) ([]byte, error) {
	r, err := f.inner.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(r, 0, info.Size()))
}

// Crash creates the folder to, in the operating system, with a possible state of the folder at path
// after a power loss now. It can be called repeatedly: each call draws another state.
func (f *FS) Crash(path, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, err := f.folder(path)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	names := maps.Clone(d.disk)
	for _, change := range d.pending[:f.random.IntN(len(d.pending)+1)] {
		change(names)
	}
	// sorted, so that a seed gives one result
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if err := os.WriteFile(filepath.Join(to, name), names[name].survive(f.random), 0o600); err != nil {
			return err
		}
	}
	return nil
}

package faulty

import (
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// sector is what a disk writes whole or not at all, in bytes.
const sector = 512

// node is a regular file, whatever its name is.
type node struct {
	disk    []byte  // as last synced
	pending []write // since then
}

// write is WriteAt, or with nil data Truncate to off.
type write struct {
	off  int64
	data []byte
}

func (n *node) write(p []byte, off int64) {
	n.pending = append(n.pending, write{off, append([]byte{}, p...)})
}

func (n *node) truncate(size int64) { n.pending = append(n.pending, write{size, nil}) }

// sync makes all writes last.
func (n *node) sync() {
	for _, w := range n.pending {
		n.disk = w.apply(n.disk, func() bool { return true })
	}
	n.pending = nil
}

// survive gives what the file holds after a power loss.
func (n *node) survive(random *rand.Rand) []byte {
	b := slices.Clone(n.disk)
	for _, w := range n.pending {
		switch random.IntN(3) {
		case 0: // kept
			b = w.apply(b, func() bool { return true })
		case 1: // torn, though the length may be as if it was not
			b = w.apply(b, func() bool { return random.IntN(2) == 0 })
		}
	}
	return b
}

// apply does the write, of those sectors that keep says.
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

// resize cuts b, or adds zeros.
func resize(b []byte, size int) []byte {
	if size <= len(b) {
		return b[:size]
	}
	return append(b, make([]byte, size-len(b))...)
}

// folder is the names of a folder.
type folder struct {
	now, disk map[string]*node
	pending   []func(names map[string]*node) // what was done to now and not yet to disk
}

func (d *folder) change(do func(names map[string]*node)) {
	do(d.now)
	d.pending = append(d.pending, do)
}

// sync makes all names last.
func (d *folder) sync() {
	d.disk, d.pending = maps.Clone(d.now), nil
}

// folder gives the folder of a path. What lay there before it was first asked for is on the disk.
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

// Crash makes a folder of the operating system as the one at path may be found after a power loss
// now. There may be several such losses: each time the dice are thrown anew.
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
	for _, name := range slices.Sorted(maps.Keys(names)) { // in order, so that a seed gives one result
		if err := os.WriteFile(filepath.Join(to, name), names[name].survive(f.random), 0o600); err != nil {
			return err
		}
	}
	return nil
}

package tree

import (
	"os"

	"github.com/vibeflight/vibeflight/readers/source"
)

// bundle returns the folder at rel below dir as one file, if it is a bundle of a format. A walk does
// not enter it: its only file is called ".".
func (t *Tree) bundle(dir *os.Root, rel string) (f file, ok bool, err error) {
	for i := range t.cfg.Formats {
		format := &t.cfg.Formats[i]
		if !format.Bundle.Names(rel) {
			continue
		}
		if f.identity, f.modified, ok, err = source.BundleIn(dir, rel, format.Bundle); ok || err != nil {
			f.format = format.Name
			return f, ok, err
		}
	}
	return file{}, false, nil
}

// inBundle reports whether rel is below a folder that is one file.
func (t *Tree) inBundle(dir *os.Root, rel string) bool {
	for at := parent(rel); at != "."; at = parent(at) {
		if _, ok, _ := t.bundle(dir, at); ok {
			return true
		}
	}
	return false
}

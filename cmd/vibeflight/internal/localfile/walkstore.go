package localfile

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/stores"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/remote"
)

// walkStore is Walk for the folder of a URL, or for the file of one. Files whose extension does not
// tell their format are left out: no object is read.
func walkStore(ctx context.Context, formats readers.Registry, url, prefix, format string) ([]File, error) {
	var missing error
	if f, ok, _ := formats.OfName(nameOf(url)); ok {
		root, key, err := stores.File(ctx, url)
		if err != nil {
			return nil, err
		}
		o, err := root.Stat(ctx, key)
		if err == nil {
			return []File{{root.Location(key), f.Name, o.Size, o.Modified}}, nil
		}
		if missing = err; !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	root, err := stores.Openers().Open(ctx, url, remote.Options{})
	if err != nil {
		return nil, err
	}
	defer root.Close()
	found := map[string]remote.Object{}
	err = root.List(ctx, "", func(o remote.Object) error {
		found[o.Key] = o
		return nil
	})
	if err == nil && len(found) == 0 {
		err = missing // it is not a folder either
	}
	if err != nil {
		return nil, err
	}
	var files []File
	for key, o := range found {
		f, ok, _ := formats.OfName(key)
		if !ok || format != "" && f.Name != format || !strings.HasPrefix(key, prefix) || hidden(key) ||
			isMember(formats, key, found) {
			continue
		}
		files = append(files, File{root.Location(key), f.Name, o.Size, o.Modified})
	}
	return files, nil
}

// hidden reports whether a component of a path begins with a dot.
func hidden(path string) bool { return strings.HasPrefix(path, ".") || strings.Contains(path, "/.") }

// isMember reports whether an object belongs to another one, as a .dbf to a .shp.
func isMember(formats readers.Registry, key string, found map[string]remote.Object) bool {
	for _, main := range formats.MainsOf(key) {
		if _, ok := found[main]; ok {
			return true
		}
	}
	return false
}

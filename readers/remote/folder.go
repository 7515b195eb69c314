package remote

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/vibeflight/vibeflight/readers/source"
)

// Folder is a folder of a Root as a source.Folder. All reads of its files end with Context.
type Folder struct {
	Context context.Context
	Root    *Root
	Dir     string // "" or "a/b"
	// Listed returns the object of a key as a recent list had it; nil: there is none. With a list,
	// siblings are found without a request.
	Listed func(key string) (o Object, ok bool)
}

func (d Folder) key(name string) string { return path.Join(d.Dir, name) }

// Look implements source.Folder.
func (d Folder) Look(names []string) ([]fs.FileInfo, error) {
	infos := make([]fs.FileInfo, len(names))
	if len(names) == 0 {
		return infos, nil
	}
	listed := d.Listed
	if listed == nil {
		objects, err := d.list(names)
		if err != nil {
			return nil, err
		}
		listed = func(key string) (Object, bool) { o, ok := objects[key]; return o, ok }
	}
	for i, name := range names {
		if o, ok := listed(d.key(name)); ok {
			infos[i] = objectInfo{o}
		}
	}
	return infos, nil
}

// list lists the objects that the names may be of: those that begin as all of them do. A server
// without lists is asked for each name.
func (d Folder) list(names []string) (map[string]Object, error) {
	prefix := d.key(names[0])
	for _, name := range names {
		for key := d.key(name); len(prefix) > len(key) || key[:len(prefix)] != prefix; {
			prefix = prefix[:len(prefix)-1]
		}
	}
	objects := map[string]Object{}
	err := d.Root.List(d.Context, prefix, func(o Object) error {
		objects[o.Key] = o
		return nil
	})
	if !errors.Is(err, ErrNoList) {
		return objects, err
	}
	for _, name := range names {
		o, err := d.Root.Stat(d.Context, d.key(name))
		switch {
		case err == nil:
			objects[o.Key] = o
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return objects, nil
}

// Open implements source.Folder.
func (d Folder) Open(name string) (source.Content, string, error) {
	key := d.key(name)
	if d.Listed != nil {
		if o, ok := d.Listed(key); ok {
			c, err := newContent(d.Context, d.Root, o)
			return c, d.Root.Location(key), err
		}
	}
	o, err := d.Root.Stat(d.Context, key)
	if err != nil {
		return nil, "", err
	}
	c, err := newContent(d.Context, d.Root, o)
	if err != nil {
		return nil, "", err
	}
	return c, d.Root.Location(key), nil
}

// Open opens one object with its siblings. name is its name in errors.
func (r *Root) Open(ctx context.Context, name, key string, siblings ...string) (*source.File, error) {
	dir, base := path.Split(key)
	return source.OpenFrom(Folder{Context: ctx, Root: r, Dir: path.Clean(dir)}, name, base, siblings...)
}

// ErrNoList says that a web server does not list its files.
var ErrNoList = errors.New("the server does not list its files")

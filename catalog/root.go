package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/vibeflight/vibeflight/readers/source"
)

// root is an open root. All looks at files go through its os.Root, which follows no link out of the
// folder even if the link is made between two looks.
type root struct {
	Root

	mu   sync.Mutex
	dir  *os.Root
	id   folderID // of dir
	done bool
}

// folderID is a folder of this host.
type folderID struct{ device, inode uint64 }

func idOf(info fs.FileInfo) folderID {
	id := source.IdentityOf(info)
	return folderID{id.Device, id.Inode}
}

// Limits of what a walk follows, and a name that a client gives.
const (
	maxFolderDepth   = 128 // folders below each other
	maxLinkedFolders = 4   // links to folders on one path
)

var errLoop = errors.New("links lead back to a folder that the path already passed, or too many of them follow " +
	"each other")

// openRoots opens them all or none.
func openRoots(given []Root) ([]*root, error) {
	var roots []*root
	aliases := map[string]string{}
	for _, g := range given {
		err := g.check()
		if other, ok := aliases[g.Alias]; ok && g.Alias != "" && err == nil {
			err = fmt.Errorf("alias %q is given to both %s and %s", g.Alias, other, g.Dir)
		}
		aliases[g.Alias] = g.Dir
		r := &root{Root: g}
		if err == nil {
			_, err = r.open()
		}
		if err != nil {
			closeRoots(roots)
			return nil, err
		}
		roots = append(roots, r)
	}
	return roots, nil
}

func closeRoots(roots []*root) {
	for _, r := range roots {
		r.close()
	}
}

// open gives the folder that now lies at the root's path: a root may be replaced while the server
// runs, as deployments do that switch a link. The answer stays open until the folder is replaced or
// the catalog closed; what uses it then gets an error.
func (r *root) open() (*os.Root, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return nil, ErrClosed
	}
	info, err := os.Stat(r.Dir)
	if err != nil {
		return nil, err
	}
	if r.dir != nil && r.id == idOf(info) {
		return r.dir, nil
	}
	dir, err := os.OpenRoot(r.Dir)
	if err != nil {
		return nil, err
	}
	if info, err = dir.Stat("."); err != nil {
		_ = dir.Close()
		return nil, err
	}
	if r.dir != nil {
		_ = r.dir.Close()
	}
	r.dir, r.id = dir, idOf(info)
	return dir, nil
}

func (r *root) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = true
	if r.dir != nil {
		_ = r.dir.Close()
	}
}

// path is where rel lies, for people and for the watch.
func (r *root) path(rel string) string { return filepath.Join(r.Dir, rel) }

// descend passes the folders of rel as a walk would, and refuses what a walk does not enter.
func (r *root) descend(dir *os.Root, rel string) error {
	trail := []folderID{r.idOfRoot()}
	links := 0
	for i := range len(rel) {
		if rel[i] != '/' {
			continue
		}
		self, err := r.lstat(dir, rel[:i])
		if err != nil {
			return err
		}
		_, info, err := source.Locate(dir, rel[:i])
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s: %w", rel[:i], fs.ErrNotExist)
		}
		if self.Mode()&fs.ModeSymlink != 0 {
			links++
		}
		if err := mayEnter(trail, idOf(info), links); err != nil {
			return fmt.Errorf("%s: %w", rel[:i], err)
		}
		trail = append(trail, idOf(info))
	}
	return nil
}

func (r *root) idOfRoot() folderID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.id
}

// lstat looks at rel itself, be it a link, in the folder that its parents lead to.
func (r *root) lstat(dir *os.Root, rel string) (fs.FileInfo, error) {
	info, err := dir.Lstat(rel)
	if err == nil || errors.Is(err, fs.ErrNotExist) || parent(rel) == "." {
		return info, err
	}
	at, _, err := source.Locate(dir, parent(rel))
	if err != nil {
		return nil, err
	}
	return dir.Lstat(path.Join(at, path.Base(rel)))
}

// mayEnter says whether a walk that passed the folders of trail, and links links to folders with
// the next one, enters that one.
func mayEnter(trail []folderID, next folderID, links int) error {
	if links > maxLinkedFolders || len(trail) > maxFolderDepth {
		return errLoop
	}
	for _, id := range trail {
		if id == next {
			return errLoop
		}
	}
	return nil
}

// parent is the folder of rel; "." is the root.
func parent(rel string) string { return path.Dir(rel) }

// below reports whether rel lies in folder or in one below it, or is it.
func below(rel, folder string) bool {
	return folder == "." || rel == folder || strings.HasPrefix(rel, folder+"/")
}

// exhausted reports an error that says nothing of the file: the host is short of something, or a
// disk is ill.
func exhausted(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EIO} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

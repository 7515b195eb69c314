package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/vibeflight/vibeflight/internal/system"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Mount is an open root. All access to files goes through its os.Root, which follows no link out of
// the folder, even if the link is made between two calls.
type Mount struct {
	Root
	store *storeRoot // nil: a folder of this host

	mu   sync.Mutex
	dir  *os.Root
	id   folderID // of dir
	done bool
}

// folderID is a folder of this host.
type folderID = system.FolderID

// Limits of what a walk follows, and of what a client's name may pass through.
const (
	maxFolderDepth   = 128 // folders below each other
	maxLinkedFolders = 4   // links to folders on one path
)

var errLoop = errors.New("links lead back to a folder that the path already passed, " +
	"or too many of them follow each other")

// openMounts opens all roots, or none.
func openMounts(ctx context.Context, given []Root, store OpenStore) ([]*Mount, error) {
	var mounts []*Mount
	aliases := map[string]string{}
	for _, g := range given {
		err := g.check()
		if other, ok := aliases[g.Alias]; ok && g.Alias != "" && err == nil {
			err = fmt.Errorf("alias %q is given to both %s and %s", g.Alias, other, g.place())
		}
		aliases[g.Alias] = g.place()
		m := &Mount{Root: g}
		switch {
		case err != nil:
		case g.URL != "":
			err = m.openStore(ctx, store)
		default:
			_, err = m.Open()
		}
		if err != nil {
			for _, m := range mounts {
				m.close()
			}
			return nil, err
		}
		mounts = append(mounts, m)
	}
	return mounts, nil
}

// Open returns the folder that is now at the root's path. Deployments that switch a link replace
// the folder while the server runs. The result stays open until the folder is replaced or the tree
// is closed; its methods fail after that.
func (m *Mount) Open() (*os.Root, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done {
		return nil, ErrClosed
	}
	info, err := os.Stat(m.Dir)
	if err != nil {
		return nil, err
	}
	id := system.IDOf(info, m.Dir)
	if m.dir != nil && m.id == id {
		return m.dir, nil
	}
	dir, err := os.OpenRoot(m.Dir)
	if err != nil {
		return nil, err
	}
	if info, err = dir.Stat("."); err != nil {
		_ = dir.Close()
		return nil, err
	}
	if m.dir != nil {
		_ = m.dir.Close()
	}
	m.dir, m.id = dir, system.IDOf(info, m.Dir)
	return dir, nil
}

// openStore opens the store of a URL.
func (m *Mount) openStore(ctx context.Context, open OpenStore) error {
	if open == nil {
		return fmt.Errorf("%s: no stores are read", m.place())
	}
	r, err := open(ctx, m.URL)
	if err == nil {
		m.store = newStoreRoot(r, m.Refresh)
	}
	return err
}

func (m *Mount) close() {
	if m.store != nil {
		_ = m.store.root.Close()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done = true
	if m.dir != nil {
		_ = m.dir.Close()
	}
}

// path returns the path of rel, for messages and for the watch.
func (m *Mount) path(rel string) string {
	if m.store != nil {
		return m.store.root.Location(strings.TrimPrefix(rel, "."))
	}
	return filepath.Join(m.Dir, rel)
}

// descend enters the folders of rel as a walk would, and refuses those that a walk does not enter.
func (m *Mount) descend(dir *os.Root, rel string) error {
	trail := []folderID{m.idOfRoot()}
	links := 0
	for i := range len(rel) {
		if rel[i] != '/' {
			continue
		}
		self, err := m.lstat(dir, rel[:i])
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
		id := system.IDOf(info, m.path(rel[:i]))
		if err := mayEnter(trail, id, links); err != nil {
			return fmt.Errorf("%s: %w", rel[:i], err)
		}
		trail = append(trail, id)
	}
	return nil
}

func (m *Mount) idOfRoot() folderID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.id
}

// lstat describes rel itself, even if it is a link, in the folder that its parents lead to.
func (m *Mount) lstat(dir *os.Root, rel string) (fs.FileInfo, error) {
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

// mayEnter returns errLoop if a walk that came through the folders of trail must not enter the next
// one. links counts the links to folders on the way, including the next one.
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

// parent returns the folder of rel; "." is the root.
func parent(rel string) string { return path.Dir(rel) }

// below reports whether rel is folder, or is inside of it.
func below(rel, folder string) bool {
	return folder == "." || rel == folder || strings.HasPrefix(rel, folder+"/")
}

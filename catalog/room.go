package catalog

import (
	"errors"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
)

// evictingTemp is a file of the cache for which tables are closed that nobody uses: the folder
// evicts none that is open.
type evictingTemp struct {
	*cachedir.Temp
	archive *archive
}

// Reserve is that of cachedir.Temp.
func (g evictingTemp) Reserve(bytes int64) error {
	return g.archive.withRoom(func() error { return g.Temp.Reserve(bytes) })
}

// WriteAt is that of cachedir.Temp.
func (g evictingTemp) WriteAt(p []byte, off int64) (int, error) {
	if err := g.Reserve(off + int64(len(p))); err != nil {
		return 0, err
	}
	return g.Temp.WriteAt(p, off)
}

// create makes a file of the cache that is expected to have so many bytes.
func (a *archive) create(need int64) (temp *cachedir.Temp, err error) {
	err = a.withRoom(func() (err error) {
		temp, err = a.dir.Create(need)
		return err
	})
	return temp, err
}

// withRoom tries again as long as there is no room and a table can be closed for it.
func (a *archive) withRoom(try func() error) error {
	for {
		err := try()
		var full *cachedir.FullError
		if !errors.As(err, &full) || full.Need > full.Budget || !a.closeIdle() {
			return err
		}
	}
}

// closeIdle forgets the table in a file that was used longest ago, of those that nobody holds. It
// reports whether there was one.
func (t *tables) closeIdle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for e := t.recent.Back(); e != nil; e = e.Prev() {
		if p := e.Value.(*cacheEntry); p.pins == 0 && (p.file != nil || p.base != nil) {
			t.remove(p)
			t.count.evictions++
			return true
		}
	}
	return false
}

package gpu

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/vibeflight/vibeflight/internal/system"
)

// lockPatience is how long another process may take to compile one kernel. One that is stopped in
// the middle of it holds nobody up for longer.
const lockPatience = 30 * time.Second

// entry is an image that this process is to make. Its partial file is the lock that keeps others
// from making it too, and becomes the image:
//
//	first    open, flock ── compile ── write, sync, rename ── close
//	second   open, flock ································ waits ── the name is gone: look for the image
//	killed   open, flock ── compile ✗                             the kernel gives the lock back; the next
//	         writer starts over in the same file
type entry struct {
	cache     *cache
	key       cacheKey
	f         *os.File
	committed bool
}

// lock waits for the entry of a key. The caller looks for the image again, commits one or not, and
// releases it in every case.
func (c *cache) lock(key cacheKey) (*entry, error) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, fmt.Errorf("kernel cache: %w", err)
	}
	path := c.path(key, partialSuffix)
	deadline := time.Now().Add(c.patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 32*time.Millisecond) {
		f, err := lockFile(path, os.O_CREATE)
		if err != nil {
			return nil, fmt.Errorf("kernel cache: %w", err)
		}
		if f != nil {
			return &entry{cache: c, key: key, f: f}, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("kernel cache: another process has held %s for %v", path, c.patience)
		}
		time.Sleep(pause) // flock(2) has no deadline
	}
}

// lockFile opens a partial file and locks it. It gives nil if another has the lock, or had it until
// the file lost its name.
func lockFile(path string, flag int) (*os.File, error) {
	f, err := system.OpenPlain(path, os.O_RDWR|flag, 0o600)
	if err != nil {
		return nil, err
	}
	if mine, err := system.TryLock(f); err != nil || !mine {
		_ = f.Close() // nothing was written
		return nil, err
	}
	locked, err := f.Stat()
	if err == nil {
		var named fs.FileInfo
		if named, err = os.Lstat(path); err == nil && os.SameFile(locked, named) {
			return f, nil
		}
	}
	_ = f.Close() // nothing was written
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return nil, err
}

// drop removes what the cache has for the key: it is damaged, or the driver refused it. What cannot
// be removed will be in commit's way, which says so.
func (e *entry) drop() { _ = os.Remove(e.cache.path(e.key, imageSuffix)) }

// commit makes image the entry, and makes room for it.
func (e *entry) commit(image []byte) error {
	if err := e.cache.write(e.f, e.key, image); err != nil {
		return fmt.Errorf("kernel cache: %w", err)
	}
	e.committed = true
	if err := e.cache.evict(e.key); err != nil {
		return fmt.Errorf("kernel cache: %w", err)
	}
	return nil
}

// release gives the lock back. The name goes first: it must not be that of a file that somebody
// else has locked by then.
func (e *entry) release() {
	if !e.committed {
		_ = os.Remove(e.f.Name()) // else the next writer takes the file over
	}
	_ = e.f.Close() // what was written is synced, or given up
}

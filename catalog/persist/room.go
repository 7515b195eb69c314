package persist

import (
	"errors"
	"time"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
)

// evictingTemp is a temporary file of the cache. To make room for it, unused tables are closed,
// because the folder evicts no table that is open.
type evictingTemp struct {
	*cachedir.Temp
	archive *Archive
}

// Reserve implements tablefile.Output.
func (g evictingTemp) Reserve(bytes int64) error {
	return g.archive.withRoom(func() error { return g.Temp.Reserve(bytes) })
}

// WriteAt implements io.WriterAt.
func (g evictingTemp) WriteAt(p []byte, off int64) (int, error) {
	if err := g.Reserve(off + int64(len(p))); err != nil {
		return 0, err
	}
	return g.Temp.WriteAt(p, off)
}

// create makes a temporary file that is expected to grow to need bytes.
func (a *Archive) create(need int64) (temp *cachedir.Temp, err error) {
	err = a.withRoom(func() (err error) {
		temp, err = a.dir.Create(need)
		return err
	})
	return temp, err
}

// commitWait bounds the wait for fetched files that are being committed.
const commitWait = time.Second

// withRoom calls try until it finds room in the folder, or no table can be closed to make some.
func (a *Archive) withRoom(try func() error) error {
	end := time.Now().Add(commitWait)
	for {
		err := try()
		var full *cachedir.FullError
		switch {
		case !errors.As(err, &full) || full.Need > full.Budget:
			return err
		case a.closeIdle():
		case a.committing.Load() > 0 && time.Now().Before(end):
			time.Sleep(time.Millisecond)
		default:
			return err
		}
	}
}

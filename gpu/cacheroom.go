package gpu

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// evict removes the images that were used longest ago, except that of keep, until the rest is
// within the cache's bound, and the partial files of processes that were killed. Files of other
// names are not the cache's: it neither counts nor removes them.
func (c *cache) evict(keep cacheKey) error {
	list, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	var images []fs.FileInfo
	var total int64
	for _, file := range list {
		path := filepath.Join(c.dir, file.Name())
		switch {
		case !file.Type().IsRegular():
		case isEntry(file.Name(), partialSuffix):
			err = errors.Join(err, removeAbandoned(path))
		case isEntry(file.Name(), imageSuffix):
			if info, gone := file.Info(); gone == nil { // another process may evict too
				images = append(images, info)
				total += info.Size()
			}
		}
	}
	slices.SortFunc(images, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range images {
		path := filepath.Join(c.dir, info.Name())
		if total <= c.maxBytes {
			break
		}
		if path == c.path(keep, imageSuffix) {
			continue
		}
		if failed := os.Remove(path); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
			continue
		}
		total -= info.Size()
	}
	return err
}

// isEntry reports whether a name is a key in hexadecimal followed by the suffix.
func isEntry(name, suffix string) bool {
	digits, ok := strings.CutSuffix(name, suffix)
	key, err := hex.DecodeString(digits)
	return ok && err == nil && len(key) == len(cacheKey{})
}

// removeAbandoned removes a partial file whose lock nobody holds.
func removeAbandoned(path string) error {
	f, err := lockFile(path, 0)
	if f == nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	defer f.Close()
	return os.Remove(path)
}

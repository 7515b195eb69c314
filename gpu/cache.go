package gpu

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/vibeflight/vibeflight/internal/system"
)

// The cache keeps compiled kernels from run to run, for any number of processes: a folder with a
// file for each image.
//
//	<key>.kernel    an image; its time of modification is that of its last use, to within touchInterval
//	<key>.partial   an image that is being made: its writer holds its lock (cachelock.go)
//
//	byte  0   8   "VFKERNEL"
//	      8  32   key: SHA-256 of all that the image depends on
//	     40   8   length of the image, little-endian
//	     48  32   SHA-256 of the image
//	     80       the image, up to the end of the file
//
// Nothing in the folder is trusted: a file that is not exactly this is replaced. A caller that may
// write to it may run code on the GPU, so it is made for its owner alone.
const (
	cacheMagic   = "VFKERNEL"
	cacheVersion = "vibeflight kernels 1" // part of each key: another form of file is another key
	cacheHeader  = len(cacheMagic) + sha256.Size + 8 + sha256.Size

	imageSuffix   = ".kernel"
	partialSuffix = ".partial"

	defaultCacheBytes = 256 << 20
	touchInterval     = time.Hour
)

type cacheKey = [sha256.Size]byte

// cache is a folder of images.
type cache struct {
	dir      string
	maxBytes int64         // of all images
	patience time.Duration // with a process that holds a lock
}

// newCache returns the cache in dir, which is made when it is first written to. An empty dir is no
// cache, 0 bytes are defaultCacheBytes.
func newCache(dir string, maxBytes int64) *cache {
	if dir == "" {
		return nil
	}
	if maxBytes <= 0 {
		maxBytes = defaultCacheBytes
	}
	return &cache{dir: dir, maxBytes: maxBytes, patience: lockPatience}
}

// path is where the file of a key lies.
func (c *cache) path(key cacheKey, suffix string) string {
	return filepath.Join(c.dir, hex.EncodeToString(key[:])+suffix)
}

// get returns the image of a key, or nil if the cache has no valid file for it.
func (c *cache) get(key cacheKey) []byte {
	path := c.path(key, imageSuffix)
	// A link leads to somebody else's file, and opening a pipe waits for its writer.
	f, err := system.OpenPlain(path, os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxImageBytes+int64(cacheHeader) {
		return nil
	}
	file := make([]byte, info.Size())
	if _, err := io.ReadFull(f, file); err != nil {
		return nil
	}
	image := decodeEntry(key, file)
	if now := time.Now(); image != nil && now.Sub(info.ModTime()).Abs() > touchInterval {
		_ = os.Chtimes(path, now, now) // a folder that is read-only has no order of use, and needs none
	}
	return image
}

// entryHeader is what stands before an image in its file.
func entryHeader(key cacheKey, image []byte) []byte {
	sum := sha256.Sum256(image)
	header := make([]byte, 0, cacheHeader)
	header = append(header, cacheMagic...)
	header = append(header, key[:]...)
	header = binary.LittleEndian.AppendUint64(header, uint64(len(image)))
	return append(header, sum[:]...)
}

// decodeEntry returns the image in a file, nil if the file is not that of the key, damaged or cut
// off.
func decodeEntry(key cacheKey, file []byte) []byte {
	if len(file) <= cacheHeader {
		return nil
	}
	header, image := file[:cacheHeader], file[cacheHeader:]
	if !bytes.Equal(header, entryHeader(key, image)) {
		return nil
	}
	return image
}

// write fills the partial file of an entry and makes it the entry.
func (c *cache) write(f *os.File, key cacheKey, image []byte) error {
	file := append(entryHeader(key, image), image...)
	if len(image) > maxImageBytes || int64(len(file)) > c.maxBytes {
		return fmt.Errorf("an image of %d bytes is more than the cache takes", len(image))
	}
	if err := f.Truncate(0); err != nil { // what a killed process left
		return err
	}
	if _, err := f.WriteAt(file, 0); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(f.Name(), c.path(key, imageSuffix))
}

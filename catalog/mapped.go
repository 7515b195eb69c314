package catalog

import "github.com/vibeflight/vibeflight/catalog/tablefile"

// MappedFile gives the file of the cache that a buffer is mapped of, and the offset in it. The file
// does not change; its name may be gone or another file's by the time it is opened. It gives false
// for a buffer of other memory.
func MappedFile(buffer []byte) (f tablefile.Origin, at int64, ok bool) {
	return tablefile.Locate(buffer)
}

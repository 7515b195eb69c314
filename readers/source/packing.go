package source

import (
	"fmt"
	"path"
	"strings"
)

// Packing is how the content of a file is packed. Its text is what errors call it.
type Packing string

// The packings that are read through.
const (
	Plain Packing = ""     // not at all
	Gzip  Packing = "gzip" // RFC 1952, of one member or several
	Zstd  Packing = "zstd" // RFC 8878, of one frame or several
	Zip   Packing = "zip"  // APPNOTE.TXT 6.3, stored or deflated members
	KMZ   Packing = "kmz"  // a zip archive of a KML file and what it shows
)

// PackingOf tells from the extension of a name how the file is packed, and what its content would
// be called: "roads.geojson" for "roads.geojson.gz". Of an archive that is for its directory to
// say: inner is "".
func PackingOf(name string) (p Packing, inner string) {
	ext := path.Ext(name)
	switch lower(ext) {
	case ".gz":
		return Gzip, strings.TrimSuffix(name, ext)
	case ".zst":
		return Zstd, strings.TrimSuffix(name, ext)
	case ".zip":
		return Zip, ""
	case ".kmz":
		return KMZ, ""
	}
	return Plain, name
}

// Packed reports whether f is the content of a packed file.
func (f *File) Packed() bool { return f.packed != nil }

// PackError says what is wrong with a packed file.
type PackError struct {
	Name    string // the catalog's name of the file
	Packing Packing
	Offset  int64 // byte of the packed file
	Err     error
}

// Error is "roads.geojson.gz: gzip: byte 1234: what".
func (e *PackError) Error() string {
	return fmt.Sprintf("%s: %s: byte %d: %v", e.Name, e.Packing, e.Offset, e.Err)
}

func (e *PackError) Unwrap() error { return e.Err }

// RoomError says that a content takes more room than it may.
type RoomError struct {
	Name  string // the catalog's name of the packed file
	Limit int64  // bytes
	Disk  string // the folder whose disk has no more room; "": the limit is Unpacking.MaxBytes
}

func (e *RoomError) Error() string {
	if e.Disk != "" {
		return fmt.Sprintf("%s: unpacked, it takes more than the %d bytes that may be used in %s", e.Name,
			e.Limit, e.Disk)
	}
	return fmt.Sprintf("%s: unpacked, it takes more than %d bytes", e.Name, e.Limit)
}

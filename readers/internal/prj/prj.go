// Package prj reads the .prj that is next to a file: the coordinate reference system of its
// geometries, as ESRI and OGC write it.
package prj

import (
	"fmt"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// maxBytes is how long a .prj may be.
const maxBytes = 1 << 20

// TooLargeError says that a .prj is too long to be one.
type TooLargeError struct {
	Name  string
	Bytes int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s has %d bytes, which is no coordinate reference system", e.Name, e.Bytes)
}

// Read returns the system of the .prj of src, the zero CRS where there is none. Its error is a
// *TooLargeError or one of the file system.
func Read(src *source.File) (geoarrow.CRS, error) {
	prj, err := src.Sibling(".prj")
	if prj == nil || err != nil {
		return geoarrow.CRS{}, err
	}
	if prj.Size > maxBytes {
		return geoarrow.CRS{}, &TooLargeError{Name: prj.Name, Bytes: prj.Size}
	}
	text, err := prj.Head(maxBytes)
	if err != nil {
		return geoarrow.CRS{}, fmt.Errorf("%s: %w", prj.Name, err)
	}
	clean := strings.ToValidUTF8(strings.TrimPrefix(string(text), "\uFEFF"), "\uFFFD")
	return geoarrow.CRSOfWKT(strings.Trim(clean, "\x00 \t\r\n")), nil
}

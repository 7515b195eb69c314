package shapefile

import (
	"encoding/binary"
	"fmt"
	"io"
)

// headerBytes is the size of the file header:
//
//	byte  0   4  big-endian     9994, the file code
//	byte  4  20                 unused
//	byte 24   4  big-endian     length of the file in 16-bit words; often wrong, and ignored
//	byte 28   4  little-endian  1000, the version
//	byte 32   4  little-endian  shape type of every record that is not Null
//	byte 36  64  little-endian  xmin ymin xmax ymax zmin zmax mmin mmax; ignored
const headerBytes = 100

const (
	fileCode    = 9994
	fileVersion = 1000
)

// rule is the section of the standard about the layout of a file.
const rule = "ESRI Shapefile Technical Description, July 1998"

// readHeader returns the shape type of the file. What is wrong is at byte at.
func readHeader(r io.ReaderAt, size int64) (kind shapeType, at int64, err error) {
	if size == 0 {
		return 0, 0, fmt.Errorf("the file is empty, expected a header of %d bytes", headerBytes)
	}
	var h [headerBytes]byte
	have := h[:min(size, headerBytes)]
	if _, err := r.ReadAt(have, 0); err != nil {
		return 0, -1, err
	}
	if code := binary.BigEndian.Uint32(h[:]); len(have) >= 4 && code != fileCode {
		return 0, 0, fmt.Errorf("no shapefile: the file code is %d, expected %d", code, fileCode)
	}
	if len(have) < headerBytes {
		return 0, size, fmt.Errorf("the file ends in its header of %d bytes", headerBytes)
	}
	if v := binary.LittleEndian.Uint32(h[28:]); v != fileVersion {
		return 0, 28, fmt.Errorf("the version is %d, expected %d", v, fileVersion)
	}
	kind = shapeType(binary.LittleEndian.Uint32(h[32:]))
	if !kind.known() {
		return 0, 32, fmt.Errorf("the shape type of the file is %d, which is none", uint32(kind))
	}
	return kind, 0, nil
}

package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The end of a zip archive says how many members its directory has (APPNOTE.TXT 6.3, 4.3.14 to
// 4.3.16). Package zip makes room for as many as that, if the file is large enough for their
// headers; but a hole of a terabyte costs nothing to make.
//
//	0             8               24        32        40     48       56
//	│ PK 6 6 │ …                  │ on disk │ members │ size │ offset │   ZIP64 record, anywhere
//	│ PK 6 7      │ offset of the record, 8 │ …                    ZIP64 locator, 20 bytes
//	│ PK 5 6      │ … │ on disk, 2 │ members, 2 │ … │ comment      end record, 22 bytes
const (
	endBytes     = 22
	locatorBytes = 20
	recordBytes  = 56
	endSearched  = 65 << 10 // for the end record, as package zip does: a comment has 64 KiB at most
	memberBytes  = 46       // of a member in the directory, without its name
	maxMembers   = maxDirectoryBytes / memberBytes
)

// countMembers refuses a directory that claims to have more than maxMembers. What else may be wrong
// with it is left to package zip.
func (f *File) countMembers() error {
	tail := make([]byte, min(f.Size, endSearched+locatorBytes))
	if err := f.full(tail, f.Size-int64(len(tail))); err != nil {
		return err
	}
	for i := len(tail) - endBytes; i >= locatorBytes; i-- {
		if !bytes.HasPrefix(tail[i:], []byte("PK\x05\x06")) || !bytes.HasPrefix(tail[i-locatorBytes:],
			[]byte("PK\x06\x07")) {
			continue
		}
		at := int64(binary.LittleEndian.Uint64(tail[i-locatorBytes+8:]))
		if at < 0 || at > f.Size-recordBytes {
			continue
		}
		var record [recordBytes]byte
		if err := f.full(record[:], at); err != nil {
			return err
		}
		if n := binary.LittleEndian.Uint64(record[32:]); n > maxMembers && bytes.HasPrefix(record[:],
			[]byte("PK\x06\x06")) {
			return f.archiveError(at, fmt.Errorf("the directory claims to have %d members, more than %d",
				n, maxMembers))
		}
	}
	return nil
}

// full fills p from the file, which has n bytes unless it changed.
func (f *File) full(p []byte, at int64) error {
	n, err := f.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = f.shorter(at+int64(n), at+int64(len(p)))
	}
	return err
}

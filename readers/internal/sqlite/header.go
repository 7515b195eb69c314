package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/vibeflight/vibeflight/readers/source"
)

// Magic is what a database begins with.
const Magic = "SQLite format 3\x00"

// HeaderBytes is the size of a database's header.
const HeaderBytes = 100

// Offsets in the header (section 1.3).
const (
	headerPageSize     = 16
	headerReadVersion  = 19
	headerReserved     = 20
	headerChangeCount  = 24
	headerPages        = 28
	headerSchemaFormat = 44
	headerEncoding     = 56
	headerApplication  = 68
	headerValidFor     = 92
)

// Encoding is the encoding of a database's texts.
type Encoding uint32

// Encodings by their numbers in the header.
const (
	UTF8 Encoding = 1 + iota
	UTF16LE
	UTF16BE
)

// Fault is a violation of the file format at an offset of the database.
type Fault struct {
	Offset int64
	Err    error
}

func (f *Fault) Error() string { return fmt.Sprintf("byte %d: %v", f.Offset, f.Err) }

func (f *Fault) Unwrap() error { return f.Err }

func faultf(offset int64, format string, args ...any) *Fault {
	return &Fault{Offset: offset, Err: fmt.Errorf(format, args...)}
}

// Database is an open database. Several goroutines may use it.
type Database struct {
	PageSize    int
	Pages       uint32 // number of pages, with those of the WAL
	Encoding    Encoding
	Application uint32 // application_id of the header

	usable int // bytes of a page that are not reserved
	file   *source.File
	wal    *wal // nil: there are no committed pages outside of the file
}

// Open reads the headers of a database, and the WAL next to it unless that is nil.
func Open(file, walFile *source.File) (*Database, error) {
	d := &Database{file: file}
	var err error
	if walFile != nil {
		if d.wal, err = readWAL(walFile); err != nil {
			return nil, err
		}
	}
	var head [HeaderBytes]byte
	switch {
	case d.wal != nil && d.wal.frames[1] > 0:
		err = readFull(walFile, head[:], d.wal.frames[1])
	case file.Size == 0:
		return nil, faultf(0, "the file is empty, expected an SQLite database")
	default:
		have := head[:min(file.Size, HeaderBytes)]
		err = readFull(file, have, 0)
		if n := min(len(have), len(Magic)); err == nil && string(have[:n]) != Magic[:n] {
			return nil, faultf(0, "not an SQLite database: the file begins with %q, expected %q", have[:n], Magic[:n])
		}
		if err == nil && len(have) < HeaderBytes {
			return nil, faultf(file.Size, "the file ends inside of its header of %d bytes", HeaderBytes)
		}
	}
	if err != nil {
		return nil, err
	}
	return d, d.header(head[:])
}

// header reads the header.
func (d *Database) header(b []byte) error {
	if string(b[:len(Magic)]) != Magic {
		return faultf(0, "not an SQLite database: page 1 begins with %q, expected %q", b[:len(Magic)], Magic)
	}
	if d.PageSize = int(binary.BigEndian.Uint16(b[headerPageSize:])); d.PageSize == 1 {
		d.PageSize = 65536
	}
	if d.PageSize < 512 || d.PageSize&(d.PageSize-1) != 0 {
		return faultf(headerPageSize, "a page size of %d, expected a power of two from 512 to 65536", d.PageSize)
	}
	if d.wal != nil && d.wal.pageSize != d.PageSize {
		return faultf(headerPageSize, "a page size of %d, where the WAL has %d", d.PageSize, d.wal.pageSize)
	}
	if v := b[headerReadVersion]; v > 2 {
		return faultf(headerReadVersion, "read version %d, expected 1 or 2", v)
	}
	// 480 is the minimum that the format allows
	if d.usable = d.PageSize - int(b[headerReserved]); d.usable < 480 {
		return faultf(headerReserved, "%d reserved bytes in pages of %d leave less than 480", b[headerReserved],
			d.PageSize)
	}
	d.Encoding = max(UTF8, Encoding(binary.BigEndian.Uint32(b[headerEncoding:])))
	if d.Encoding > UTF16BE {
		return faultf(headerEncoding, "text encoding %d, expected 1, 2 or 3", d.Encoding)
	}
	if v := binary.BigEndian.Uint32(b[headerSchemaFormat:]); v > 4 {
		return faultf(headerSchemaFormat, "schema format %d, expected 4 at most", v)
	}
	d.Application = binary.BigEndian.Uint32(b[headerApplication:])
	return d.countPages(b)
}

// countPages sets the number of pages: that of the last commit in the WAL, that of the header if it
// is up to date, else what the file has.
func (d *Database) countPages(b []byte) error {
	there := d.file.Size / int64(d.PageSize)
	if d.wal != nil {
		if d.Pages = d.wal.pages; int64(d.Pages) > there+int64(len(d.wal.frames)) {
			return faultf(0, "the WAL says that there are %d pages, of which the file has %d, and the WAL %d",
				d.Pages, there, len(d.wal.frames))
		}
		return nil
	}
	d.Pages = uint32(min(there, 1<<32-2))
	n := binary.BigEndian.Uint32(b[headerPages:])
	if n == 0 || binary.BigEndian.Uint32(b[headerChangeCount:]) != binary.BigEndian.Uint32(b[headerValidFor:]) {
		return nil
	}
	if int64(n) > there {
		return faultf(headerPages, "the header says that there are %d pages, the file ends after %d", n, there)
	}
	d.Pages = n
	return nil
}

// Offset returns where a page begins in the file, which may be shorter if the page is in the WAL.
func (d *Database) Offset(page uint32) int64 {
	return min((int64(page)-1)*int64(d.PageSize), d.file.Size)
}

// readPages reads n consecutive pages.
func (d *Database) readPages(dst []byte, first uint32) error {
	n := len(dst) / d.PageSize
	at := (int64(first) - 1) * int64(d.PageSize)
	if there := min(int64(len(dst)), d.file.Size-at); there > 0 && !d.wal.hasAll(first, n) {
		if err := readFull(d.file, dst[:there], at); err != nil {
			return err
		}
	}
	for i := range n {
		p := first + uint32(i)
		page := dst[i*d.PageSize : (i+1)*d.PageSize]
		if frame, ok := d.wal.frame(p); ok {
			if err := readFull(d.wal.file, page, frame); err != nil {
				return err
			}
		} else if at+int64((i+1)*d.PageSize) > d.file.Size {
			return faultf(d.file.Size, "the file ends before page %d ends", p)
		}
	}
	return nil
}

// readFull reads all of b.
func readFull(src *source.File, b []byte, at int64) error {
	n, err := src.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w: it ends at byte %d, not %d", src.Name, source.ErrChanged, at+int64(n), src.Size)
	}
	return fmt.Errorf("%s: %w", src.Name, err)
}

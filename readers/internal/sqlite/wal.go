package sqlite

import (
	"encoding/binary"

	"github.com/vibeflight/vibeflight/readers/source"
)

// Sizes and numbers of a WAL (section 4).
const (
	walMagic       = 0x377f0682 // the lowest bit says that checksums are of big-endian words
	walVersion     = 3007000
	walHeaderBytes = 32
	frameBytes     = 24
)

// wal is the write-ahead log of a database: pages that were committed and may not be in the file
// yet.
//
//	wal    header, { frame }
//	frame  page number, number of pages after a commit or 0, salts, checksums; the page
//
// Frames count up to the last commit before the first frame whose salts or checksums are wrong,
// which is left over from an earlier use of the file or was not written completely.
type wal struct {
	file     *source.File
	pageSize int
	pages    uint32           // of the database after the last commit
	frames   map[uint32]int64 // where the last version of each page begins
}

// readWAL returns nil if no frame counts.
func readWAL(file *source.File) (*wal, error) {
	var head [walHeaderBytes]byte
	if file.Size < walHeaderBytes {
		return nil, nil
	}
	if err := readFull(file, head[:], 0); err != nil {
		return nil, err
	}
	magic := binary.BigEndian.Uint32(head[:])
	w := &wal{file: file, pageSize: int(binary.BigEndian.Uint32(head[8:])), frames: map[uint32]int64{}}
	valid := magic&^1 == walMagic && binary.BigEndian.Uint32(head[4:]) == walVersion &&
		w.pageSize >= 512 && w.pageSize <= 65536 && w.pageSize&(w.pageSize-1) == 0
	if !valid {
		return nil, nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 != 0 {
		order = binary.BigEndian
	}
	sum := checksum(order, [2]uint32{}, head[:24])
	if sum != [2]uint32{binary.BigEndian.Uint32(head[24:]), binary.BigEndian.Uint32(head[28:])} {
		return nil, nil
	}
	if err := w.readFrames(order, sum, [8]byte(head[16:24])); err != nil {
		return nil, err
	}
	if w.pages == 0 {
		return nil, nil
	}
	return w, nil
}

// readFrames finds the pages up to the last commit.
func (w *wal) readFrames(order binary.ByteOrder, sum [2]uint32, salts [8]byte) error {
	size := int64(frameBytes + w.pageSize)
	frame := make([]byte, size)
	open := map[uint32]int64{} // since the last commit
	for at := int64(walHeaderBytes); at+size <= w.file.Size; at += size {
		if err := readFull(w.file, frame, at); err != nil {
			return err
		}
		if [8]byte(frame[8:16]) != salts {
			return nil
		}
		sum = checksum(order, checksum(order, sum, frame[:8]), frame[frameBytes:])
		page := binary.BigEndian.Uint32(frame)
		if page == 0 || sum != [2]uint32{binary.BigEndian.Uint32(frame[16:]), binary.BigEndian.Uint32(frame[20:])} {
			return nil
		}
		open[page] = at + frameBytes
		if pages := binary.BigEndian.Uint32(frame[4:]); pages > 0 {
			w.pages = pages
			for page, at := range open {
				w.frames[page] = at
			}
			clear(open)
		}
	}
	return nil
}

// checksum continues a checksum with words of 32 bits (section 4.2).
func checksum(order binary.ByteOrder, s [2]uint32, b []byte) [2]uint32 {
	for ; len(b) >= 8; b = b[8:] {
		s[0] += order.Uint32(b) + s[1]
		s[1] += order.Uint32(b[4:]) + s[0]
	}
	return s
}

// frame returns where a page begins in the WAL, if it is there. w may be nil.
func (w *wal) frame(page uint32) (int64, bool) {
	if w == nil {
		return 0, false
	}
	at, ok := w.frames[page]
	return at, ok
}

// hasAll reports whether n consecutive pages are in the WAL.
func (w *wal) hasAll(first uint32, n int) bool {
	for i := range n {
		if _, ok := w.frame(first + uint32(i)); !ok {
			return false
		}
	}
	return true
}

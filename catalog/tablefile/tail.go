package tablefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/readers"
)

// tail is the end of the file. It follows the footer directly.
//
//	 0  "vibeflt" 0    the program that wrote the file
//	 8  uint32         version of the layout
//	12  uint32         CRC-32C of the footer
//	16  uint64         offset of the footer
//	24  uint32         offset of the description in the footer
//	28  uint32         length of the description
//	32  uint32         CRC-32C of bytes 0 to 32
//	36  int32          length of the footer and of the tail up to here, as Arrow counts it
//	40  "ARROW1"
//	46
//
// In every future layout, the first two fields keep their places, counted from the end.
type tail struct {
	version     uint32
	sum         uint32
	footer      extent
	description extent // in the footer
}

const (
	tailBytes     = 46
	tailSummed    = 32
	tailMark      = "vibeflt\x00"
	arrowMark     = "ARROW1"
	layoutVersion = 2

	// maxFooterBytes keeps the footer well below 2 GiB, the limit of a flatbuffer and of Arrow's
	// length.
	maxFooterBytes = 1 << 30
)

// sumOf returns the CRC-32C of b. Processors have an instruction for this polynomial.
func sumOf(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func (t tail) bytes() []byte {
	b := make([]byte, 0, tailBytes)
	b = append(b, tailMark...)
	b = binary.LittleEndian.AppendUint32(b, t.version)
	b = binary.LittleEndian.AppendUint32(b, t.sum)
	b = binary.LittleEndian.AppendUint64(b, uint64(t.footer.offset))
	b = binary.LittleEndian.AppendUint32(b, uint32(t.description.offset))
	b = binary.LittleEndian.AppendUint32(b, uint32(t.description.length))
	b = binary.LittleEndian.AppendUint32(b, sumOf(b))
	b = binary.LittleEndian.AppendUint32(b, uint32(t.footer.length+tailBytes-10))
	return append(b, arrowMark...)
}

// parseTail parses the tail of a file of size bytes. Every extent that it returns is inside the
// file.
func parseTail(b []byte, size int64) (tail, error) {
	if string(b[:8]) != tailMark || string(b[40:]) != arrowMark {
		return tail{}, errors.New("it does not end as a table's file does")
	}
	t := tail{version: binary.LittleEndian.Uint32(b[8:])}
	if t.version != layoutVersion {
		return tail{}, fmt.Errorf("its layout is version %d, not %d", t.version, layoutVersion)
	}
	if binary.LittleEndian.Uint32(b[tailSummed:]) != sumOf(b[:tailSummed]) {
		return tail{}, errors.New("the sum of its tail is wrong")
	}
	t.sum = binary.LittleEndian.Uint32(b[12:])
	from := binary.LittleEndian.Uint64(b[16:])
	t.description = extent{int64(binary.LittleEndian.Uint32(b[24:])), int64(binary.LittleEndian.Uint32(b[28:]))}
	length := int64(binary.LittleEndian.Uint32(b[36:])) - (tailBytes - 10)
	if from > uint64(size) || length < 0 || int64(from)+length != size-tailBytes || !within(t.description, length) {
		return tail{}, errors.New("its tail is of a file of another size")
	}
	t.footer = extent{int64(from), length}
	return t, nil
}

// within reports whether e is inside [0, size).
func within(e extent, size int64) bool {
	return e.offset >= 0 && e.length >= 0 && e.offset <= size && e.length <= size-e.offset
}

// readDescription reads tail and footer of a file, and returns the description and the size of the
// file.
func readDescription(f files.File) (text []byte, size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	size = info.Size()
	if size < tailBytes {
		return nil, 0, damaged(f.Name(), fmt.Errorf("it has %d bytes", size))
	}
	last := make([]byte, tailBytes)
	if err := readAt(f, last, size-tailBytes); err != nil {
		return nil, 0, err
	}
	t, err := parseTail(last, size)
	if err != nil {
		return nil, 0, damaged(f.Name(), err)
	}
	all := make([]byte, t.footer.length)
	if err := readAt(f, all, t.footer.offset); err != nil {
		return nil, 0, err
	}
	if sumOf(all) != t.sum {
		return nil, 0, damaged(f.Name(), errors.New("the sum of its footer is wrong"))
	}
	return all[t.description.offset:][:t.description.length], size, nil
}

// readAt fills b. A file that is too short is damaged. Any other error comes from the system and
// says nothing about the content.
func readAt(f files.File, b []byte, at int64) error {
	n, err := f.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case errors.Is(err, io.EOF):
		return damaged(f.Name(), fmt.Errorf("it ends at byte %d", at+int64(n)))
	}
	return fmt.Errorf("%s: %w", f.Name(), err)
}

// damaged adds the file's name and readers.ErrDamaged to an error.
func damaged(name string, what error) error {
	return fmt.Errorf("%s: %w: %w", name, readers.ErrDamaged, what)
}

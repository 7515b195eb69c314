package flatgeobuf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// magic is what a file begins with; a byte of any value, the patch level, follows.
const magic = "fgb\x03fgb"

const (
	magicBytes  = len(magic) + 1
	headerStart = magicBytes + 4 // after the header's length

	// maxHeaderBytes bounds the header, which is read at once: 65,536 columns with their names
	// take some 8 MB.
	maxHeaderBytes = 16 << 20
	// maxColumns is how many columns properties can name.
	maxColumns = 1 << 16
)

// Fields of the header's table, and of the tables in it.
const (
	headerGeometryType  = 2
	headerColumns       = 7
	headerFeaturesCount = 8
	headerIndexNodeSize = 9
	headerCRS           = 10

	columnName = 0
	columnType = 1
)

// header is what is known before any feature.
type header struct {
	kind     geoarrow.Kind // of every geometry; NoKind: each has its own
	columns  []column
	count    int64 // of features; 0: unknown
	nodeSize int64 // of the index; 0: no index
	index    int64 // offset of the index
	first    int64 // offset of the first feature
	crs      geoarrow.CRS
}

// readHeader reads the part before the index.
func readHeader(src *source.File) (*header, error) {
	length, err := headerLength(src)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, length)
	if err := readAt(src, buf, int64(headerStart)); err != nil {
		return nil, err
	}
	h := &header{index: int64(headerStart) + length}
	if f := h.parse(buf); f != nil {
		return nil, errorAt(src, int64(headerStart+f.at), -1, f)
	}
	if h.first, err = h.afterIndex(src); err != nil {
		return nil, err
	}
	return h, nil
}

// headerLength checks the magic, and returns the length of the header's flatbuffer.
func headerLength(src *source.File) (int64, error) {
	if src.Size == 0 {
		return 0, errorAt(src, 0, -1, errors.New("the file is empty, expected FlatGeobuf"))
	}
	var b [headerStart]byte
	have := b[:min(src.Size, int64(headerStart))]
	if err := readAt(src, have, 0); err != nil {
		return 0, err
	}
	if n := min(len(magic), len(have)); string(have[:n]) != magic[:n] {
		if len(have) >= len(magic) && string(have[:3]) == magic[:3] && string(have[4:7]) == magic[4:7] {
			return 0, errorAt(src, 3, -1, fmt.Errorf("the file is FlatGeobuf of version %d, expected 3", have[3]))
		}
		return 0, errorAt(src, 0, -1, fmt.Errorf("no FlatGeobuf: the file begins with %q, expected %q",
			have[:n], magic[:n]))
	}
	if len(have) < headerStart {
		return 0, errorAt(src, src.Size, -1, errors.New("the file ends in front of the header"))
	}
	length, left := int64(binary.LittleEndian.Uint32(b[magicBytes:])), src.Size-int64(headerStart)
	switch {
	case length > left:
		return 0, errorAt(src, int64(magicBytes), -1,
			fmt.Errorf("the file ends inside of the header: it has %d bytes, of which %d are there", length, left))
	case length > maxHeaderBytes:
		return 0, errorAt(src, int64(magicBytes), -1, fmt.Errorf("the header has %d bytes, expected %d at most",
			length, maxHeaderBytes))
	}
	return length, nil
}

func readAt(src *source.File, b []byte, at int64) error {
	n, err := src.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w: it ends at byte %d, not %d", src.Name, source.ErrChanged, at+int64(n), src.Size)
	}
	return fmt.Errorf("%s: %w", src.Name, err)
}

// parse reads the header's flatbuffer.
func (h *header) parse(buf []byte) *fault {
	t, err := root(buf)
	if err != nil {
		return err
	}
	kind, err := t.number(headerGeometryType, 1, 0)
	if err != nil {
		return err
	}
	if h.kind, err = kindOf(t.at, kind); err != nil {
		return err
	}
	count, err := t.number(headerFeaturesCount, 8, 0)
	if err != nil {
		return err
	}
	const minFeature = 4 // its length
	if count > 1<<62/minFeature {
		at, _ := t.place(headerFeaturesCount, 8)
		return faultf(at, "the header says that there are %d features, which no file holds", count)
	}
	h.count = int64(count)
	size, err := t.number(headerIndexNodeSize, 2, defaultNodeSize)
	if err != nil {
		return err
	}
	h.nodeSize = int64(size)
	if err := h.parseColumns(&t); err != nil {
		return err
	}
	return h.parseCRS(&t)
}

func (h *header) parseColumns(t *table) *fault {
	v, at, err := t.vector(headerColumns, 4)
	if err != nil {
		return err
	}
	n := len(v) / 4
	if n > maxColumns {
		return faultf(at, "%d columns, expected %d at most", n, maxColumns)
	}
	h.columns = make([]column, n)
	taken := map[string]bool{}
	left := len(t.buf) // bytes that the names may have, all together: columns may be one and the same table
	for i := range h.columns {
		c, err := t.element(at, i)
		if err != nil {
			return err
		}
		if h.columns[i], err = parseColumn(&c); err != nil {
			return err
		}
		if left -= len(h.columns[i].name); left < 0 {
			return faultf(c.at, "the names of the columns have more bytes than the header: several of them share one")
		}
		taken[h.columns[i].name] = true
	}
	h.distinguish(taken)
	return nil
}

func parseColumn(t *table) (column, *fault) {
	name, at, err := t.text(columnName)
	if err != nil {
		return column{}, err
	}
	kind, err := t.number(columnType, 1, 0)
	if err != nil {
		return column{}, err
	}
	if kind >= uint64(len(columnTypes)) {
		return column{}, faultf(at, "column %q has the type %d, which is none", name, kind)
	}
	return column{name: name, columnKind: columnTypes[kind]}, nil
}

// distinguish numbers columns that have the name of an earlier one:
//
//	a,a,a_1    a a_2 a_1
func (h *header) distinguish(taken map[string]bool) {
	given, next := map[string]bool{}, map[string]int{}
	for i := range h.columns {
		name := h.columns[i].name
		for numbered := name; ; numbered = name + "_" + strconv.Itoa(next[name]) {
			if !given[numbered] && (numbered == name || !taken[numbered]) {
				h.columns[i].name, given[numbered] = numbered, true
				break
			}
			next[name]++
		}
	}
}

// errorAt returns the error for a defect at an offset of the file; row is -1 outside of features.
func errorAt(src *source.File, offset, row int64, what error) *readers.ParseError {
	e := &readers.ParseError{Name: src.Name, Format: formatName, Offset: offset, Row: row, Unit: unit, Err: what}
	var f *fault
	if errors.As(what, &f) {
		e.Field, e.Err = f.field, f.err
	}
	return e
}

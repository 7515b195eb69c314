package sqlite

import (
	"context"
	"encoding/binary"
)

// Types of B-tree pages (section 1.6).
const (
	interiorIndex = 2
	interiorTable = 5
	leafIndex     = 10
	leafTable     = 13
)

// pageHeader is the start of a B-tree page.
type pageHeader struct {
	kind  byte
	cells int // number of cells
	array int // offset of the array of cells' offsets
}

// headerOf reads the header of a B-tree page.
func (d *Database) headerOf(page []byte, number uint32) (pageHeader, error) {
	at := 0
	if number == 1 {
		at = HeaderBytes
	}
	h := pageHeader{kind: page[at], cells: int(binary.BigEndian.Uint16(page[at+3:])), array: at + 8}
	offset := d.Offset(number) + int64(at)
	switch h.kind {
	case interiorTable:
		h.array += 4
	case leafTable:
	case interiorIndex, leafIndex:
		return h, faultf(offset, "page %d belongs to an index, expected a table", number)
	default:
		return h, faultf(offset, "page %d has the type %d, expected a page of a table: 5 or 13", number, page[at])
	}
	if h.array+2*h.cells > d.usable {
		return h, faultf(offset+3, "page %d has %d cells, for which it is too small", number, h.cells)
	}
	return h, nil
}

// Leaves returns the leaf pages of the table at a root page, in the order of the rows.
func (d *Database) Leaves(ctx context.Context, root uint32) ([]uint32, error) {
	used := make([]uint64, d.Pages/64+1)
	level := []uint32{root}
	if err := d.use(used, root, 0); err != nil {
		return nil, err
	}
	page := make([]byte, d.PageSize)
	for {
		if err := d.readPages(page, level[0]); err != nil {
			return nil, err
		}
		h, err := d.headerOf(page, level[0])
		if err != nil {
			return nil, err
		}
		if h.kind == leafTable { // all leaves have the same depth
			return level, nil
		}
		d.prefetch(level)
		var next []uint32
		for _, number := range level {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := d.readPages(page, number); err != nil {
				return nil, err
			}
			if next, err = d.children(next, used, page, number); err != nil {
				return nil, err
			}
		}
		level = next
	}
}

// use marks a page as one of the tree.
func (d *Database) use(used []uint64, page uint32, at int64) error {
	switch {
	case page == 0 || page > d.Pages:
		return faultf(at, "page %d, expected 1 to %d", page, d.Pages)
	case used[page/64]>>(page%64)&1 == 1:
		return faultf(at, "page %d is in the tree twice", page)
	}
	used[page/64] |= 1 << (page % 64)
	return nil
}

// children appends the pages that an interior page leads to.
func (d *Database) children(dst []uint32, used []uint64, page []byte, number uint32) ([]uint32, error) {
	h, err := d.headerOf(page, number)
	if err != nil {
		return nil, err
	}
	offset := d.Offset(number)
	if h.kind != interiorTable {
		return nil, faultf(offset+int64(h.array-8), "page %d is a leaf, where others of its depth are not", number)
	}
	for i := range h.cells {
		at := int(binary.BigEndian.Uint16(page[h.array+2*i:]))
		if at < h.array+2*h.cells || at+4 > d.usable {
			return nil, faultf(offset+int64(h.array+2*i), "cell %d of page %d is at byte %d of it", i, number, at)
		}
		child := binary.BigEndian.Uint32(page[at:])
		if err := d.use(used, child, offset+int64(at)); err != nil {
			return nil, err
		}
		dst = append(dst, child)
	}
	last := h.array - 4
	child := binary.BigEndian.Uint32(page[last:])
	if err := d.use(used, child, offset+int64(last)); err != nil {
		return nil, err
	}
	return append(dst, child), nil
}

// prefetch announces that pages of the file will be read.
func (d *Database) prefetch(pages []uint32) {
	if len(pages) < 2 {
		return
	}
	ranges := make([][2]int64, 0, len(pages))
	for _, p := range pages {
		ranges = appendRange(ranges, d.Offset(p), d.Offset(p)+int64(d.PageSize))
	}
	d.file.Prefetch(ranges...)
}

// Prefetch announces that leaf pages will be read soon, in their order. Overflow pages between them
// are included where the gaps are small.
func (d *Database) Prefetch(leaves []uint32) { d.prefetch(leaves) }

// appendRange adds a range of bytes, or extends the last one.
func appendRange(ranges [][2]int64, from, to int64) [][2]int64 {
	if n := len(ranges); n > 0 && from >= ranges[n-1][0] && from <= ranges[n-1][1]+blockBytes {
		ranges[n-1][1] = max(ranges[n-1][1], to)
		return ranges
	}
	return append(ranges, [2]int64{from, to})
}

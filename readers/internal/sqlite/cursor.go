package sqlite

import (
	"encoding/binary"
)

// blockBytes is how much is read at a time where pages follow each other in the file.
const blockBytes = 256 << 10

// Row is a row of a table.
type Row struct {
	At       int64  // place among the rows: see Cursor
	Offset   int64  // of the cell in the file
	Start    int64  // of the payload in the file
	ID       int64  // the rowid
	Payload  []byte // valid until the next Next or MoveTo
	Overflow int64  // bytes of the overflow pages
}

// Cursor walks the rows of a table for one goroutine. Leaf pages may be anywhere in the file, so the
// place of a row is a number that grows with the rowid:
//
//	place  index of the leaf page × page size + index of the cell
type Cursor struct {
	MaxBytes int64 // of a payload; set by the caller
	Read     int64 // bytes read so far

	d      *Database
	leaves []uint32
	stop   int // leaf pages from here on are not read ahead

	leaf   int // index of the current leaf page
	cell   int // index of the next cell
	page   []byte
	number uint32
	header pageHeader
	bytes  int   // of the cells before cell
	last   int64 // rowid of the cell before
	end    int   // in the page: of the payload of the cell before

	near  block // leaf pages, and what is between them
	chain block // overflow pages
	ahead int   // overflow pages to be read at a time
	buf   []byte
}

// block is consecutive pages in memory.
type block struct {
	pages []byte
	first uint32
	n     int
}

// page returns a page of the block, or nil.
func (b *block) page(number uint32, size int) []byte {
	i := int(number) - int(b.first)
	if i < 0 || i >= b.n {
		return nil
	}
	return b.pages[i*size : (i+1)*size]
}

// read replaces the pages of the block.
func (b *block) read(d *Database, first uint32, n int) error {
	b.n = 0
	if need := n * d.PageSize; cap(b.pages) < need {
		b.pages = make([]byte, need)
	}
	b.pages = b.pages[:n*d.PageSize]
	if err := d.readPages(b.pages, first); err != nil {
		return err
	}
	b.first, b.n = first, n
	return nil
}

// TooLarge is the error for a payload of more than MaxBytes.
type TooLarge struct {
	Bytes int64
}

func (e *TooLarge) Error() string { return "a row is too large" }

// Cursor returns a cursor on the rows of some leaf pages, before the first.
func (d *Database) Cursor(leaves []uint32) *Cursor {
	return &Cursor{d: d, leaves: leaves, leaf: -1, stop: len(leaves), MaxBytes: 1 << 31, ahead: 1}
}

// End returns the place after all rows.
func (c *Cursor) End() int64 { return int64(len(c.leaves)) * int64(c.d.PageSize) }

// MoveTo moves the cursor to the first row at or after a place. Rows at stop or after it are not read
// ahead.
func (c *Cursor) MoveTo(at, stop int64) error {
	size := int64(c.d.PageSize)
	leaf, cell := int(at/size), int(at%size)
	c.stop = len(c.leaves)
	if stop < c.End() {
		c.stop = int((stop + size - 1) / size)
	}
	if err := c.open(leaf); err != nil || c.page == nil {
		return err
	}
	for range min(cell, c.header.cells) {
		if _, _, _, err := c.next(); err != nil {
			return err
		}
	}
	return nil
}

// open moves to the first cell of a leaf page, or to the end.
func (c *Cursor) open(leaf int) error {
	c.leaf, c.cell, c.page, c.bytes, c.last = leaf, 0, nil, 0, -1<<63
	if leaf >= len(c.leaves) {
		return nil
	}
	c.number = c.leaves[leaf]
	page := c.near.page(c.number, c.d.PageSize)
	if page == nil {
		n := c.readAhead(leaf)
		if err := c.near.read(c.d, c.number, n); err != nil {
			return err
		}
		c.Read += int64(n * c.d.PageSize)
		page = c.near.page(c.number, c.d.PageSize)
	}
	var err error
	if c.header, err = c.d.headerOf(page, c.number); err != nil {
		return err
	}
	switch {
	case c.header.kind != leafTable:
		return c.faultf(0, "page %d is an interior page, where others of its depth are leaves", c.number)
	case c.header.cells == 0 && len(c.leaves) > 1:
		return faultf(c.d.Offset(c.number)+3, "leaf page %d has no cells", c.number)
	}
	c.page = page
	return nil
}

// readAhead returns how many consecutive pages to read at a leaf page so that the following leaf
// pages are among them.
func (c *Cursor) readAhead(leaf int) int {
	first := c.leaves[leaf]
	last, most := first, first+uint32(max(1, blockBytes/c.d.PageSize))
	for _, p := range c.leaves[leaf+1 : max(leaf+1, c.stop)] {
		if p < first || p >= most {
			break
		}
		last = max(last, p)
	}
	return int(last-first) + 1
}

// Place returns the place of the next row, or of the end.
func (c *Cursor) Place() int64 {
	size := int64(c.d.PageSize)
	if c.page != nil && c.cell >= c.header.cells {
		return int64(c.leaf+1) * size
	}
	return int64(c.leaf)*size + int64(c.cell)
}

// Next moves to the next row. It returns false at the end.
func (c *Cursor) Next(r *Row) (bool, error) {
	if c.page == nil || c.cell >= c.header.cells {
		if c.leaf >= len(c.leaves) {
			return false, nil
		}
		if err := c.open(c.leaf + 1); err != nil || c.page == nil || c.header.cells == 0 {
			return false, err
		}
	}
	r.At = int64(c.leaf)*int64(c.d.PageSize) + int64(c.cell)
	at, size, local, err := c.next()
	if err != nil {
		return false, err
	}
	r.Offset, r.ID, r.Overflow = c.d.Offset(c.number)+int64(at), c.last, 0
	start := c.end - local
	r.Payload, r.Start = c.page[start:c.end], c.d.Offset(c.number)+int64(start)
	if int64(local) == size {
		return true, nil
	}
	if size/int64(c.d.PageSize) > int64(c.d.Pages) {
		return false, c.faultf(at, "a payload of %d bytes in a database of %d pages", size, c.d.Pages)
	}
	if size > c.MaxBytes {
		return false, &TooLarge{size}
	}
	return true, c.assemble(r, size)
}

// next reads the start of the next cell: where it is in the page, the size of its payload, and how
// much of that is in the page.
//
//	cell  size of the payload, rowid, payload, [first overflow page]
func (c *Cursor) next() (at int, size int64, local int, err error) {
	h := &c.header
	slot := h.array + 2*c.cell
	at = int(binary.BigEndian.Uint16(c.page[slot:]))
	if at < h.array+2*h.cells || at >= c.d.usable {
		return at, 0, 0, c.faultf(slot, "cell %d of page %d is at byte %d of it", c.cell, c.number, at)
	}
	rest := c.page[at:c.d.usable]
	u, n := Varint(rest)
	id, m := Varint(rest[n:])
	size = int64(u)
	if n == 0 || m == 0 || size < 0 {
		return at, 0, 0, c.faultf(at, "cell %d of page %d has no valid size and rowid", c.cell, c.number)
	}
	if c.cell > 0 && int64(id) <= c.last {
		return at, 0, 0, c.faultf(at, "rowid %d follows %d", int64(id), c.last)
	}
	local = c.d.local(size)
	whole := n + m + local
	if int64(local) < size {
		whole += 4
	}
	if whole > len(rest) {
		return at, 0, 0, c.faultf(at, "cell %d of page %d has %d bytes, of which %d are in the page", c.cell, c.number,
			whole, len(rest))
	}
	if c.bytes += whole; c.bytes > c.d.usable {
		return at, 0, 0, c.faultf(at, "the cells of page %d have more bytes than it", c.number)
	}
	c.last, c.end = int64(id), at+n+m+local
	c.cell++
	return at, size, local, nil
}

// faultf returns a fault at a byte of the current page.
func (c *Cursor) faultf(at int, format string, args ...any) *Fault {
	return faultf(c.d.Offset(c.number)+int64(at), format, args...)
}

// local returns how many bytes of a payload are in the leaf page (section 1.6).
func (d *Database) local(size int64) int {
	most := d.usable - 35
	if size <= int64(most) {
		return int(size)
	}
	least := (d.usable-12)*32/255 - 23
	if k := least + int((size-int64(least))%int64(d.usable-4)); k <= most {
		return k
	}
	return least
}

// assemble copies a payload of the given size and the overflow pages that hold its end.
//
//	overflow page  number of the next one or 0, bytes
func (c *Cursor) assemble(r *Row, size int64) error {
	left := size - int64(len(r.Payload))
	each := int64(c.d.usable - 4)
	pages := (left + each - 1) / each
	r.Overflow = pages * int64(c.d.PageSize)
	if int64(cap(c.buf)) < size {
		c.buf = make([]byte, 0, size+size/4)
	}
	c.buf = append(c.buf[:0], r.Payload...)
	from, number := c.d.Offset(c.number)+int64(c.end), binary.BigEndian.Uint32(c.page[c.end:])
	for ; left > 0; pages-- {
		if number == 0 || number > c.d.Pages {
			return faultf(from, "overflow page %d, expected 1 to %d", number, c.d.Pages)
		}
		page, err := c.overflow(number, pages)
		if err != nil {
			return err
		}
		n := min(left, each)
		c.buf = append(c.buf, page[4:4+n]...)
		left -= n
		from, number = c.d.Offset(number), binary.BigEndian.Uint32(page)
	}
	if number != 0 {
		return faultf(from, "overflow page %d after the end of the payload", number)
	}
	r.Payload = c.buf
	return nil
}

// overflow returns an overflow page of a chain that has some pages left.
func (c *Cursor) overflow(number uint32, left int64) ([]byte, error) {
	size := c.d.PageSize
	for _, b := range [...]*block{&c.near, &c.chain} {
		if page := b.page(number, size); page != nil {
			return page, nil
		}
	}
	// Most chains are consecutive pages.
	if c.chain.n > 0 && number == c.chain.first+uint32(c.chain.n) {
		c.ahead = min(2*c.ahead, max(1, blockBytes/size))
	} else {
		c.ahead = max(1, c.ahead/2)
	}
	n := int(min(int64(c.ahead), left, int64(c.d.Pages-number)+1))
	if err := c.chain.read(c.d, number, n); err != nil {
		return nil, err
	}
	c.Read += int64(n * size)
	return c.chain.page(number, size), nil
}

// Payload returns the number of bytes of the rows of the leaf page that has a place. It moves the
// cursor.
func (c *Cursor) Payload(at int64) (bytes int64, err error) {
	if err := c.MoveTo(at, at+1); err != nil || c.page == nil {
		return 0, err
	}
	for c.cell < c.header.cells {
		_, size, _, err := c.next()
		if err != nil {
			return 0, err
		}
		bytes += size
	}
	return bytes, nil
}

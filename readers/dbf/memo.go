package dbf

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// memoFile is the file of long texts next to a table. It consists of blocks, which records refer to
// by number.
//
//	.fpt, FoxPro    header: byte 6, 2 bytes: size of a block, big-endian
//	                memo:   kind, 4 bytes | length, 4 bytes, big-endian | text
//	.dbt, dBASE IV  header: byte 20, 2 bytes: size of a block, little-endian; 0 is 512
//	                memo:   FF FF 08 00 | length with these 8 bytes, 4 bytes, little-endian | text
//	.dbt, dBASE III blocks of 512 bytes
//	                memo:   text | 0x1A, or the end of the file
type memoFile struct {
	src    *source.File
	foxPro bool
	size   int64 // of a block
	most   int64 // bytes of a memo

	near []byte // of the file, from offset at on: memos often lie one after the other
	at   int64
	buf  []byte
}

const (
	dbtBlock   = 512
	memoHead   = 8
	nearBytes  = 32 << 10
	memoEnd    = 0x1A
	dBaseThree = 0x83
)

// memoError describes a defect of a memo, which becomes an error of its record.
type memoError struct{ what string }

func (e *memoError) Error() string { return e.what }

func memoErrorf(format string, args ...any) error { return &memoError{fmt.Sprintf(format, args...)} }

// openMemo opens the memo file next to a table. It is nil if there is none.
func openMemo(src *source.File, h *Header, most int64) (*memoFile, error) {
	extensions := []string{".dbt", ".fpt"}
	if foxPro(h.Version) {
		extensions = []string{".fpt", ".dbt"}
	}
	file, err := src.Sibling(extensions...)
	if file == nil || err != nil {
		return nil, err
	}
	m := &memoFile{src: file, foxPro: strings.EqualFold(path.Ext(file.Name), ".fpt"), size: dbtBlock, most: most}
	head, err := file.Head(dbtBlock)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name, err)
	}
	const least = 24
	if len(head) < least {
		return nil, h.errorAt(src, 0, noRecord, "", "", fmt.Errorf("the memo file %s ends inside of its header",
			file.Name))
	}
	switch {
	case m.foxPro:
		m.size = int64(binary.BigEndian.Uint16(head[6:]))
	case h.Version != dBaseThree:
		if n := int64(binary.LittleEndian.Uint16(head[20:])); n > 0 {
			m.size = n
		}
	}
	if m.size == 0 {
		return nil, h.errorAt(src, 0, noRecord, "", "",
			fmt.Errorf("the memo file %s says that its blocks have no bytes", file.Name))
	}
	return m, nil
}

// memosOf reads the memos of the block, record by record. It stops before a row, whose place it
// returns as cut, if the earlier rows have many bytes of memos, and after the first row beyond a
// limit. Malformed memos are in bad.
func (r *Reader) memosOf(ctx context.Context) (cut int32, limit beyond, err error) {
	if len(r.memos) == 0 {
		return 0, limit, nil
	}
	for _, c := range r.memos {
		c.bad, c.mended = c.bad[:0], c.mended[:0]
		if c.field.nullBit != noBit {
			c.eraseNulls(&r.block)
		}
	}
	sum := int64(0)
	if n := len(r.siblingBytes); n > 0 {
		sum = r.siblingBytes[n-1]
	}
	for i, place := range r.block.live {
		if sum >= r.most || limit.err != nil {
			return place, limit, nil
		}
		if err := ctx.Err(); err != nil {
			return 0, limit, err
		}
		var bytes int64
		if bytes, limit, err = r.memosAt(place, len(r.starts)+i); err != nil {
			return 0, limit, err
		}
		sum += bytes
		r.siblingBytes = append(r.siblingBytes, sum)
	}
	return 0, limit, nil
}

// memosAt reads the memos of the record at a place, which is a row of the run, and returns their
// decoded size.
func (r *Reader) memosAt(place int32, row int) (bytes int64, limit beyond, err error) {
	left := r.limits.MaxFeatureBytes
	for _, c := range r.memos {
		before := len(c.text.values)
		n, err := c.addMemo(&r.block, place, row)
		if tooLong := (*readers.LimitError)(nil); errors.As(err, &tooLong) {
			return 0, beyond{place, err}, nil
		}
		if err != nil {
			return 0, limit, err
		}
		if left -= int64(n); left < 0 {
			what := fmt.Sprintf("%s: the memos of one record, %s the last of them,", r.memo.src.Name, c.field.Name)
			return 0, beyond{place, &readers.LimitError{
				What: what, Flag: "--max-feature-bytes",
				Limit: r.limits.MaxFeatureBytes,
			}}, nil
		}
		bytes += int64(len(c.text.values) - before)
	}
	return bytes, limit, nil
}

// addMemo ends a row with the memo of the record at a place, and returns its size.
func (c *column) addMemo(b *block, place int32, row int) (int, error) {
	memo, err := c.memoOf(b.bytes(c.field, int(place)))
	wrong := (*memoError)(nil)
	switch {
	case errors.As(err, &wrong):
		c.refuse(place, row)
	case err != nil:
		return 0, err
	case memo == nil:
		c.null(row)
	case c.field.kind == kindMemo && c.unreadable(memo):
		c.refuse(place, row)
		memo = nil
	}
	if err := c.text.room(len(memo)); err != nil {
		return 0, err
	}
	if c.field.kind == kindHexMemo {
		c.text.values = hex.AppendEncode(c.text.values, memo)
		c.text.end(row)
	} else {
		c.text.add(row, memo)
	}
	return len(memo), nil
}

// memoOf returns the memo of a field, nil if it has none, until the next call. It returns a
// *memoError if there is none at the field's block.
func (c *column) memoOf(value []byte) ([]byte, error) {
	if c.h.options.withoutMemo {
		return nil, nil
	}
	number, err := blockNumber(value)
	if number == 0 || err != nil {
		return nil, err
	}
	if c.memo == nil {
		return nil, memoErrorf("the memo is in block %d of a memo file, and there is none next to the table (option "+
			"memo: ignore reads it without)", number)
	}
	return c.memo.read(number)
}

// blockNumber reads the block number of a memo: ten digits, or four bytes in Visual FoxPro, which
// must not be trimmed, since 32 is a blank and three NULs. 0 means no memo.
func blockNumber(value []byte) (int64, error) {
	if len(value) == 4 && string(value) != "    " {
		return int64(binary.LittleEndian.Uint32(value)), nil
	}
	text := trim(value)
	number := int64(0)
	for _, c := range text {
		if c-'0' > 9 || number > 1e10 {
			return 0, memoErrorf("expected the number of a block of the memo file, found %s", quoted(text))
		}
		number = 10*number + int64(c-'0')
	}
	return number, nil
}

// read returns the memo that begins at a block.
func (m *memoFile) read(block int64) ([]byte, error) {
	at := block * m.size
	if at >= m.src.Size || at < memoHead {
		return nil, memoErrorf("the memo is in block %d of %s, which has %d bytes in blocks of %d", block,
			m.src.Name, m.src.Size, m.size)
	}
	head, err := m.bytes(at, min(memoHead, m.src.Size-at))
	if err != nil {
		return nil, err
	}
	length := int64(0)
	switch {
	case len(head) == memoHead && m.foxPro:
		length = int64(binary.BigEndian.Uint32(head[4:]))
	case len(head) == memoHead && string(head[:4]) == "\xFF\xFF\x08\x00":
		length = int64(binary.LittleEndian.Uint32(head[4:])) - memoHead
	case m.foxPro:
		length = -1
	default:
		return m.terminated(at)
	}
	if length < 0 || length > m.src.Size-at-memoHead {
		return nil, memoErrorf("the memo in block %d of %s says that it has %d bytes, the file has %d after it",
			block, m.src.Name, length, m.src.Size-at-memoHead)
	}
	if length > m.most {
		return nil, m.tooLong(block)
	}
	return m.bytes(at+memoHead, length)
}

func (m *memoFile) tooLong(block int64) error {
	return &readers.LimitError{
		What: fmt.Sprintf("%s: the memo in block %d", m.src.Name, block),
		Flag: "--max-feature-bytes", Limit: m.most,
	}
}

// terminated returns the memo at an offset, in the layout without a length.
func (m *memoFile) terminated(at int64) ([]byte, error) {
	for n := int64(dbtBlock); ; n *= 2 {
		n = min(n, m.src.Size-at, m.most+1)
		text, err := m.bytes(at, n)
		if err != nil {
			return nil, err
		}
		end := bytes.IndexByte(text, memoEnd)
		switch {
		case end >= 0:
			return text[:end], nil
		case n > m.most:
			return nil, m.tooLong(at / m.size)
		case n == m.src.Size-at:
			return text, nil
		}
	}
}

// bytes returns n bytes at an offset, which are in the file and valid until the next call. The
// result is not nil.
func (m *memoFile) bytes(at, n int64) ([]byte, error) {
	if at < m.at || at+n > m.at+int64(len(m.near)) {
		want := min(max(n, nearBytes), m.src.Size-at)
		if int64(cap(m.buf)) < want || int64(cap(m.buf)) > max(maxKept, want) {
			m.buf = make([]byte, want)
		}
		m.near, m.at = m.buf[:want], at
		if got, err := m.src.ReadAt(m.near, at); int64(got) < want {
			m.near = nil
			return nil, cutShort(m.src, at+int64(got), err)
		}
	}
	from := at - m.at
	return m.near[from : from+n : from+n], nil
}

package shapefile

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/vibeflight/vibeflight/readers"
)

// recordHead is the size of a record's header:
//
//	byte 0  4  big-endian  number of the record, from 1; from 0 in files of some writers
//	byte 4  4  big-endian  length of the content in 16-bit words
const recordHead = 8

// nullRecord is the size of a record without shape.
const nullRecord = recordHead + 4

func numberOf(head []byte) int64 { return int64(binary.BigEndian.Uint32(head)) }

// contentBytes returns the length of the content in bytes.
func contentBytes(head []byte) int64 { return 2 * int64(binary.BigEndian.Uint32(head[4:])) }

// records calls each with the records [from, stop), the first of which is number row, and returns
// where the next one begins. Its error is one of the file's structure, after which nothing is read:
// a truncated record, one out of sequence, a limit, or one of reading.
//
// from, stop and at are offsets in the .shp or, if records were moved, in the .shx; place is one in
// the .shp.
func (r *partReader) records(from, stop, row int64, each func(at, place int64, content []byte)) (next int64,
	err error,
) {
	for next = from; next < stop; row++ {
		at, place := next, next
		if r.order == moved {
			entry, err := r.index.bytes(at, indexEntry)
			if err != nil {
				return at, err
			}
			place, _ = entryAt(entry)
		}
		content, err := r.record(place, row)
		if err != nil {
			return at, err
		}
		each(at, place, content)
		next = place + recordHead + int64(len(content))
		if r.order == moved {
			next = at + indexEntry
		}
	}
	return next, nil
}

// record returns the content of the record at an offset of the .shp.
func (r *partReader) record(at, row int64) ([]byte, error) {
	left := r.src.Size - at - recordHead
	if left < 0 {
		return nil, faultAt(r.src, at, row, fmt.Errorf(
			"the file ends inside of a record: %d bytes are left, expected a header of %d", left+recordHead, recordHead,
		))
	}
	head, err := r.window.bytes(at, recordHead)
	if err != nil {
		return nil, err
	}
	r.defects = r.defects[:0]
	content, strict := contentBytes(head), r.numbers == strictNumbers
	indexed := content
	if r.numbers == indexedNumbers {
		if indexed, strict, err = r.indexedLength(at, row, head); err != nil {
			return nil, err
		}
	}
	if n, want := numberOf(head), row+r.base; n != want {
		if strict {
			e := faultAt(r.src, at, row, fmt.Errorf(
				"the record has the number %d, expected %d; records must follow each other without gaps, "+
					"or the .shx must say where they are", n, want))
			if !r.guessing {
				e.Mode = r.modeOfNumbers()
			}
			return nil, e
		}
		r.defects = append(r.defects, recordDefect{
			0, ruleRecordNumber,
			fmt.Sprintf("record %d is read as %d", n, want),
		})
	}
	switch {
	case indexed != content:
		done := fmt.Sprintf("the content has the %d bytes that the .shx says, not %d", indexed, content)
		r.defects = append(r.defects, recordDefect{4, ruleRecordLength, done})
		content = indexed
	case r.repair && r.order == inSequence:
		if content, err = r.decide(at, row, content); err != nil {
			return nil, err
		}
	}
	switch n := content; {
	case n > left:
		return nil, faultAt(r.src, at+4, row,
			fmt.Errorf("the file ends inside of a record: its content has %d bytes, of which %d are there", n, left))
	case n > r.most:
		what := fmt.Sprintf("%s: record %d, of %d bytes,", r.src.Name, row, n)
		return nil, &readers.LimitError{What: what, Flag: "--max-feature-bytes", Limit: r.most}
	default:
		return r.window.bytes(at+recordHead, int(n))
	}
}

// find returns the offset of the first bytes in [from, stop) that look like a record, or -1. If
// records were moved, it is that of an entry of the .shx.
func (r *partReader) find(from, stop int64) (int64, error) {
	if r.order == moved {
		return from + (headerBytes-from)&(indexEntry-1), nil
	}
	r.ahead(stop)
	kind := binary.LittleEndian.AppendUint32(nil, uint32(r.kind))
	from = max(headerBytes, from+from&1) // lengths are of 16-bit words
	least := from
	for at := from + recordHead; at < stop+recordHead && at+4 <= r.src.Size; {
		near, err := r.window.rest(at, 4)
		if err != nil {
			return 0, err
		}
		p := bytes.Index(near, kind)
		if p < 0 {
			at += int64(len(near) - 3)
			at += at & 1
			continue
		}
		at += int64(p)
		if at&1 == 0 {
			ok, err := r.plausible(at - recordHead)
			if err != nil {
				return 0, err
			}
			if ok {
				return r.nullsBefore(at-recordHead, least)
			}
		}
		at++
	}
	return -1, nil
}

// maxSurplus is how many bytes may follow a shape for a record to look like one. A record with more
// is still read.
const maxSurplus = 64

// plausible reports whether the bytes at an offset look like a record with a shape.
func (r *partReader) plausible(at int64) (bool, error) {
	if r.src.Size-at < nullRecord {
		return false, nil
	}
	b, err := r.window.bytes(at, int(min(recordHead+maxHead, r.src.Size-at)))
	if err != nil {
		return false, err
	}
	n := contentBytes(b)
	if numberOf(b) < r.base || n > r.src.Size-at-recordHead {
		return false, nil
	}
	need, measured, ok := r.kind.sizes(b[recordHead:])
	return ok && (n == need || n >= measured && n <= measured+maxSurplus), nil
}

// nullsBefore steps back from the record at an offset over records without a shape, as far as the
// window reaches.
func (r *partReader) nullsBefore(at, least int64) (int64, error) {
	least = max(least, r.window.base)
	for at-nullRecord >= least {
		b, err := r.window.bytes(at-nullRecord, nullRecord+recordHead)
		if err != nil {
			return 0, err
		}
		if contentBytes(b) != 4 || binary.LittleEndian.Uint32(b[recordHead:]) != uint32(null) || numberOf(b) < r.base ||
			numberOf(b)+1 != numberOf(b[nullRecord:]) {
			break
		}
		at -= nullRecord
	}
	return at, nil
}

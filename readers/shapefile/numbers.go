package shapefile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/readers/source"
)

// numbers is the source of the records' numbers.
type numbers uint8

const (
	strictNumbers  numbers = iota // its own, which must be in sequence
	indexedNumbers                // its place among the entries of the .shx, unless those are wrong
	countedNumbers                // number of records before it
)

// recordDefect is a defect of a record, at a byte of it, that on_error: repair corrects.
type recordDefect struct {
	at         int64
	rule, done string
}

// findNumbers chooses the source of the records' numbers. Under on_error: repair the records' own
// numbers may be wrong if the .shx, or the lengths of all records, lead from the first record to
// the end of the file.
func (j *job) findNumbers() error {
	if !j.repair || j.order == moved {
		return nil
	}
	if j.order == indexed {
		shx, err := j.src.Sibling(".shx")
		if err != nil {
			return err
		}
		if shx == nil {
			return fmt.Errorf("%s: %w: its .shx is gone", j.src.Name, source.ErrChanged)
		}
		j.numbers, j.shx, j.places = indexedNumbers, shx, &deviceChunks{
			job: j, shx: shx,
			entries: (indexEnd(shx) - headerBytes) / indexEntry,
		}
		return nil
	}
	w := j.walk()
	if inOrder, err := w.recordsFollow(); inOrder || err != nil {
		return err
	}
	follow, err := w.lengthsFollow()
	if follow {
		j.numbers = countedNumbers
	}
	return err
}

func (j *job) walk() walk {
	return walk{src: j.src, base: j.base, records: window{ctx: j.ctx, src: j.src, step: j.step, stop: j.src.Size}}
}

// lengthsFollow is recordsFollow of records with any number.
func (w *walk) lengthsFollow() (bool, error) {
	at := int64(headerBytes)
	for at < w.src.Size {
		if w.src.Size-at < recordHead {
			return false, nil
		}
		head, err := w.records.bytes(at, recordHead)
		if err != nil {
			return false, err
		}
		at += recordHead + contentBytes(head)
	}
	return at == w.src.Size, nil
}

// modeOfNumbers returns the value of on_error that reads records with numbers out of sequence, or
// "".
func (j *job) modeOfNumbers() string {
	j.mode.Do(func() {
		w := j.walk()
		if follow, err := w.lengthsFollow(); j.order == indexed || follow && err == nil {
			j.modeIs = modeRepair
		}
	})
	return j.modeIs
}

var errNoRecord = errors.New("no record begins there")

// inOrder reports whether the records follow each other by their own numbers and lengths. It reads
// along the whole file, so it is called only if a record contradicts the .shx. If they do, the .shx
// is wrong in every mode.
func (j *job) inOrder() (bool, error) {
	j.walked.Do(func() {
		w := j.walk()
		j.follow.ok, j.follow.err = w.recordsFollow()
	})
	return j.follow.ok, j.follow.err
}

// indexedLength returns the length of the content of the record at an offset, whose head is given,
// if the .shx has an entry for each record. It is the entry's, unless the .shx is wrong; then
// strict is true.
func (r *partReader) indexedLength(at, row int64, head []byte) (content int64, strict bool, err error) {
	content, place, length := contentBytes(head), int64(-1), int64(0)
	right := numberOf(head) == row+r.base
	if entry := headerBytes + row*indexEntry; row >= 0 && row < r.places.entries {
		b, err := r.index.bytes(entry, indexEntry)
		if err != nil {
			return 0, false, err
		}
		place, length = entryAt(b)
	}
	if right && place == at && length == content {
		return content, false, nil
	}
	switch strict, err = r.inOrder(); {
	case err != nil || strict:
		return content, strict, err
	case place != at:
		return 0, false, fmt.Errorf("%s: %w: the record at byte %d", r.src.Name, source.ErrChanged, at)
	}
	return length, false, nil
}

// indexedAt returns the row of the record at an offset by the .shx, or by its number if the .shx is
// wrong.
func (r *partReader) indexedAt(at int64) (int64, error) {
	head, err := r.window.bytes(at, recordHead)
	if err != nil {
		return 0, err
	}
	number := numberOf(head) - r.base
	row, place, err := r.places.find(at)
	if err != nil || place == at && row == number {
		return row, err
	}
	switch strict, err := r.inOrder(); {
	case err != nil:
		return 0, err
	case strict:
		return number, nil
	case place != at:
		return 0, errNoRecord
	}
	return row, nil
}

// countedAt returns the number of records before an offset.
func (r *partReader) countedAt(at int64) (rows int64, err error) {
	_, err = r.records(headerBytes, at, 0, func(int64, int64, []byte) { rows++ })
	return rows, err
}

// decide returns the length of the content of the record at an offset. It is the record's, unless
// no record of the next number follows there, and one does follow after the length that the shape's
// counts imply.
func (r *partReader) decide(at, row, content int64) (int64, error) {
	left := r.src.Size - at - recordHead
	if content <= min(left, r.most) {
		if ok, err := r.follows(at, content, row); ok || err != nil {
			return content, err
		}
	}
	head, err := r.window.bytes(at+recordHead, int(min(left, maxHead)))
	if err != nil || len(head) < 4 {
		return content, err
	}
	t := shapeType(binary.LittleEndian.Uint32(head))
	need, measured, ok := int64(4), int64(4), t == null
	if t != null && t.known() {
		need, measured, ok = t.sizes(head)
	}
	if !ok {
		return content, nil
	}
	for _, n := range []int64{measured, need} {
		if n == content || n > min(left, r.most) {
			continue
		}
		if ok, err := r.follows(at, n, row); err != nil {
			return 0, err
		} else if ok {
			done := fmt.Sprintf("the content has the %d bytes of its shape, not %d", n, content)
			r.defects = append(r.defects, recordDefect{4, ruleRecordLength, done})
			return n, nil
		}
	}
	return content, nil
}

// follows reports whether the file ends, or a record of the next number begins, after a content of
// n bytes.
func (r *partReader) follows(at, content, row int64) (bool, error) {
	next := at + recordHead + content
	if next >= r.src.Size {
		return next == r.src.Size, nil
	}
	if r.src.Size-next < recordHead {
		return false, nil
	}
	b, err := r.window.bytes(at, int(2*recordHead+content)) // together with the content, which is read next
	if err != nil {
		return false, err
	}
	return numberOf(b[recordHead+content:]) == row+1+r.base, nil
}

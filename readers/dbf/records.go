package dbf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Reader reads runs of records of one table, for one goroutine. Runs reuse its memory. It needs no
// Close: the files are the caller's.
type Reader struct {
	h       *Header
	src     *source.File
	limits  readers.Limits
	columns []column
	block   block
	text    textDecoder
	memo    *memoFile // nil: absent or ignored
	memos   []*column // that may have memos
	most    int64     // bytes of memos of the current run, after which no record is read

	starts       []int64
	left         []int64
	siblingBytes []int64            // bytes of memos of the rows so far, after each of them
	deviations   readers.Deviations // of the current run; rows count from its first record
	flags        []int32            // places in the block of rows with an invalid deletion flag

	refuse []int64 // malformed records of the current run, ascending: known from a first pass over it
}

// Run is the result of a Read. It belongs to the Reader and is overwritten by its next Read.
type Run struct {
	// Columns are the fields of the records that are rows, in their order, without geometry. Types
	// are declared by the header; only N without decimals may be wider: decimal128 or float64,
	// which geoarrow converts. No column is ever needed as text.
	Columns *geoarrow.Columns
	Starts  []int64 // offset of each row's record
	// numbers of the records that are not rows, ascending: deleted ones, and malformed ones under
	// on_error: skip
	Left       []int64
	Skipped    readers.SkippedRows
	Deviations readers.Deviations // rows count from the first record
	Bytes      int64              // read from the table, not from its memo file
	To         int64              // the record after the last one that was read
	// bytes of memos, as UTF-8, of all rows up to and including each one; nil: the table has no
	// memo field
	SiblingBytes []int64
}

// NewReader returns a Reader of the header's table. src is the table's file, or the file whose
// sibling the table is. Errors are those of opening the memo file, or of an invalid memo file.
func (h *Header) NewReader(src *source.File, limits readers.Limits) (*Reader, error) {
	return h.newReader(src, limits, blockBytes)
}

func (h *Header) newReader(src *source.File, limits readers.Limits, blockBytes int) (*Reader, error) {
	r := &Reader{
		h: h, src: src, limits: limits.WithDefaults(), columns: make([]column, len(h.Fields)),
		text: h.page.decoder(),
	}
	r.block.most = max(1, blockBytes/h.RecordLength)
	if slices.ContainsFunc(h.Fields, func(f Field) bool { return f.kind.isMemo() }) && !h.options.withoutMemo {
		var err error
		if r.memo, err = openMemo(src, h, r.limits.MaxFeatureBytes); err != nil {
			return nil, err
		}
	}
	for i := range r.columns {
		r.columns[i] = column{
			field: &h.Fields[i], h: h, unread: !h.reads(&h.Fields[i]),
			text: textColumn{decoder: &r.text}, memo: r.memo,
		}
		switch kind := h.Fields[i].kind; {
		case kind == kindDate:
			r.columns[i].months = new(months)
		case kind.isMemo():
			r.memos = append(r.memos, &r.columns[i])
		}
	}
	return r, nil
}

// Read reads the records [from, to) of the table. Errors: a *readers.ParseError for the malformed
// record that comes first, unless on_error is skip; a *readers.LimitError; the error of ctx;
// source.ErrChanged.
func (r *Reader) Read(ctx context.Context, from, to int64) (Run, error) {
	return r.read(ctx, from, to, math.MaxInt64)
}

// ReadSome is Read that ends early, after at least one record, if the memos of the run exceed some
// megabytes: any number of records may have the same long memo.
func (r *Reader) ReadSome(ctx context.Context, from, to int64) (Run, error) {
	const times = 4 // much more than usual, so that few runs end early
	return r.read(ctx, from, to, times*r.limits.PartBytes)
}

func (r *Reader) read(ctx context.Context, from, to, most int64) (Run, error) {
	r.refuse, r.most = r.refuse[:0], most
	to, bad, err := r.pass(ctx, from, to)
	if err == nil && len(bad) > 0 {
		// Malformed records must not affect types, so the others are read as if these were absent.
		r.refuse, r.most = bad, math.MaxInt64
		_, _, err = r.pass(ctx, from, to)
	}
	if err != nil {
		return Run{}, err
	}
	run := Run{
		Columns: &geoarrow.Columns{Rows: len(r.starts), Attributes: make([]geoarrow.Column, len(r.columns))},
		Starts:  r.starts, Left: r.left, Deviations: r.deviations, Bytes: (to - from) * int64(r.h.RecordLength), To: to,
	}
	if len(r.memos) > 0 {
		run.SiblingBytes = r.siblingBytes
	}
	for i := range r.columns {
		run.Columns.Attributes[i] = r.columns[i].finish(len(r.starts))
	}
	run.Skipped.Count = int64(len(r.refuse))
	for _, record := range r.refuse[:min(len(r.refuse), readers.MaxSkippedOffsets)] {
		run.Skipped.First = append(run.Skipped.First, r.h.offset(record))
	}
	return run, nil
}

// pass reads a run, and returns its end, and the malformed records if on_error is skip.
func (r *Reader) pass(ctx context.Context, from, to int64) (end int64, bad []int64, err error) {
	r.starts, r.left, r.siblingBytes = r.starts[:0], r.left[:0], r.siblingBytes[:0]
	r.deviations.Reset()
	for i := range r.columns {
		r.columns[i].reset(int(to - from))
	}
	at := from
	for at < to {
		if err := ctx.Err(); err != nil {
			return 0, nil, err
		}
		n := min(int64(r.block.most), to-at)
		if err := r.block.load(r.src, r.h, at, int(n)); err != nil {
			return 0, nil, err
		}
		wrong := r.live(at, int(n))
		cut, limit, err := r.memosOf(ctx)
		if err != nil {
			return 0, nil, r.tooMuch(err, from)
		}
		if cut > 0 {
			n = r.cut(at, cut)
			wrong = slices.DeleteFunc(wrong, func(place int32) bool { return place >= cut })
			to = at + n
		}
		for i := range r.columns {
			c := &r.columns[i]
			if err := c.parse(&r.block, len(r.starts)); err != nil {
				return 0, nil, r.tooMuch(err, from)
			}
			if !r.h.options.nulls {
				wrong = append(wrong, c.bad...)
			}
		}
		r.deviate(at, from)
		if len(wrong) > 0 && !r.h.options.skip {
			if place := slices.Min(wrong); limit.err == nil || place <= limit.place {
				return 0, nil, r.complain(at, place)
			}
		}
		if limit.err != nil {
			return 0, nil, limit.err
		}
		bad = append(bad, r.numbers(at, wrong)...)
		for _, p := range r.block.live {
			r.starts = append(r.starts, r.h.offset(at)+int64(p)-frontBytes)
		}
		at += n
	}
	return at, bad, nil
}

// cut ends the block, which begins with record first, before the row at a place, and returns the
// number of records left.
func (r *Reader) cut(first int64, place int32) int64 {
	n := int64(int(place)-frontBytes) / int64(r.h.RecordLength)
	b := &r.block
	b.live = slices.DeleteFunc(b.live, func(p int32) bool { return p >= place })
	r.flags = slices.DeleteFunc(r.flags, func(p int32) bool { return p >= place })
	r.left = slices.DeleteFunc(r.left, func(record int64) bool { return record >= first+n })
	return n
}

// live lists the records of the block that are rows, and returns those with an invalid deletion
// flag.
func (r *Reader) live(first int64, n int) (wrong []int32) {
	b := &r.block
	b.live, r.flags = b.live[:0], r.flags[:0]
	p := frontBytes
	for i := range n {
		switch flag := b.buf[p]; {
		case len(r.refuse) > 0 && refused(r.refuse, first+int64(i)), flag == '*' && !r.h.options.deleted:
			r.left = append(r.left, first+int64(i))
		case flag == ' ', flag == 0, flag == '*':
			b.live = append(b.live, int32(p))
		case r.h.options.repair:
			b.live, r.flags = append(b.live, int32(p)), append(r.flags, int32(p))
		default:
			wrong = append(wrong, int32(p))
		}
		p += r.h.RecordLength
	}
	return wrong
}

func refused(list []int64, record int64) bool {
	_, found := slices.BinarySearch(list, record)
	return found
}

// numbers converts places in the block, which begins with record first, to distinct record numbers.
func (r *Reader) numbers(first int64, places []int32) []int64 {
	records := make([]int64, len(places))
	for i, p := range places {
		records[i] = first + int64(int(p)-frontBytes)/int64(r.h.RecordLength)
	}
	slices.Sort(records)
	return slices.Compact(records)
}

// complain returns the error for the record at a place in the block, which begins with record
// first.
func (r *Reader) complain(first int64, place int32) error {
	record := first + int64(int(place)-frontBytes)/int64(r.h.RecordLength)
	if flag := r.block.buf[place]; flag != ' ' && flag != 0 && flag != '*' {
		return r.h.errorAt(r.src, r.h.offset(record), record, "", modeRepair,
			fmt.Errorf("the deletion flag is %s, expected a blank or *", quoted([]byte{flag})))
	}
	for i := range r.columns {
		if c := &r.columns[i]; slices.Contains(c.bad, place) {
			return r.h.errorAt(r.src, r.h.offset(record)+int64(c.field.Offset), record, c.field.Name,
				modeNull, c.wrong(&r.block, int(place)))
		}
	}
	panic("dbf: a malformed record without a malformed field")
}

// tooMuch returns the error of a limit, with its records.
func (r *Reader) tooMuch(err error, from int64) error {
	if !errors.Is(err, geoarrow.ErrBatchTooLarge) {
		return err
	}
	what := fmt.Sprintf("%s: the records from %d on (%v)", r.src.Name, from, err)
	return &readers.LimitError{What: what, Flag: "--batch-rows", Limit: int64(r.limits.BatchRows)}
}

package shapefile

import (
	"context"
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/readers/source"
)

// indexEntry is the size of an entry of a .shx, which has one for each record after a header like
// that of the .shp:
//
//	byte 0  4  big-endian  offset of the record in 16-bit words
//	byte 4  4  big-endian  length of its content in 16-bit words
const indexEntry = 8

// entryAt returns an entry of a .shx: the offset of the record, and the length of its content, in
// bytes.
func entryAt(b []byte) (place, content int64) {
	return 2 * int64(binary.BigEndian.Uint32(b)), contentBytes(b)
}

// order is the arrangement of the records in a file.
type order uint8

const (
	inSequence order = iota // one after the other; the .shx is missing or contradicts that
	indexed                 // one after the other, as in the .shx
	moved                   // where the .shx says
)

// orderOf finds whether the records of a file must be read by its .shx. That is so if shapes were
// changed in place: a shape that no longer fits is moved to the end, one that became shorter leaves
// a gap, and its old bytes remain. Otherwise the records follow each other in the order of their
// numbers, and the .shx does not matter. There are three questions, the first of which decides
// nearly every file:
//
//  1. Do the entries of the .shx follow each other to the end of the .shp?        no more to ask: in sequence,
//     and if not as the .shx has it, an error
//  2. Do the records of the .shp follow each other, numbered, to its end?         in sequence, the .shx is wrong
//  3. Does each entry lead to a record of its number and its length?              moved; else the file is read
//     in sequence, and an error there
func orderOf(ctx context.Context, src *source.File, base int64) (order, error) {
	index, err := src.Sibling(".shx")
	if err != nil || index == nil || index.Size < headerBytes+indexEntry {
		return inSequence, err
	}
	w := walk{
		src: src, base: base, entries: indexEnd(index),
		records: window{ctx: ctx, src: src, step: windowBytes, stop: src.Size}, index: window{
			ctx: ctx,
			src: index, step: windowBytes, stop: index.Size,
		},
	}
	if follow, err := w.entriesFollow(); follow || err != nil {
		return indexed, err
	}
	if follow, err := w.recordsFollow(); follow || err != nil {
		return inSequence, err
	}
	if lead, err := w.entriesLead(); !lead || err != nil {
		return inSequence, err
	}
	return moved, nil
}

// indexEnd returns the end of the last whole entry.
func indexEnd(index *source.File) int64 {
	return index.Size - (index.Size-headerBytes)%indexEntry
}

// walk reads along a .shx and its .shp.
type walk struct {
	src            *source.File
	base           int64
	entries        int64 // end of the entries
	records, index window
}

// runBytes is how much of a .shx a goroutine examines at a time.
const runBytes = 1 << 20

// run is some entries of a .shx.
type run struct {
	from, to int64 // start of the first record, and end of the last one
	follow   bool  // each record begins where the one before it ends
	err      error
}

// entriesFollow answers question 1. Runs of entries are examined in parallel, since every file
// waits for the answer.
func (w *walk) entriesFollow() (bool, error) {
	runs := make([]run, (w.entries-headerBytes+runBytes-1)/runBytes)
	var next atomic.Int64
	look := func() {
		index := window{ctx: w.index.ctx, src: w.index.src, step: windowBytes}
		for k := next.Add(1) - 1; k < int64(len(runs)); k = next.Add(1) - 1 {
			from := headerBytes + k*runBytes
			runs[k] = runOf(&index, from, min(w.entries, from+runBytes))
		}
	}
	var others sync.WaitGroup
	for range min(len(runs), runtime.GOMAXPROCS(0)) - 1 {
		others.Go(look)
	}
	look()
	others.Wait()
	at := int64(headerBytes) // of the record
	for _, r := range runs {
		if r.err != nil || !r.follow || r.from != at {
			return false, r.err
		}
		at = r.to
	}
	return at == w.src.Size, nil
}

// runOf examines the entries between two offsets of a .shx, at least one.
func runOf(index *window, from, to int64) (r run) {
	index.stop = to
	for e := from; e < to; {
		near, err := index.rest(e, indexEntry)
		if err != nil {
			return run{err: err}
		}
		if e == from {
			r.from, _ = entryAt(near)
			r.to = r.from
		}
		for near = near[:min(int64(len(near)), to-e)]; len(near) >= indexEntry; near = near[indexEntry:] {
			place, content := entryAt(near)
			if place != r.to {
				return r
			}
			r.to = place + recordHead + content
			e += indexEntry
		}
	}
	r.follow = true
	return r
}

// recordsFollow answers question 2.
func (w *walk) recordsFollow() (bool, error) {
	at := int64(headerBytes)
	for number := w.base; at < w.src.Size; number++ {
		content, err := w.contentOf(at, number)
		if content < 0 || err != nil {
			return false, err
		}
		at += recordHead + content
	}
	return true, nil
}

// entriesLead answers question 3. Records that overlap have more bytes than the file, which is
// refused: a small file could have any number of shapes.
func (w *walk) entriesLead() (bool, error) {
	w.records.stop = 0 // read only a little at a time
	left := w.src.Size - headerBytes
	for e := int64(headerBytes); e < w.entries; e += indexEntry {
		b, err := w.index.bytes(e, indexEntry)
		if err != nil {
			return false, err
		}
		place, want := entryAt(b)
		content, err := w.contentOf(place, w.base+(e-headerBytes)/indexEntry)
		if left -= recordHead + want; content != want || left < 0 || err != nil {
			return false, err
		}
	}
	return true, nil
}

// contentOf returns the length of the content of the record at an offset, or -1 if there is no
// record of the number.
func (w *walk) contentOf(at, number int64) (int64, error) {
	if at < headerBytes || w.src.Size-at < recordHead {
		return -1, nil
	}
	head, err := w.records.bytes(at, recordHead)
	if err != nil {
		return 0, err
	}
	content := contentBytes(head)
	if numberOf(head) != number || content > w.src.Size-at-recordHead {
		return -1, nil
	}
	return content, nil
}

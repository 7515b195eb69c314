package geoarrow

import (
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow/bitutil"
)

// span is a half-open range of rows, parts, rings, positions or bytes. A selection is a list of
// spans of rows, which is translated, level by level, to spans of what the rows contain. A single
// span needs no copy; several are copied together.
type span struct{ from, to int32 }

// appendSpan adds a non-empty range, merged with the last one if they are adjacent.
func appendSpan(spans []span, from, to int32) []span {
	if n := len(spans); n > 0 && spans[n-1].to == from {
		spans[n-1].to = to
		return spans
	}
	return append(spans, span{from, to})
}

// rowSpans merges consecutive rows.
func rowSpans(rows []int32) []span {
	runs := 0
	for i, r := range rows {
		if i == 0 || r != rows[i-1]+1 {
			runs++
		}
	}
	spans := make([]span, 0, runs)
	for _, r := range rows {
		spans = appendSpan(spans, r, r+1)
	}
	return spans
}

func spansLen(spans []span) int {
	n := 0
	for _, s := range spans {
		n += int(s.to - s.from)
	}
	return n
}

// pick returns the elements of v in the spans, each size long: a slice of v for one span, else a
// copy.
func pick[T any](v []T, spans []span, size int) []T {
	switch len(spans) {
	case 0:
		return nil
	case 1:
		from, to := int(spans[0].from)*size, int(spans[0].to)*size
		return v[from:to:to]
	}
	out := make([]T, 0, spansLen(spans)*size)
	for _, s := range spans {
		if size == 1 && s.to == s.from+1 { // one value costs less than a call that copies it
			out = append(out, v[s.from])
			continue
		}
		out = append(out, v[int(s.from)*size:int(s.to)*size]...)
	}
	return out
}

// pickFixed is pick for values of width bytes each.
func pickFixed(v []byte, spans []span, width int) []byte {
	switch width {
	case 4:
		return AsBytes(pick(View[int32](v), spans, 1))
	case 8:
		return AsBytes(pick(View[int64](v), spans, 1))
	}
	return pick(v, spans, width)
}

// pickOffsets returns the offsets of the rows in the spans, starting at 0, and the spans that they
// refer to.
func pickOffsets(offsets []int32, spans []span) (picked []int32, below []span) {
	if len(spans) == 1 && offsets[spans[0].from] == 0 {
		from, to := spans[0].from, spans[0].to
		return offsets[from : to+1 : to+1], spanBelow(nil, offsets, spans[0])
	}
	picked = make([]int32, 1, spansLen(spans)+1)
	end := int32(0)
	for _, s := range spans {
		base := offsets[s.from] - end
		for _, o := range offsets[s.from+1 : s.to+1] {
			picked = append(picked, o-base)
		}
		end = picked[len(picked)-1]
		below = spanBelow(below, offsets, s)
	}
	return picked, below
}

func spanBelow(below []span, offsets []int32, s span) []span {
	if offsets[s.from] == offsets[s.to] {
		return below
	}
	return appendSpan(below, offsets[s.from], offsets[s.to])
}

// pickBits returns the bits in the spans, from bit 0, with zeros after them: a slice of b if its
// bytes already are like that.
func pickBits(b []byte, spans []span) []byte {
	n := spansLen(spans)
	size := (n + 7) / 8
	if len(spans) == 1 && spans[0].from&7 == 0 {
		part := b[spans[0].from>>3:][:size:size]
		if n&7 == 0 || part[size-1]>>(n&7) == 0 {
			return part
		}
	}
	out := make([]byte, size)
	at := 0
	for _, s := range spans {
		CopyBits(out, at, b, int(s.from), int(s.to-s.from))
		at += int(s.to - s.from)
	}
	return out
}

// CopyBits copies n bits of src, from its bit from, to dst, whose bits from at on are zero.
func CopyBits(dst []byte, at int, src []byte, from, n int) {
	if n >= 64 {
		bitutil.CopyBitmap(src, from, n, dst, at)
		return
	}
	for i := range n {
		dst[(at+i)>>3] |= src[(from+i)>>3] >> ((from + i) & 7) & 1 << ((at + i) & 7)
	}
}

// pickValid returns the validity of the rows in the spans and how many of them are null: nil and 0
// if none is.
func pickValid(valid []byte, spans []span) (picked []byte, nulls int) {
	if valid == nil {
		return nil, 0
	}
	picked = pickBits(valid, spans)
	if nulls = spansLen(spans) - countBits(picked); nulls == 0 {
		return nil, 0
	}
	return picked, nulls
}

func countBits(b []byte) int {
	n := 0
	for _, v := range b {
		n += bits.OnesCount8(v)
	}
	return n
}

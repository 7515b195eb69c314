package geojson

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// column collects the values of one name.
type column struct {
	rows.Column
	after prediction // what followed this column's value in the last feature
}

// prediction is the bytes that stood between one value and the next one's, all of them: `,"name":
// `. Where they stand again, the next value belongs to the same column, with nothing left to check.
type prediction struct {
	next   *column
	lo, hi uint64 // the first 16 bytes
	loMask uint64
	hiMask uint64
	rest   string // the bytes behind
	n      int
}

// mostPredicted bounds the bytes that a prediction keeps.
const mostPredicted = 256

func (q *prediction) learn(next *column, between []byte) {
	*q = prediction{}
	if len(between) > mostPredicted {
		return
	}
	var b [16]byte
	n := copy(b[:], between)
	q.next, q.n, q.rest = next, len(between), string(between[n:])
	q.lo, q.hi = *(*uint64)(unsafe.Pointer(&b[0])), *(*uint64)(unsafe.Pointer(&b[8]))
	q.loMask, q.hiMask = ^uint64(0), ^uint64(0)
	if n <= 8 {
		q.hiMask = 0
	} else {
		q.hiMask >>= 8 * (16 - uint(n))
	}
	if n < 8 {
		q.loMask >>= 8 * (8 - uint(n))
	}
}

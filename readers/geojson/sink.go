package geojson

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// sink holds the rows of the current chunk, and GeoJSON's state in addition to their values.
type sink struct {
	rows.Sink
	columns []*column // by their Index
	id      *rows.Column
	start   prediction // bytes before the first property

	repeats []int64        // offsets of features that have a name twice, found in this pass
	known   map[int64]bool // the same, from earlier passes

	restart bool // a malformed row has nulls: the chunk is read again with the probe
	careful bool // the probe reads each row first, so that a malformed one does not affect the types of columns

	foreign []string         // names of the current row
	members map[string]int64 // foreign members of earlier rows, by name
}

func newSink(columns readers.Projection) *sink {
	k := &sink{}
	k.Project(columns)
	k.Init(func() *rows.Column {
		c := &column{}
		k.columns = append(k.columns, c)
		return &c.Column
	})
	k.Reset()
	return k
}

// Reset drops the rows of the chunk, not what is known about it.
func (k *sink) Reset() {
	for _, c := range k.Order {
		k.columns[c.Index].after = prediction{}
	}
	k.Sink.Reset()
	k.id, k.start = nil, prediction{}
	k.repeats = k.repeats[:0]
	k.members = map[string]int64{}
	k.foreign = k.foreign[:0]
}

// property finds or makes the column of a property, and moves it to its place in order.
func (k *sink) property(name []byte) *column {
	return k.columns[k.Column(geoarrow.RoleAttribute, name).Index]
}

// Commit ends the current row, which began at an offset.
func (k *sink) Commit(at int64) {
	k.Sink.Commit(at)
	for _, name := range k.foreign {
		k.members[name]++
	}
	k.foreign = k.foreign[:0]
}

// Rollback forgets the current row.
func (k *sink) Rollback() {
	k.Sink.Rollback()
	k.foreign = k.foreign[:0]
}

// AddTo adds the counts of a finished chunk.
func (k *sink) AddTo(sum *readers.Summary) {
	k.Sink.AddTo(sum)
	for name, n := range k.members {
		sum.Foreign[name] += n
	}
}

// column collects the values of one name.
type column struct {
	rows.Column
	after prediction // bytes after this column's value in the last feature
}

// prediction is the bytes between one value and the next: `,"name": `. If they occur again, the
// next value belongs to the same column without further checks.
type prediction struct {
	next   *column
	lo, hi uint64 // the first 16 bytes
	loMask uint64
	hiMask uint64
	rest   string // the rest
	n      int
}

// maxPredicted bounds the bytes that a prediction keeps.
const maxPredicted = 256

func (q *prediction) learn(next *column, between []byte) {
	*q = prediction{}
	if len(between) > maxPredicted {
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

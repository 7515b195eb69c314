package jsonrows

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// Sink holds the rows of the current chunk, and the state of JSON in addition to their values.
type Sink struct {
	rows.Sink
	ID      *rows.Column // of the rows' ids, nil until the first one
	Foreign []string     // names of the current row's members that no column holds
	columns []*Column    // by their Index
	declare func(*Sink)
	start   prediction // bytes before the first member

	repeats []int64        // offsets of rows that have a name twice, found in this pass
	known   map[int64]bool // the same, from earlier passes

	restart bool // a malformed row has nulls: the chunk is read again with the probe
	careful bool // the probe reads each row first, so that a malformed one does not affect the types of columns

	members map[string]int64 // foreign members of earlier rows, by name
}

// NewSink returns an empty sink.
func NewSink(c Config) *Sink {
	k := &Sink{declare: c.Declare}
	k.Project(c.Layout.Columns)
	k.Init(func() *rows.Column {
		c := &Column{}
		k.columns = append(k.columns, c)
		return &c.Column
	})
	k.Reset()
	return k
}

// Reset drops the rows of the chunk, not what is known about it.
func (k *Sink) Reset() {
	for _, c := range k.Order {
		k.columns[c.Index].after = prediction{}
	}
	k.Sink.Reset()
	k.ID, k.start = nil, prediction{}
	k.repeats = k.repeats[:0]
	k.members = map[string]int64{}
	k.Foreign = k.Foreign[:0]
	if k.declare != nil {
		k.declare(k)
	}
}

// Member finds or makes the column of a member of rows, and moves it to its place in order.
func (k *Sink) Member(name []byte) *Column {
	return k.columns[k.Column(geoarrow.RoleAttribute, name).Index]
}

// Commit ends the current row, which began at an offset.
func (k *Sink) Commit(at int64) {
	k.Sink.Commit(at)
	for _, name := range k.Foreign {
		k.members[name]++
	}
	k.Foreign = k.Foreign[:0]
}

// Rollback forgets the current row.
func (k *Sink) Rollback() {
	k.Sink.Rollback()
	k.Foreign = k.Foreign[:0]
}

// AddTo adds the counts of a finished chunk.
func (k *Sink) AddTo(sum *readers.Summary) {
	k.Sink.AddTo(sum)
	for name, n := range k.members {
		sum.Foreign[name] += n
	}
}

// Column collects the values of one name.
type Column struct {
	rows.Column
	after prediction // bytes after this column's value in the last row

	// Read reads a value instead of Scanner.Value, unless nil. Any scanner may use the column.
	Read func(s *Scanner, c *rows.Column, p, open int) int
}

// prediction is the bytes between one value and the next: `,"name": `. If they occur again, the
// next value belongs to the same column without further checks.
type prediction struct {
	next   *Column
	lo, hi uint64 // the first 16 bytes
	loMask uint64
	hiMask uint64
	rest   string // the rest
	n      int
}

// maxPredicted bounds the bytes that a prediction keeps.
const maxPredicted = 256

func (q *prediction) learn(next *Column, between []byte) {
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

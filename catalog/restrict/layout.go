package restrict

import (
	"slices"

	"github.com/vibeflight/vibeflight/readers"
)

// layout says which rows of a table are the rows of its restriction. It is immutable.
type layout struct {
	sets     []rowSet  // of each batch of the table
	before   []int64   // kept rows of the table that precede each batch, and all at the end
	segments []segment // in order
	first    []int     // segment of each batch of the restriction, and their number at the end
	starts   []int64   // row of each batch of the restriction, and their number at the end
}

// segment is kept rows of one batch of the table that are consecutive in the restriction.
type segment struct {
	batch    int // of the table
	from, to int // numbers among the kept rows of the batch
}

// newLayout cuts the kept rows into batches as a parse cuts the rows of a file: where batches of the
// table end does not matter, since this would tell how many rows are hidden. sizes are the bytes of
// the batches of the table.
func newLayout(sets []rowSet, sizes []int64, limits readers.Limits) *layout {
	l := &layout{sets: sets, before: make([]int64, len(sets)+1), starts: []int64{0}}
	limits = limits.WithDefaults()
	rows, bytes := 0, int64(0) // of the current batch
	cut := func() {
		if rows == 0 {
			return
		}
		l.starts = append(l.starts, l.starts[len(l.starts)-1]+int64(rows))
		rows, bytes = 0, 0
		l.first = append(l.first, len(l.segments))
	}
	l.first = []int{0}
	for j, s := range sets {
		l.before[j+1] = l.before[j] + int64(s.n)
		each := int64(1) // estimated bytes of a row
		if s.rows > 0 {
			each = max(1, sizes[j]/int64(s.rows))
		}
		for from := 0; from < s.n; {
			if rows == limits.BatchRows || rows > 0 && bytes+each > limits.BatchBytes {
				cut()
			}
			room := min(int64(limits.BatchRows-rows), max(1, (limits.BatchBytes-bytes)/each))
			to := min(s.n, from+int(room))
			l.segments = append(l.segments, segment{j, from, to})
			rows += to - from
			bytes += each * int64(to-from)
			from = to
		}
	}
	cut()
	if len(l.starts) == 1 { // no row is kept: one batch without rows
		l.starts, l.first = []int64{0, 0}, []int{0, 0}
	}
	return l
}

// of returns the segments of a batch of the restriction.
func (l *layout) of(i int) []segment { return l.segments[l.first[i]:l.first[i+1]] }

// rows returns the rows of a segment, by number in their batch.
func (l *layout) rows(s segment) []int32 { return l.sets[s.batch].all()[s.from:s.to] }

// bytes returns the size of the layout.
func (l *layout) bytes() int64 {
	n := int64(8*(len(l.before)+len(l.first)+len(l.starts)) + 24*len(l.segments))
	for _, s := range l.sets {
		n += 64 + s.bytes()
	}
	return n
}

// rank returns the number of kept rows below a row of the table. starts are those of the table's
// batches.
func (l *layout) rank(starts []int64, row int64) int64 {
	j, exact := slices.BinarySearch(starts, row)
	if !exact {
		j--
	}
	if j >= len(l.sets) {
		return l.before[len(l.sets)]
	}
	return l.before[j] + int64(l.sets[j].rank(int(row-starts[j])))
}

package restrict

import (
	"math/bits"
	"slices"
)

// rowSet is a set of the rows of one batch. It is immutable.
type rowSet struct {
	rows, n int      // of the batch, and of the set
	words   []uint64 // one bit a row; nil for a full or a sparse set
	list    []int32  // of a sparse set, ascending
}

// sparse is the number of rows for each of which a bit is smaller than a number for each row of a
// set.
const sparse = 32

// newRowSet returns the set of the listed rows, ascending.
func newRowSet(rows int, list []int32) rowSet {
	s := rowSet{rows: rows, n: len(list)}
	switch {
	case s.n == rows:
	case s.n < rows/sparse:
		s.list = slices.Clone(list)
	default:
		s.words = make([]uint64, (rows+63)/64)
		for _, r := range list {
			s.words[r>>6] |= 1 << (r & 63)
		}
	}
	return s
}

func (s rowSet) full() bool { return s.n == s.rows }

// bytes returns the size of the set.
func (s rowSet) bytes() int64 { return int64(8*len(s.words) + 4*len(s.list)) }

// all returns the rows, ascending. The slice must not be modified.
func (s rowSet) all() []int32 {
	if s.list != nil {
		return s.list
	}
	list := make([]int32, 0, s.n)
	if s.words == nil {
		for i := range s.n { // a full or an empty set
			list = append(list, int32(i))
		}
		return list
	}
	for i, w := range s.words {
		for ; w != 0; w &= w - 1 {
			list = append(list, int32(i<<6+bits.TrailingZeros64(w)))
		}
	}
	return list
}

// rank returns the number of rows of the set below row.
func (s rowSet) rank(row int) int {
	switch {
	case s.full():
		return min(row, s.n)
	case s.words == nil:
		n, _ := slices.BinarySearch(s.list, int32(row))
		return n
	}
	n := 0
	for _, w := range s.words[:min(row>>6, len(s.words))] {
		n += bits.OnesCount64(w)
	}
	if row>>6 < len(s.words) {
		n += bits.OnesCount64(s.words[row>>6] & (1<<(row&63) - 1))
	}
	return n
}

// has reports whether the set has a row.
func (s rowSet) has(row int32) bool {
	switch {
	case s.full():
		return true
	case s.words == nil:
		_, ok := slices.BinarySearch(s.list, row)
		return ok
	}
	return s.words[row>>6]>>(row&63)&1 == 1
}

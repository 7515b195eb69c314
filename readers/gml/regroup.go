package gml

import (
	"bytes"
	"fmt"
	"iter"
	"unsafe"
)

// regroup reads coordinates with nonstandard separators, if they have one obvious reading:
//
//	1,2, 3,4, 5,6    tuples between blanks, with a comma before or after
//	1 2,3 4          tuples between commas, with blanks inside
//
// All tuples have two ordinates, or all have three. It returns false, with the last fault as it
// was, where there is no such reading or on_error allows none.
func (s *scanner) regroup(text plainText, sep separators) bool {
	if sep.cs != ',' || !isBlank(sep.ts) {
		return false
	}
	fault := s.X.Fault
	plain := unsafe.Slice((*byte)(text.q), text.n)
	before := s.sink.Geom.Mark()
	n, ok := s.tuplesBetween(bytes.FieldsSeq, commas, plain, sep)
	if !ok {
		s.sink.Geom.Rewind(before)
		n, ok = s.tuplesBetween(commas, bytes.FieldsSeq, plain, sep)
	}
	s.X.Fault = fault
	if !ok || !s.active || !s.repairs {
		s.sink.Geom.Rewind(before)
		if ok {
			s.mode = modeRepair
		}
		return false
	}
	done := "read as 1 tuple"
	if n > 1 {
		done = fmt.Sprintf("read as %d tuples", n)
	}
	s.deviate(ruleSeparators, done)
	s.tolerate()
	return true
}

// commas splits a text at commas, without one at either end and without surrounding blanks.
func commas(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for part := range bytes.SplitSeq(bytes.Trim(trim(text), ", \t\r\n"), []byte{','}) {
			if !yield(trim(part)) {
				return
			}
		}
	}
}

// split gives the parts of a text.
type split func(text []byte) iter.Seq[[]byte]

// tuplesBetween reads tuples with one separator between tuples and another between ordinates.
func (s *scanner) tuplesBetween(tuples, ordinates split, text []byte, sep separators) (n int, ok bool) {
	size := 0
	for tuple := range tuples(text) {
		if len(bytes.Trim(tuple, ",")) == 0 {
			continue
		}
		i := 0
		for token := range ordinates(tuple) {
			v, why := s.decimal(token, sep)
			if why >= 0 || i == 3 {
				return 0, false
			}
			s.add(i, v)
			i++
		}
		if i < 2 || size > 0 && i != size {
			return 0, false
		}
		size = i
		n++
	}
	return n, n > 0
}

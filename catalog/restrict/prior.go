package restrict

import (
	"github.com/vibeflight/vibeflight/catalog/dataset"
)

// ValidPositions implements dataset.Prior.
func (s *reader) ValidPositions(i int) bool {
	of, ok := s.base.(dataset.Prior)
	if !ok {
		return false
	}
	for _, j := range s.part.needs([]int{i}) {
		if !of.ValidPositions(j) {
			return false
		}
	}
	return true
}

// Values implements dataset.Prior. The range of all rows is one of the kept rows too: it only serves
// to leave out batches.
func (s *reader) Values(i, column int) (v dataset.ValueRange, ok bool) {
	of, is := s.base.(dataset.Prior)
	if !is || column >= len(s.part.rule.attributes) || s.part.rule.maskOf(column) != nil {
		return v, false
	}
	for n, j := range s.part.needs([]int{i}) {
		each, ok := of.Values(j, s.part.rule.attributes[column])
		if !ok {
			return v, false
		}
		if n == 0 {
			v = each
			continue
		}
		v = v.And(each)
	}
	return v, s.part.table.Rows > 0
}

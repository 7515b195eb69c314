package text

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// Texts are columns of strings that ReadMembers measured. Free gives all of their memory back.
type Texts struct {
	Of []*Strings // one for each column

	// Of all of them, which theirs are views of.
	lists stringLists
	sums  gpu.Buffer[int64]
}

// AllocTexts allocates the columns of strings that a kernel measures, of rows strings each. starts
// and ends have all columns, one after the other; columns says which of these are strings. offsets
// is as in MeasureStrings, one column after the other.
func AllocTexts(w *kernels.Call, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64], columns []int, rows int,
	offsets gpu.Buffer[int64],
) *Texts {
	count := len(columns)
	w.Need(offsets.Len() == count*(rows+1), "%d offsets for %d texts of %d rows", offsets.Len(), count, rows)
	x := &Texts{lists: allocStrings(w, count, rows), sums: kernels.Result[int64](w,
		int64(count)*(kernels.Blocks(int64(rows), kernels.Block)+1))}
	for i, column := range columns {
		if w.Err == nil {
			from, to := column*rows, (column+1)*rows
			of := &Strings{
				stringLists: x.lists.part(i, count), text: text, mode: StringsJSON,
				starts: starts.Slice(from, to), ends: ends.Slice(from, to),
				offsets: part(offsets, i, count), sums: part(x.sums, i, count),
			}
			of.split(w)
			x.Of = append(x.Of, of)
		}
	}
	return x
}

// RebaseOffsets has the offsets of many rows count from the first string of a column.
func (x *Texts) RebaseOffsets(w *kernels.Call, rows int) {
	for _, of := range x.Of {
		if w.Err == nil && rows > OffsetBlocks*kernels.Block {
			of.rebaseOffsets(w)
		}
	}
}

// Column is where a kernel writes the results for the column of number i. Those of the columns after
// it follow, each list by itself. It is zero if there is no such column.
func (x *Texts) Column(i int) StringColumn {
	if i >= len(x.Of) {
		return StringColumn{}
	}
	return x.Of[i].column(x.Of[i].sums)
}

// Free gives the memory back once the work that s was given before is done, that of long strings,
// too.
func (x *Texts) Free(s *gpu.Stream) error {
	errs := []error{x.lists.free(s), x.sums.Free(s)}
	for _, of := range x.Of {
		errs = append(errs, of.Free(s))
	}
	return errors.Join(errs...)
}

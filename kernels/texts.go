package kernels

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
)

// Texts are columns of strings that ReadMembers measured. Free gives all of their memory back.
type Texts struct {
	Of []*Strings // one for each column

	// Of all of them, which theirs are views of.
	lists stringLists
	sums  gpu.Buffer[int64]
}

// texts takes memory for the columns that are measured as texts.
func (c *ScalarColumns) texts(w *work, text gpu.Buffer[byte], rows int) *Texts {
	count := len(c.Texts)
	w.need(c.Offsets.Len() == count*(rows+1), "%d offsets for %d texts of %d rows", c.Offsets.Len(), count, rows)
	for i, column := range c.Texts {
		w.need(column >= 0 && column < len(c.Slots) && (i == 0 || column > c.Texts[i-1]),
			"texts in column %d of %d, or not in order", column, len(c.Slots))
	}
	x := &Texts{lists: allocStrings(w, count, rows), sums: give[int64](w, int64(count)*(blocks(int64(rows), block)+1))}
	for i, column := range c.Texts {
		if w.err == nil {
			of := &Strings{
				stringLists: x.lists.part(i, count), text: text, mode: StringsJSON, offsets: part(c.Offsets, i, count),
				sums:   part(x.sums, i, count),
				starts: c.To.Starts.Slice(column*rows, (column+1)*rows), ends: c.To.Ends.Slice(column*rows,
					(column+1)*rows),
			}
			of.split(w)
			x.Of = append(x.Of, of)
		}
	}
	return x
}

// args are what a kernel needs to measure the columns from number i on.
func (x *Texts) args(i int) [6]gpu.Arg {
	if i >= len(x.Of) {
		return [6]gpu.Arg{}
	}
	of := x.Of[i]
	return [...]gpu.Arg{
		of.offsets.Arg(), of.sums.Arg(), of.flags.Arg(), of.before.Arg(), of.first.Arg(),
		of.Summary.Arg(),
	}
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

package list

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
)

// ListFlags say of which kinds the elements of arrays are. Below are the kinds of their numbers,
// Number*.
type ListFlags uint32

// As LIST_* of lists.cu.
const (
	ListBool   ListFlags = 1 << (16 + iota) // true or false
	ListString                              // a string
	ListNumber                              // a number, and what number
	// null, an object or an array; of a column, an array of elements of several kinds, too
	ListOdd
	ListEmpty // of a column, an array without elements
)

// Lists are the elements of arrays that are values of members, in text order: those that are
// scalars.
type Lists struct {
	First, Last   kernels.Mask // the first byte and the last byte of each element
	ranks         *Ranks
	flags         gpu.Buffer[uint32] // of each member
	starts, lasts gpu.Buffer[int64]  // of each element

	text       gpu.Buffer[byte]
	valueStart gpu.Buffer[uint32]
}

// FindElements finds the elements of arrays.
//
//	text        n bytes
//	x           was parsed from text, without a carry
//	within      Words(n) words: bytes of the arrays, as CheckValues takes it, which has found no fault
//	level       the depth of the arrays, which counts themselves
//	valueStart  of all members, ascending; arrays among them. It must live until the last use of the result
//
//	text   {"a":[1,"x", null],"b":[[2],3]}
//	First  ......1.1....1..............1..
//	Last   ......1...1.....1...........1..     not 2, which is an element of an element
//
// ReadElements goes on, once Total is known. The caller frees the result.
//
// Five launches; reads n/8 bytes, and where there are arrays 11/8 bytes for each byte of text;
// writes and scans 3/8.
func FindElements(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *kjson.Structure,
	within kernels.Mask, level int,
	valueStart gpu.Buffer[uint32],
) (*Lists, error) {
	w := k.Begin(s, "find elements")
	n, members := w.CheckText(text), int64(valueStart.Len())
	w.Need(x.Len() == n, "the structure of %d bytes for %d bytes of text", x.Len(), n)
	w.CheckMask("within", within, n)
	l := &Lists{text: text, valueStart: valueStart, ranks: &Ranks{}}
	words := int64(kernels.Words(int(n)))
	l.First, l.Last, l.flags = kernels.Result[uint64](w, words), kernels.Result[uint64](w, words),
		kernels.Result[uint32](w, members)
	if w.Err == nil {
		w.Err = gpu.Fill(s, l.flags, 0)
	}
	w.Launch("lists_elements", kernels.Blocks(n, kernels.TileBytes), kernels.Block, text.Arg(), x.PlanesArg(),
		gpu.Int(n),
		x.TilesArg(), within.Arg(), gpu.Int(level), valueStart.Arg(), gpu.Int(members),
		l.First.Arg(), l.Last.Arg(), l.flags.Arg())
	if w.Err == nil {
		if r, err := Rank(k, s, l.First); err == nil {
			l.ranks = r
		} else {
			w.Err = err
		}
	}
	if err := w.Done(); err != nil {
		return nil, errors.Join(err, l.Free(s))
	}
	return l, nil
}

// Total is one element: how many elements there are.
func (l *Lists) Total() gpu.Buffer[int64] { return l.ranks.Total() }

// Free gives the memory back once the work that s was given before is done.
func (l *Lists) Free(s *gpu.Stream) error {
	return errors.Join(l.First.Free(s), l.Last.Free(s), l.flags.Free(s), l.starts.Free(s), l.lasts.Free(s),
		l.ranks.Free(s))
}

// ReadElements finds out what the elements are, of which there are total.
//
// Five launches; reads the masks twice, and the text of numbers; writes 16 bytes an element.
func ReadElements(k *kernels.Set, s *gpu.Stream, l *Lists, total int64) error {
	w := k.Begin(s, "read elements")
	w.Need(l.starts.Len() == 0, "elements that were read before")
	l.starts, l.lasts = kernels.Result[int64](w, total), kernels.Result[int64](w, total)
	for _, at := range []struct {
		mask kernels.Mask
		out  gpu.Buffer[int64]
	}{{l.First, l.starts}, {l.Last, l.lasts}} {
		if w.Err == nil {
			kernels.Positions(w, at.mask, kernels.CountTiles(w, at.mask, gpu.Buffer[int64]{}), 0, at.out)
		}
	}
	w.Launch("lists_kinds", kernels.Blocks(total, kernels.Block), kernels.Block, l.text.Arg(),
		gpu.Int(l.text.Len()), l.starts.Arg(),
		l.lasts.Arg(), gpu.Int(total), l.valueStart.Arg(), gpu.Int(l.valueStart.Len()), l.flags.Arg())
	return w.Done()
}

// MeasureLists reports of which kinds the arrays of a column are, and how many elements each row has.
// A row with a string, a number, true or false has one, itself.
//
//	slots         n elements: the column's members, or -1
//	kind          of all members
//	starts, ends  n elements, overwritten: the spans of the rows' arrays in the text, empty in other rows;
//	              then those of their elements among all
//	offsets       a row more, overwritten: elements of the rows before each row, and of all
//	report        one element, overwritten: ListFlags and kinds of numbers of all arrays
//
//	text     [1, 2.5]  ["a"]  []  [1, "a"]
//	report   ListNumber NumberInt32 NumberReal, ListString, ListEmpty, ListOdd
//
// Three launches; reads 29 bytes a row and writes and scans 24.
func MeasureLists(k *kernels.Set, s *gpu.Stream, l *Lists, slots gpu.Buffer[int32], kind gpu.Buffer[kjson.ValueKind],
	starts, ends, offsets gpu.Buffer[int64], report gpu.Buffer[uint32],
) error {
	w := k.Begin(s, "measure lists")
	rows := int64(slots.Len())
	w.Need(kernels.CountSpans(w, starts, ends) == rows && int64(offsets.Len()) == rows+1,
		"%d starts and %d offsets for %d rows", starts.Len(), offsets.Len(), rows)
	w.Need(kind.Len() == l.valueStart.Len(), "%d kinds for %d members", kind.Len(), l.valueStart.Len())
	w.Need(report.Len() == 1, "%d reports", report.Len())
	if w.Err == nil {
		w.Err = errors.Join(gpu.Fill(s, report, 0), RankSpans(k, s, l.ranks, starts, ends))
	}
	w.Launch("lists_rows", kernels.Blocks(rows, kernels.Block), kernels.Block, slots.Arg(), gpu.Int(rows), kind.Arg(),
		gpu.Int(kind.Len()), l.flags.Arg(), starts.Arg(), ends.Arg(), offsets.Arg(), report.Arg())
	if w.Err == nil {
		kernels.Scan(w, offsets.Slice(0, int(rows)), offsets, gpu.Buffer[int64]{})
	}
	return w.Done()
}

// listsGatherArgs is ListsGatherArgs of lists.cu.
type listsGatherArgs struct {
	n, members, rows, all, count int64
	starts, ends                 gpu.Pointer[int64]
	trues                        gpu.Pointer[uint64]
}

// GatherElements returns the text of the elements of a column that MeasureLists measured.
//
//	ranks    n elements: starts as MeasureLists left them
//	offsets  a row more
//	slots, kind  as MeasureLists took them
//	valueEnd     of all members
//	starts   an element for each of the column's, overwritten: of its text, the quotes of strings left out
//	ends     likewise
//	trues    a bit for each, overwritten: it is true
//
// One launch; reads some 40 bytes an element and writes 16.
func GatherElements(k *kernels.Set, s *gpu.Stream, l *Lists, slots gpu.Buffer[int32], kind gpu.Buffer[kjson.ValueKind],
	valueEnd gpu.Buffer[uint32], ranks, offsets, starts, ends gpu.Buffer[int64], trues kernels.Mask,
) error {
	w := k.Begin(s, "gather elements")
	rows, count := int64(ranks.Len()), kernels.CountSpans(w, starts, ends)
	w.Need(int64(offsets.Len()) == rows+1, "%d offsets for %d rows", offsets.Len(), rows)
	w.Need(int64(slots.Len()) == rows, "%d slots for %d rows", slots.Len(), rows)
	w.Need(kind.Len() == l.valueStart.Len() && valueEnd.Len() == kind.Len(), "%d kinds and %d ends for %d members",
		kind.Len(), valueEnd.Len(), l.valueStart.Len())
	w.CheckBits("trues", trues, count)
	args := listsGatherArgs{
		n: int64(l.text.Len()), members: int64(kind.Len()), rows: rows, all: int64(l.starts.Len()), count: count,
		starts: starts.Pointer(), ends: ends.Pointer(), trues: trues.Pointer(),
	}
	w.Launch("lists_gather", kernels.Blocks(count, kernels.Block), kernels.Block, l.text.Arg(), slots.Arg(),
		kind.Arg(), l.valueStart.Arg(), valueEnd.Arg(), offsets.Arg(), ranks.Arg(), l.starts.Arg(), l.lasts.Arg(),
		gpu.Struct(&args))
	return w.Done()
}

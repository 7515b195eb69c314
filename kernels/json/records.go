package json

import (
	"errors"
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// ValueKind is the type of a JSON value (RFC 8259 section 3).
type ValueKind uint8

// As VALUE_* of records.cuh.
const (
	ValueNull ValueKind = 1 + iota
	ValueFalse
	ValueTrue
	ValueNumber
	ValueString
	ValueObject
	ValueArray
)

// RecordSeparator is what separates records.
type RecordSeparator uint32

// As SEPARATOR_* of records.cuh.
const (
	// RecordsComma is one comma after each record, with blanks before and after it, as in an
	// array. The last record has one, too: the text ends before the next.
	RecordsComma RecordSeparator = iota
	// RecordsLine is blanks after each record, the last one too, with a line feed among them.
	RecordsLine
)

// Records are the objects at depth 1 of a JSON text, their members, and the members of the objects
// that are values of these: two levels. Free gives the lists back. All offsets are bytes of the
// text.
type Records struct {
	Count       int               // records
	Open, Close gpu.Buffer[int64] // Count elements: the '{' and the '}' of each record
	Members     int               // of both levels
	// Members elements, as all that follow, in the order of the colons: the record that the member
	// belongs to
	Row gpu.Buffer[int32]
	// -1 for a member of a record itself, or else the member whose value is the object that holds
	// it
	Owner gpu.Buffer[int32]
	// Raw text of the value, with its quotes or brackets.
	ValueStart, ValueEnd gpu.Buffer[uint32]
	Kind                 gpu.Buffer[ValueKind]

	Field gpu.Buffer[int32] // with a dictionary: the name that the key is, as MatchKeys has it
	// with a dictionary, one element: the first member whose key is not one of the names, or
	// math.MaxUint32
	Missed gpu.Buffer[uint32]

	KeyStart, KeyEnd gpu.Buffer[int64] // after ListKeys: raw text of the key, without its quotes

	// where the text is no run of records, or holds what is not known; -1 if it does not. With a
	// fault the lists are of no use
	Fault int64
	Found gpu.Buffer[RecordsFound] // one element: the same, on the device

	Unsound bool // CheckStrings has something to look at: without it, all strings are sound

	sep    RecordSeparator
	levels gpu.Buffer[uint64] // of the text's words, and what lies before each of its tiles: see records.cu
	before gpu.Buffer[int64]
}

// RecordsFound is RecordResult of records.cu: what the device says of records.
type RecordsFound struct {
	Fault, Members, Records int64
	Unsound                 int64 // not 0 if CheckStrings has something to look at: without it, all strings are sound
}

// As in records.cuh: how many threads join tiles, at most, how many tiles each of them takes at a
// time, and how many columns say what lies before a tile.
const (
	joinRuns   = 512
	joinEach   = 6
	joinRound  = joinRuns * joinEach
	runColumns = 6
)

// tileRun is TileRun of records.cuh.
type tileRun [8]uint16

// ListRecords lists the records of text and two levels of members, and checks all of the text that
// lies outside of strings and of values that are listed whole: arrays, and the objects at the
// second level. Of these it checks that they are closed by their own kind of bracket. It waits for
// the device twice: for the counts, and for the fault.
//
//	text   n bytes, less than 4 GiB: records, each with its separator, from the first '{' on; no record at all
//	       if n is 0
//	x      parsed from text without a carry
//	names  to look keys up in; nil: they are not
//
//	text   { "id" : 7 , "p" : { "a" : [ [ ] ] , "b" : "" } } ,
//	row      0         0        0              0
//	owner    -1        -1       1              1
//	kind     number    object   array          string
//
// A fault is, too: more than 4 KiB of blanks between a colon and its value or after a scalar, or
// between a line feed and the next record, and a key or number of more than 1 KiB. Numbers are
// checked by their grammar, not by their range.
//
// Three launches. One reads 3/8 byte for each byte of text and writes as much; one joins tiles; one
// reads both, the text of scalars, of keys that are looked up and of blanks, and writes 17 bytes a
// member, and 4 for its name.
func ListRecords(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *Structure, sep RecordSeparator,
	names *Fields,
) (*Records, error) {
	r, err := QueueRecords(k, s, text, x, sep, names)
	if err != nil {
		return nil, err
	}
	found, err := gpu.Read(s, r.Found)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("list records: %w", err), r.Free(s))
	}
	r.Fault = found[0].Fault
	return r, nil
}

// QueueRecords is ListRecords that waits for the counts only: Fault is left out, the caller is to
// read it in Found, with what else it waits for. Until then the lists may hold anything.
func QueueRecords(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *Structure, sep RecordSeparator,
	names *Fields,
) (*Records, error) {
	w := k.Begin(s, "list records")
	n := w.CheckText(text)
	w.Need(n == x.n, "%d bytes of text, and the structure of %d", n, x.n)
	w.Need(n <= math.MaxUint32, "%d bytes of text, at most %d", n, uint32(math.MaxUint32))
	w.Need(sep <= RecordsLine, "record separator %d", sep)
	tiles := kernels.Blocks(n, kernels.TileBytes)
	room := joinRound * kernels.Blocks(tiles, joinRound)
	run, result := kernels.Scratch[tileRun](w, int(room)), kernels.Result[RecordsFound](w, 1)
	r := &Records{
		Found: result, sep: sep, levels: kernels.Result[uint64](w, 3*kernels.Block*tiles),
		before: kernels.Result[int64](w, runColumns*room),
	}
	if w.Err == nil {
		// Fault is -1; what it takes to copy that would wait after the text of other chunks
		w.Err = gpu.Fill(s, result, 0xff)
	}
	told := kernels.HostNote[RecordsFound](w)
	w.Launch("records_count", tiles, kernels.Block, x.planes.Arg(), gpu.Int(n), x.tile.Arg(), r.levels.Arg(),
		run.Arg(), result.Arg())
	w.Launch("records_join", 1, int(min(joinRuns, kernels.Blocks(max(tiles, 1), 32*joinEach)*32)), text.Arg(),
		gpu.Int(n), gpu.Int(sep), run.Arg(), gpu.Int(tiles), r.before.Arg(), x.unsound.Arg(), result.Arg(),
		gpu.HostPointer(told).Arg())
	w.Wait()
	found := told[0]
	w.Need(found.Records <= math.MaxInt32 && found.Members <= math.MaxInt32, "%d records with %d members in one text",
		found.Records, found.Members)
	r.Count, r.Members, r.Unsound = int(found.Records), int(found.Members), found.Unsound != 0
	r.alloc(w)
	if names != nil {
		r.Field, r.Missed = kernels.Result[int32](w, int64(r.Members)), kernels.Result[uint32](w, 1)
		if w.Err == nil {
			w.Err = gpu.Fill(s, r.Missed, 0xff)
		}
	}
	r.emit(w, text, x, names)
	if err := w.Done(); err != nil {
		return nil, errors.Join(err, r.Free(s))
	}
	return r, nil
}

// ListKeys lists the keys of the members of r, which comes from the same text and structure: few
// texts have keys that anyone asks for. All other lists are written once more.
func ListKeys(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *Structure, r *Records) error {
	w := k.Begin(s, "list keys")
	n := w.CheckText(text)
	w.Need(n == x.n && r.levels.Len() == int(3*kernels.Block*kernels.Blocks(n, kernels.TileBytes)),
		"%d bytes of text, the structure of %d and records of another text", n, x.n)
	w.Need(r.KeyStart.Len() == 0, "keys that are listed")
	r.KeyStart, r.KeyEnd = kernels.Result[int64](w, int64(r.Members)), kernels.Result[int64](w, int64(r.Members))
	r.emit(w, text, x, nil)
	return w.Done()
}

// recordsBefore is how many records lie before each tile of n bytes of text, in the order of
// run_place.
func (r *Records) recordsBefore(w *kernels.Call, n int64) gpu.Buffer[int64] {
	room := joinRound * kernels.Blocks(kernels.Blocks(n, kernels.TileBytes), joinRound)
	if int64(r.before.Len()) != runColumns*room {
		w.Need(false, "%d bytes of text, and records of another one", n)
		return gpu.Buffer[int64]{}
	}
	return r.before.Slice(int(room), int(2*room))
}

// The structs of records.cu.
type (
	recordLists struct {
		open, close          gpu.Pointer[int64]
		row, owner           gpu.Pointer[int32]
		valueStart, valueEnd gpu.Pointer[uint32]
		kind                 gpu.Pointer[ValueKind]
		keyStart, keyEnd     gpu.Pointer[int64]
		field                gpu.Pointer[int32]
	}
	recordsEmitArgs struct {
		n, separator int64
		search       fieldSearch
		to           recordLists
		missed       gpu.Pointer[uint32]
		result       gpu.Pointer[RecordsFound]
	}
)

// emit writes the lists, and looks keys up if there are names.
func (r *Records) emit(w *kernels.Call, text gpu.Buffer[byte], x *Structure, names *Fields) {
	field := r.Field
	if names == nil {
		names, field = &Fields{}, gpu.Buffer[int32]{}
	}
	args := recordsEmitArgs{
		n: x.n, separator: int64(r.sep), search: names.search(),
		to: recordLists{
			open: r.Open.Pointer(), close: r.Close.Pointer(), row: r.Row.Pointer(), owner: r.Owner.Pointer(),
			valueStart: r.ValueStart.Pointer(), valueEnd: r.ValueEnd.Pointer(), kind: r.Kind.Pointer(),
			keyStart: r.KeyStart.Pointer(), keyEnd: r.KeyEnd.Pointer(), field: field.Pointer(),
		},
		missed: r.Missed.Pointer(), result: r.Found.Pointer(),
	}
	w.Launch("records_emit", kernels.Blocks(x.n, kernels.TileBytes), kernels.Block, text.Arg(), x.planes.Arg(),
		x.tile.Arg(), r.levels.Arg(), r.before.Arg(), names.slots.Arg(), names.names.Arg(), gpu.Struct(&args))
}

// alloc takes the memory for the lists.
func (r *Records) alloc(w *kernels.Call) {
	for _, b := range []*gpu.Buffer[int64]{&r.Open, &r.Close} {
		*b = kernels.Result[int64](w, int64(r.Count))
	}
	for _, b := range []*gpu.Buffer[uint32]{&r.ValueStart, &r.ValueEnd} {
		*b = kernels.Result[uint32](w, int64(r.Members))
	}
	for _, b := range []*gpu.Buffer[int32]{&r.Row, &r.Owner} {
		*b = kernels.Result[int32](w, int64(r.Members))
	}
	r.Kind = kernels.Result[ValueKind](w, int64(r.Members))
}

// Free gives the lists back once the work that s was given before is done.
func (r *Records) Free(s *gpu.Stream) error {
	return errors.Join(r.Open.Free(s), r.Close.Free(s), r.Row.Free(s), r.Owner.Free(s), r.ValueStart.Free(s),
		r.ValueEnd.Free(s), r.Kind.Free(s), r.Found.Free(s),
		r.Field.Free(s), r.Missed.Free(s), r.KeyStart.Free(s), r.KeyEnd.Free(s), r.levels.Free(s), r.before.Free(s))
}

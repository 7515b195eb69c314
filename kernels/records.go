package kernels

import (
	"errors"
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/gpu"
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

// RecordSeparator says what stands between records.
type RecordSeparator uint32

// As SEPARATOR_* of records.cuh.
const (
	// RecordsComma is one comma behind each record, with blanks before and behind it, as in an array. The last record has one, too: the text ends before the next.
	RecordsComma RecordSeparator = iota
	// RecordsLine is blanks behind each record, the last one too, with a line feed among them.
	RecordsLine
)

// Records are the objects at depth 1 of a JSON text, their members, and the members of the objects that are values of these: two levels. Free gives the
// lists back. All offsets are bytes of the text.
type Records struct {
	Count       int               // records
	Open, Close gpu.Buffer[int64] // Count elements: the '{' and the '}' of each record
	Members     int               // of both levels
	Row         gpu.Buffer[int32] // Members elements, as all that follow, in the order of the colons: the record that the member belongs to
	Owner       gpu.Buffer[int32] // -1 for a member of a record itself, or else the member whose value is the object that holds it
	// Raw text of the key, without its quotes, and of the value, with its quotes or brackets.
	KeyStart, KeyEnd, ValueStart, ValueEnd gpu.Buffer[int64]

	Kind  gpu.Buffer[ValueKind]
	Fault int64                    // where the text is no run of records, or holds what is not known; -1 if it does not. With a fault the lists are of no use
	Found gpu.Buffer[RecordsFound] // one element: the same, on the device

	Unsound bool // CheckStrings has something to look at: without it, all strings are sound
}

// RecordsFound is RecordResult of records.cu: what the device says of records.
type RecordsFound struct {
	Fault, Members, Records int64
	Unsound                 int64 // not 0 if CheckStrings has something to look at: without it, all strings are sound
}

// As in records.cuh: how many threads join tiles, at most, how many tiles each of them takes at a time, and how many columns say what lies before a tile.
const (
	joinRuns   = 512
	joinEach   = 6
	joinRound  = joinRuns * joinEach
	runColumns = 6
)

// tileRun is TileRun of records.cuh.
type tileRun [8]uint16

// ListRecords lists the records of text and two levels of members, and checks all of the text that lies outside of strings and of values that are listed whole:
// arrays, and the objects at the second level. Of these it checks that they are closed by their own kind of bracket. It waits for the device twice: for
// the counts, and for the fault.
//
//	text  n bytes: records, each with its separator, from the first '{' on; no record at all if n is 0
//	x     parsed from text without a carry
//
//	text   { "id" : 7 , "p" : { "a" : [ [ ] ] , "b" : "" } } ,
//	row      0         0        0              0
//	owner    -1        -1       1              1
//	kind     number    object   array          string
//
// A fault is, too: more than 4 KiB of blanks between a colon and its value or behind a scalar, or between a line feed and the next record, and a key or number of more
// than 1 KiB. Numbers are checked by their grammar, not by their range.
//
// Three launches. One reads 3/8 byte for each byte of text and writes as much; one joins tiles; one reads both, and the text of scalars and of blanks, and writes 41 bytes
// a member.
func (k *Set) ListRecords(s *gpu.Stream, text gpu.Buffer[byte], x *Structure, sep RecordSeparator) (*Records, error) {
	r, err := k.QueueRecords(s, text, x, sep)
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

// QueueRecords is ListRecords that waits for the counts only: Fault is left out, the caller is to read it in Found, with what else it waits for.
// Until then the lists may hold anything.
func (k *Set) QueueRecords(s *gpu.Stream, text gpu.Buffer[byte], x *Structure, sep RecordSeparator) (*Records, error) {
	w := k.begin(s, "list records")
	n := w.text(text)
	w.need(n == x.n, "%d bytes of text, and the structure of %d", n, x.n)
	w.need(sep <= RecordsLine, "record separator %d", sep)
	tiles := blocks(n, tileBytes)
	levels := take[uint64](w, int(3*block*tiles))
	run, before, result := take[tileRun](w, int(tiles)), take[int64](w, int(runColumns*joinRound*blocks(tiles, joinRound))), give[RecordsFound](w, 1)
	if w.err == nil {
		w.err = gpu.Fill(s, result, 0xff) // Fault is -1; what it takes to copy that would wait behind the text of other chunks
	}
	w.launch("records_count", tiles, block, x.planes.Arg(), gpu.Int(n), x.tile.Arg(), levels.Arg(), run.Arg(), result.Arg())
	w.launch("records_join", 1, int(min(joinRuns, blocks(max(tiles, 1), 32*joinEach)*32)), text.Arg(), gpu.Int(n), gpu.Int(sep), run.Arg(), gpu.Int(tiles), before.Arg(), x.unsound.Arg(), result.Arg())
	found := only(w, result)
	w.need(found.Records <= math.MaxInt32 && found.Members <= math.MaxInt32, "%d records with %d members in one text", found.Records, found.Members)
	r := &Records{Count: int(found.Records), Members: int(found.Members), Unsound: found.Unsound != 0, Found: result}
	r.alloc(w)
	w.launch("records_emit", tiles, block, text.Arg(), x.planes.Arg(), gpu.Int(n), gpu.Int(sep), x.tile.Arg(), levels.Arg(), before.Arg(), result.Arg(), r.Open.Arg(), r.Close.Arg(),
		r.Row.Arg(), r.Owner.Arg(), r.KeyStart.Arg(), r.KeyEnd.Arg(), r.ValueStart.Arg(), r.ValueEnd.Arg(), r.Kind.Arg())
	if err := w.done(); err != nil {
		return nil, errors.Join(err, r.Free(s))
	}
	return r, nil
}

// alloc takes the memory for the lists.
func (r *Records) alloc(w *work) {
	for _, b := range []*gpu.Buffer[int64]{&r.Open, &r.Close} {
		*b = give[int64](w, int64(r.Count))
	}
	for _, b := range []*gpu.Buffer[int64]{&r.KeyStart, &r.KeyEnd, &r.ValueStart, &r.ValueEnd} {
		*b = give[int64](w, int64(r.Members))
	}
	for _, b := range []*gpu.Buffer[int32]{&r.Row, &r.Owner} {
		*b = give[int32](w, int64(r.Members))
	}
	r.Kind = give[ValueKind](w, int64(r.Members))
}

// Free gives the lists back once the work that s was given before is done.
func (r *Records) Free(s *gpu.Stream) error {
	return errors.Join(r.Open.Free(s), r.Close.Free(s), r.Row.Free(s), r.Owner.Free(s), r.KeyStart.Free(s), r.KeyEnd.Free(s), r.ValueStart.Free(s), r.ValueEnd.Free(s),
		r.Kind.Free(s), r.Found.Free(s))
}

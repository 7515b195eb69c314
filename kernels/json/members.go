package json

import (
	"math"
	"math/bits"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// MemberLevel are the members of one level.
//
//	Owner       m elements: the member whose value is the object that the member belongs to, or -1 if it
//	            belongs to the record itself
//	Field       m elements: the number of each member's key, or -1
//	Want        below 0 the members of the records, otherwise those of the objects that are values of that field
type MemberLevel struct {
	Owner, Field gpu.Buffer[int32]
	Want         int32
}

// placeLevels is LEVELS of members.cu.
const placeLevels = 3

// LevelPlan is what PlaceLevels takes and gives: tables for the members of the records, and for
// those of the objects that are values of two fields.
//
//	Row, Kind  m elements: members' records, and the kinds of their values
//	Owner      m elements: as in MemberLevel
//	Field      m elements: the number of each member's key, or -1
//	Wants      the fields whose objects' members are placed
//	Columns    the field of the last level for each number, or -1; or no element: the number is the field
//	Fields     how many fields the table of each level has: of the records' own members, and of those of Wants
//	Slots      an element for each row of each field, overwritten, level by level: as in Placing
//	Report     an element for each field, overwritten, level by level
//	Odd        an element a level, overwritten
type LevelPlan struct {
	Row, Owner, Field gpu.Buffer[int32]
	Kind              gpu.Buffer[ValueKind]
	Wants             [placeLevels - 1]int32
	Columns           gpu.Buffer[int32]
	Rows              int
	Fields            [placeLevels]int
	Slots             gpu.Buffer[int32]
	Report            gpu.Buffer[FieldReport]
	Odd               gpu.Buffer[PlaceReport]
}

// PlaceLevels is PlaceMembers for three levels at a time: members are read once.
//
// Two launches; reads 17 bytes a member, writes 4 bytes a slot and updates one for each member that
// is placed.
func PlaceLevels(k *kernels.Set, s *gpu.Stream, p LevelPlan) error {
	const each = 6 // PLACED of members.cu
	w := k.Begin(s, "place levels")
	members := level(w, MemberLevel{Owner: p.Owner, Field: p.Field})
	w.Need(int64(p.Row.Len()) == members && int64(p.Kind.Len()) == members, "%d records and %d kinds for %d members",
		p.Row.Len(), p.Kind.Len(), members)
	fields := 0
	for _, n := range p.Fields {
		w.Need(n >= 0 && n <= MaxFields, "%d fields", n)
		fields += n
	}
	w.Need(p.Rows >= 0 && p.Rows <= math.MaxInt32, "%d rows", p.Rows)
	w.Need(p.Slots.Len() == p.Rows*fields, "%d slots for %d rows of %d fields", p.Slots.Len(), p.Rows, fields)
	w.Need(p.Report.Len() == fields && p.Odd.Len() == placeLevels, "%d and %d reports for %d fields of %d levels",
		p.Report.Len(), p.Odd.Len(), fields, placeLevels)
	if w.Err == nil {
		w.Err = gpu.Fill(s, p.Slots, 0xff)
	}
	w.Launch("members_clear", max(1, kernels.Blocks(int64(fields), kernels.Block)), kernels.Block,
		p.Report.Arg(), gpu.Int(fields), p.Odd.Arg())
	args := membersPlaceArgs{
		members: members, rows: int64(p.Rows), columns: int64(p.Columns.Len()), want: p.Wants,
		slots: p.Slots.Pointer(), report: p.Report.Pointer(), odd: p.Odd.Pointer(),
	}
	for i, n := range p.Fields {
		args.fields[i] = int64(n)
	}
	w.Launch("members_place", kernels.Blocks(members, kernels.Block*each), kernels.Block, p.Row.Arg(), p.Owner.Arg(),
		p.Field.Arg(), p.Kind.Arg(), p.Columns.Arg(), gpu.Struct(&args))
	return w.Done()
}

// membersPlaceArgs is MembersPlaceArgs of members.cu.
type membersPlaceArgs struct {
	members, rows, columns int64
	want                   [placeLevels - 1]int32
	fields                 [placeLevels]int64
	slots                  gpu.Pointer[int32]
	report                 gpu.Pointer[FieldReport]
	odd                    gpu.Pointer[PlaceReport]
}

// KeySpan is the text of a key without its quotes: bytes [Start, End); or -1 and -1.
type KeySpan struct{ Start, End int64 }

// level checks the lists and gives the number of members.
func level(w *kernels.Call, l MemberLevel) int64 {
	m := l.Owner.Len()
	w.Need(l.Field.Len() == m, "%d fields for %d members", l.Field.Len(), m)
	w.Need(m <= math.MaxInt32, "%d members, at most %d", m, math.MaxInt32)
	return int64(m)
}

// UnknownKeys returns keys of a level whose Field is -1.
//
//	text    n bytes
//	starts  m members' keys, quotes left out
//	ends    likewise
//	seed    of the hash by which keys are sorted into spans
//	spans   a power of two of elements, overwritten
//
// Keys are sorted by their text, and each element gets the first member of those that came there:
// if there is an unknown key, there is a span at least, and fewer unknown names than spans are all
// found within some rounds, each with another seed. The result does not depend on the order in
// which members are looked at. A key that does not lie in the text or is longer than
// LongestFieldName is not found.
//
// Two launches; reads 8 to 28 bytes a member, and the keys that are unknown.
func UnknownKeys(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64], l MemberLevel,
	seed uint64, spans gpu.Buffer[KeySpan],
) error {
	w := k.Begin(s, "unknown keys")
	n, m, buckets := w.CheckText(text), level(w, l), spans.Len()
	w.Need(kernels.CountSpans(w, starts, ends) == m, "%d keys for %d members", starts.Len(), m)
	w.Need(bits.OnesCount(uint(buckets)) == 1, "%d spans, no power of two", buckets)
	bucket := kernels.Scratch[uint32](w, buckets)
	if w.Err == nil {
		w.Err = gpu.Fill(s, bucket, 0xff)
	}
	w.Launch("members_find", kernels.Blocks(m, kernels.Block), kernels.Block, text.Arg(), gpu.Int(n),
		starts.Arg(), ends.Arg(),
		l.Owner.Arg(), l.Field.Arg(), gpu.Int(l.Want),
		gpu.Int(m), gpu.Int(LongestFieldName), gpu.Int(seed), gpu.Int(buckets-1), bucket.Arg())
	w.Launch("members_spell", kernels.Blocks(int64(buckets), kernels.Block), kernels.Block, bucket.Arg(),
		gpu.Int(buckets),
		starts.Arg(), ends.Arg(), spans.Arg())
	return w.Done()
}

// CountMembers reports how often each field comes among the members of a level, and which of these
// have brackets around their values.
//
//	kind    m elements: of the members' values
//	skip    fields whose values are nothing to nested: bit f is set for field f
//	counts  an element a field, overwritten: how many members have that number. Others are not counted
//	nested  Words(m) words, overwritten: the value of the member is an object or an array, and its field not
//	        in skip; or none
//
//	level    {"a":1,"b":[2],"a":{}} {"c":[]}       c is in skip
//	counts   a 2  b 1  c 1
//	nested   . 1 1 .
//
// One launch; reads 9 to 13 bytes a member.
func CountMembers(k *kernels.Set, s *gpu.Stream, l MemberLevel, kind gpu.Buffer[ValueKind], skip uint64,
	counts gpu.Buffer[int64], nested kernels.Mask,
) error {
	const each = 16
	w := k.Begin(s, "count members")
	m := level(w, l)
	w.Need(int64(kind.Len()) == m, "%d kinds for %d members", kind.Len(), m)
	if nested.Len() > 0 {
		w.CheckBits("nested", nested, m)
	}
	if w.Err == nil {
		w.Err = gpu.Fill(s, counts, 0)
	}
	w.Launch("members_count", kernels.Blocks(m, kernels.Block*each), kernels.Block, l.Owner.Arg(),
		l.Field.Arg(), gpu.Int(l.Want),
		kind.Arg(), gpu.Int(m), gpu.Int(each),
		gpu.Int(counts.Len()), gpu.Int(skip), counts.Arg(), nested.Arg())
	return w.Done()
}

package json

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// ColumnPlan is what PlaceMembers takes and gives.
//
//	Row         m members' records
//	Owner       m elements: the member whose value is the object that the member belongs to, or -1 if it
//	            belongs to the record itself
//	Field       m elements: which field of the table the member is, or -1
//	OwnerField  m elements: the number of each member's key among those that Want is one of; or none, if Want < 0
//	Want        the members of which objects are placed: below 0 those of the records, otherwise those of
//	            objects that are values of that OwnerField
//	Kind        m elements: of the members' values
//	Slots       Fields * Rows elements, overwritten: Slots[f*Rows+r] is the member that is field f of row r, or -1
//	Report      Fields elements, overwritten
//	Odd         one element, overwritten
type ColumnPlan struct {
	Row, Owner, Field, OwnerField gpu.Buffer[int32]
	Want                          int32
	Kind                          gpu.Buffer[ValueKind]
	Rows, Fields                  int
	Slots                         gpu.Buffer[int32]
	Report                        gpu.Buffer[FieldReport]
	Odd                           gpu.Buffer[PlaceReport]
}

// FieldReport reports what the placed members of a field have shown.
type FieldReport struct {
	First int32  // the first of them; math.MaxInt32 if there is none
	Kinds uint32 // bit 1<<kind for the kind of each value
}

// PlaceReport reports which members stand out among those that Want takes: the first of each sort, or
// -1.
type PlaceReport struct {
	Unknown  int32 // its Field is -1, or its row or field is not one of the table: it is in no slot
	Repeated int32 // another one has the same field of the same row; the first of these is in the slot
}

// PlaceMembers makes a table of members: a row of Slots for each field, an element for each record.
//
//	text        {"p":{"a":1,"b":2}} {"p":{"b":3,"a":4}} {"p":{}}
//	Field             0     1             1     0                  of the members of p's objects
//	Slots       field 0: 1 5 -1   field 1: 2 4 -1                  members are numbered in text order, p's own too
//
// The result does not depend on the order in which members are looked at. Memory is fields times
// rows, however few of them there are: 4 bytes each.
//
// Two launches; reads 17 to 21 bytes a member, writes 4 bytes a slot and updates one for each
// member that is placed.
func PlaceMembers(k *kernels.Set, s *gpu.Stream, p ColumnPlan) error {
	w := k.Begin(s, "place members")
	members := p.Row.Len()
	w.Need(members <= math.MaxInt32, "%d members, at most %d", members, math.MaxInt32)
	w.Need(p.Owner.Len() == members && p.Field.Len() == members && p.Kind.Len() == members,
		"%d owners, %d fields and %d kinds for %d members", p.Owner.Len(), p.Field.Len(), p.Kind.Len(), members)
	w.Need(p.OwnerField.Len() == members || p.Want < 0 && p.OwnerField.Len() == 0, "%d fields of owners for %d members",
		p.OwnerField.Len(), members)
	w.Need(p.Rows >= 0 && p.Rows <= math.MaxInt32 && p.Fields >= 0 && p.Fields <= math.MaxInt32,
		"%d rows of %d fields", p.Rows, p.Fields)
	w.Need(p.Slots.Len() == p.Rows*p.Fields, "%d slots for %d rows of %d fields", p.Slots.Len(), p.Rows, p.Fields)
	w.Need(p.Report.Len() == p.Fields, "%d reports for %d fields", p.Report.Len(), p.Fields)
	w.Need(p.Odd.Len() == 1, "%d elements for what is odd", p.Odd.Len())
	if w.Err == nil {
		w.Err = gpu.Fill(s, p.Slots, 0xff)
	}
	w.Launch("columns_clear", max(1, kernels.Blocks(int64(p.Fields), kernels.Block)), kernels.Block,
		p.Report.Arg(), gpu.Int(p.Fields),
		p.Odd.Arg())
	w.Launch("columns_place", kernels.Blocks(int64(members), kernels.Block), kernels.Block, p.Row.Arg(),
		p.Owner.Arg(), p.Field.Arg(),
		p.OwnerField.Arg(), gpu.Int(p.Want), p.Kind.Arg(),
		gpu.Int(members), gpu.Int(p.Rows), gpu.Int(p.Fields), p.Slots.Arg(), p.Report.Arg(), p.Odd.Arg())
	return w.Done()
}

// ColumnTokens returns the text of each row's value in one column.
//
//	slots       the column's n elements of Slots: members, or -1
//	valueStart  m members' values, quotes and brackets included
//	valueEnd    likewise
//	kind        m elements
//	base        n elements, or none: where the empty span of a row without a value lies; 0 if there is none
//	starts      n elements, overwritten: of the text of each row's value, quotes of strings left out
//	ends        likewise
//	valid       Words(n) words, overwritten: bit i says that row i has a value, and it is not null
//	trues       Words(n) words, overwritten: bit i says that the value of row i is true; or none
//
//	text    {"a":"x y"} {"b":1} {"a":null} {"a":true}
//	starts        6      0       0              37
//	ends          9      0       0              41
//	valid         1      .       .              1
//	trues         .      .       .              1
//
// One launch; reads 13 bytes a row, 21 with a base, and writes 16 and a quarter.
func ColumnTokens(k *kernels.Set, s *gpu.Stream, slots gpu.Buffer[int32], valueStart, valueEnd gpu.Buffer[uint32],
	kind gpu.Buffer[ValueKind], base, starts, ends gpu.Buffer[int64], valid, trues kernels.Mask,
) error {
	w := k.Begin(s, "column tokens")
	rows, members := int64(slots.Len()), kernels.CountSpans(w, valueStart, valueEnd)
	w.Need(int64(kind.Len()) == members, "%d kinds for %d members", kind.Len(), members)
	w.Need(base.Len() == 0 || int64(base.Len()) == rows, "%d bases for %d rows", base.Len(), rows)
	w.Need(kernels.CountSpans(w, starts, ends) == rows, "%d starts for %d rows", starts.Len(), rows)
	w.CheckBits("valid", valid, rows)
	if trues.Len() > 0 {
		w.CheckBits("trues", trues, rows)
	}
	w.Launch("columns_tokens", kernels.Blocks(rows, kernels.Block), kernels.Block, slots.Arg(), gpu.Int(rows),
		valueStart.Arg(),
		valueEnd.Arg(), kind.Arg(), gpu.Int(members), base.Arg(),
		starts.Arg(), ends.Arg(), valid.Arg(), trues.Arg())
	return w.Done()
}

// KindSet is a set of kinds of values: bit 1<<kind for each.
type KindSet uint32

// Kinds is the set of kinds.
func Kinds(kinds ...ValueKind) (s KindSet) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// PickTokens is ColumnTokens for the values of some kinds: a row with another value, or none, has
// an empty span at 0.
//
//	want    the kinds; null may be one of them, its text is null
//	starts  n elements, overwritten; or none, and no ends
//	ends    likewise
//	picked  Words(n) words, overwritten: bit i says that the value of row i is of one of these kinds; or none
//
// One launch; reads 5 bytes a row, and 8 for each of these values, and writes 16 and an eighth.
func PickTokens(k *kernels.Set, s *gpu.Stream, slots gpu.Buffer[int32], valueStart, valueEnd gpu.Buffer[uint32],
	kind gpu.Buffer[ValueKind], want KindSet, starts, ends gpu.Buffer[int64], picked kernels.Mask,
) error {
	w := k.Begin(s, "pick tokens")
	rows, members := int64(slots.Len()), kernels.CountSpans(w, valueStart, valueEnd)
	w.Need(int64(kind.Len()) == members, "%d kinds for %d members", kind.Len(), members)
	if n := kernels.CountSpans(w, starts, ends); n > 0 {
		w.Need(n == rows, "%d starts for %d rows", n, rows)
	}
	if picked.Len() > 0 {
		w.CheckBits("picked", picked, rows)
	}
	w.Launch("columns_pick", kernels.Blocks(rows, kernels.Block), kernels.Block, slots.Arg(), gpu.Int(rows),
		valueStart.Arg(),
		valueEnd.Arg(), kind.Arg(), gpu.Int(members), gpu.Int(want),
		starts.Arg(), ends.Arg(), picked.Arg())
	return w.Done()
}

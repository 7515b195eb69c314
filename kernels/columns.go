package kernels

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
)

// Placing is what PlaceMembers takes and gives.
//
//	Row         m members' records
//	Owner       m elements: the member whose value is the object that the member belongs to, or -1 if it belongs to the record itself
//	Field       m elements: which field of the table the member is, or -1
//	OwnerField  m elements: the number of each member's key among those that Want is one of; or none, if Want < 0
//	Want        the members of which objects are placed: below 0 those of the records, otherwise those of objects that are values of that OwnerField
//	Kind        m elements: of the members' values
//	Slots       Fields * Rows elements, overwritten: Slots[f*Rows+r] is the member that is field f of row r, or -1
//	Report      Fields elements, overwritten
//	Odd         one element, overwritten
type Placing struct {
	Row, Owner, Field, OwnerField gpu.Buffer[int32]
	Want                          int32
	Kind                          gpu.Buffer[ValueKind]
	Rows, Fields                  int
	Slots                         gpu.Buffer[int32]
	Report                        gpu.Buffer[FieldReport]
	Odd                           gpu.Buffer[PlaceReport]
}

// FieldReport says what the placed members of a field have shown.
type FieldReport struct {
	First int32  // the first of them; math.MaxInt32 if there is none
	Kinds uint32 // bit 1<<kind for the kind of each value
}

// PlaceReport says which members stand out among those that Want takes: the first of each sort, or
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
func (k *Set) PlaceMembers(s *gpu.Stream, p Placing) error {
	w := k.begin(s, "place members")
	members := p.Row.Len()
	w.need(members <= math.MaxInt32, "%d members, at most %d", members, math.MaxInt32)
	w.need(p.Owner.Len() == members && p.Field.Len() == members && p.Kind.Len() == members,
		"%d owners, %d fields and %d kinds for %d members", p.Owner.Len(), p.Field.Len(), p.Kind.Len(), members)
	w.need(p.OwnerField.Len() == members || p.Want < 0 && p.OwnerField.Len() == 0, "%d fields of owners for %d members",
		p.OwnerField.Len(), members)
	w.need(p.Rows >= 0 && p.Rows <= math.MaxInt32 && p.Fields >= 0 && p.Fields <= math.MaxInt32,
		"%d rows of %d fields", p.Rows, p.Fields)
	w.need(p.Slots.Len() == p.Rows*p.Fields, "%d slots for %d rows of %d fields", p.Slots.Len(), p.Rows, p.Fields)
	w.need(p.Report.Len() == p.Fields, "%d reports for %d fields", p.Report.Len(), p.Fields)
	w.need(p.Odd.Len() == 1, "%d elements for what is odd", p.Odd.Len())
	if w.err == nil {
		w.err = gpu.Fill(s, p.Slots, 0xff)
	}
	w.launch("columns_clear", max(1, blocks(int64(p.Fields), block)), block, p.Report.Arg(), gpu.Int(p.Fields),
		p.Odd.Arg())
	w.launch("columns_place", blocks(int64(members), block), block, p.Row.Arg(), p.Owner.Arg(), p.Field.Arg(),
		p.OwnerField.Arg(), gpu.Int(p.Want), p.Kind.Arg(),
		gpu.Int(members), gpu.Int(p.Rows), gpu.Int(p.Fields), p.Slots.Arg(), p.Report.Arg(), p.Odd.Arg())
	return w.done()
}

// ColumnTokens gives the text of each row's value in one column.
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
func (k *Set) ColumnTokens(s *gpu.Stream, slots gpu.Buffer[int32], valueStart, valueEnd gpu.Buffer[uint32],
	kind gpu.Buffer[ValueKind], base, starts, ends gpu.Buffer[int64], valid, trues Mask,
) error {
	w := k.begin(s, "column tokens")
	rows, members := int64(slots.Len()), countSpans(w, valueStart, valueEnd)
	w.need(int64(kind.Len()) == members, "%d kinds for %d members", kind.Len(), members)
	w.need(base.Len() == 0 || int64(base.Len()) == rows, "%d bases for %d rows", base.Len(), rows)
	w.need(countSpans(w, starts, ends) == rows, "%d starts for %d rows", starts.Len(), rows)
	w.bits("valid", valid, rows)
	if trues.Len() > 0 {
		w.bits("trues", trues, rows)
	}
	w.launch("columns_tokens", blocks(rows, block), block, slots.Arg(), gpu.Int(rows), valueStart.Arg(),
		valueEnd.Arg(), kind.Arg(), gpu.Int(members), base.Arg(),
		starts.Arg(), ends.Arg(), valid.Arg(), trues.Arg())
	return w.done()
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
func (k *Set) PickTokens(s *gpu.Stream, slots gpu.Buffer[int32], valueStart, valueEnd gpu.Buffer[uint32],
	kind gpu.Buffer[ValueKind], want KindSet, starts, ends gpu.Buffer[int64], picked Mask,
) error {
	w := k.begin(s, "pick tokens")
	rows, members := int64(slots.Len()), countSpans(w, valueStart, valueEnd)
	w.need(int64(kind.Len()) == members, "%d kinds for %d members", kind.Len(), members)
	if n := countSpans(w, starts, ends); n > 0 {
		w.need(n == rows, "%d starts for %d rows", n, rows)
	}
	if picked.Len() > 0 {
		w.bits("picked", picked, rows)
	}
	w.launch("columns_pick", blocks(rows, block), block, slots.Arg(), gpu.Int(rows), valueStart.Arg(),
		valueEnd.Arg(), kind.Arg(), gpu.Int(members), gpu.Int(want),
		starts.Arg(), ends.Arg(), picked.Arg())
	return w.done()
}

package kernels

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
)

// MembersOfKinds marks the members of one level whose value is of one of some kinds, as
// PlaceMembers takes members.
//
//	owner, ownerField, want, kind  as in Placing
//	kinds                          the kinds
//	marked                         Words(members) words, overwritten
//
// One launch; reads a byte a member, and 8 for each of these kinds, and writes a bit.
func (k *Set) MembersOfKinds(s *gpu.Stream, owner, ownerField gpu.Buffer[int32], want int32,
	kind gpu.Buffer[ValueKind], kinds KindSet, marked Mask,
) error {
	w := k.begin(s, "members of kinds")
	members := int64(kind.Len())
	w.need(int64(owner.Len()) == members, "%d owners for %d members", owner.Len(), members)
	w.need(int64(ownerField.Len()) == members || want < 0 && ownerField.Len() == 0,
		"%d fields of owners for %d members", ownerField.Len(), members)
	w.bits("marked", marked, members)
	w.launch("json_text_members", blocks(members, block), block, owner.Arg(), ownerField.Arg(), gpu.Int(want),
		kind.Arg(), gpu.Int(kinds), gpu.Int(members), marked.Arg())
	return w.done()
}

// Ranks counts the set bits before any byte of a mask.
type Ranks struct {
	mask   Mask
	before gpu.Buffer[int64] // a word more than the mask has: set bits before it
}

// Rank counts the bits of mask, which must live as long as the result; Free gives that back. It
// takes as much memory as the mask.
//
// Four launches; reads n/8 bytes and writes and scans as many.
func (k *Set) Rank(s *gpu.Stream, mask Mask) (*Ranks, error) {
	w := k.begin(s, "rank")
	words := int64(mask.Len())
	r := &Ranks{mask: mask, before: give[int64](w, words+1)}
	w.launch("json_text_words", blocks(words+1, block), block, mask.Arg(), gpu.Int(words), r.before.Arg())
	if w.err == nil {
		scan(w, r.before, r.before, gpu.Buffer[int64]{})
	}
	if err := w.done(); err != nil {
		return nil, errors.Join(err, r.Free(s))
	}
	return r, nil
}

// Total is one element: how many bits are set.
func (r *Ranks) Total() gpu.Buffer[int64] { return r.before.Slice(r.mask.Len(), r.mask.Len()+1) }

// Free gives the memory back once the work that s was given before is done.
func (r *Ranks) Free(s *gpu.Stream) error { return r.before.Free(s) }

// RankSpans makes spans of a text spans of what Compact keeps of it by the mask that r was made of.
//
//	starts  m byte offsets in the text, overwritten
//	ends    likewise
//
//	text    {"a":  [ 1 ]}
//	kept    .......1.1.1.
//	span           7    12, afterwards 0 and 3
//
// One launch; reads 32 bytes a span, and writes 16.
func (k *Set) RankSpans(s *gpu.Stream, r *Ranks, starts, ends gpu.Buffer[int64]) error {
	w := k.begin(s, "rank spans")
	count := countSpans(w, starts, ends)
	w.launch("json_text_spans", blocks(count, block), block, r.mask.Arg(), gpu.Int(r.mask.Len()),
		r.before.Arg(), gpu.Int(count), starts.Arg(), ends.Arg())
	return w.done()
}

// AddOffsets adds the offsets of one column of strings to those of another one, so that the strings
// of both, of which one is empty in each row, are one column.
//
//	offsets  n elements, overwritten: the sums
//	more     n elements
//
// GatherStrings writes each of the two columns to its place, At the sums.
func (k *Set) AddOffsets(s *gpu.Stream, offsets, more gpu.Buffer[int64]) error {
	w := k.begin(s, "add offsets")
	n := int64(offsets.Len())
	w.need(int64(more.Len()) == n, "%d offsets and %d more", n, more.Len())
	w.launch("json_text_add", blocks(n, block), block, offsets.Arg(), gpu.Int(n), more.Arg())
	return w.done()
}

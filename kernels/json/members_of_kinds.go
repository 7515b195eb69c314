package json

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// MembersOfKinds marks the members of one level whose value is of one of some kinds, as
// PlaceMembers takes members.
//
//	owner, ownerField, want, kind  as in Placing
//	kinds                          the kinds
//	marked                         Words(members) words, overwritten
//
// One launch; reads a byte a member, and 8 for each of these kinds, and writes a bit.
func MembersOfKinds(k *kernels.Set, s *gpu.Stream, owner, ownerField gpu.Buffer[int32], want int32,
	kind gpu.Buffer[ValueKind], kinds KindSet, marked kernels.Mask,
) error {
	w := k.Begin(s, "members of kinds")
	members := int64(kind.Len())
	w.Need(int64(owner.Len()) == members, "%d owners for %d members", owner.Len(), members)
	w.Need(int64(ownerField.Len()) == members || want < 0 && ownerField.Len() == 0,
		"%d fields of owners for %d members", ownerField.Len(), members)
	w.CheckBits("marked", marked, members)
	w.Launch("members_of_kinds", kernels.Blocks(members, kernels.Block), kernels.Block, owner.Arg(),
		ownerField.Arg(), gpu.Int(want),
		kind.Arg(), gpu.Int(kinds), gpu.Int(members), marked.Arg())
	return w.Done()
}

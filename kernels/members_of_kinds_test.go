package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
)

func TestMembersOfKinds(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(4, 10))
	for _, rows := range []int{0, 1, 40, 700} {
		m := randomMembers(rng, rows, 5, 0, 9)
		owner, field, kind := upload(r, m.owner), upload(r, m.ownerField), upload(r, m.kind)
		for want := int32(-1); want < 2; want++ {
			marked := poisoned[uint64](r, kernels.Words(len(m.kind)))
			r.ok(r.k.MembersOfKinds(r.s, owner, field, want, kind, kernels.Kinds(kernels.ValueObject,
				kernels.ValueArray), marked))
			sameMask(t, fmt.Sprintf("%d rows, owner %d", rows, want), make([]byte, len(m.kind)),
				read(r, marked), bitmap(len(m.kind), func(i int) bool {
					if o := m.owner[i]; want < 0 && o >= 0 || want >= 0 && (o < 0 || m.ownerField[o] != want) {
						return false
					}
					return m.kind[i] == kernels.ValueObject || m.kind[i] == kernels.ValueArray
				}))
		}
	}
}

package json_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
)

func TestMembersOfKinds(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(4, 10))
	for _, rows := range []int{0, 1, 40, 700} {
		m := randomMembers(rng, rows, 5, 0, 9)
		owner, field, kind := kerneltest.Upload(r, m.owner), kerneltest.Upload(r, m.ownerField),
			kerneltest.Upload(r, m.kind)
		for want := int32(-1); want < 2; want++ {
			marked := kerneltest.Poisoned[uint64](r, kernels.Words(len(m.kind)))
			r.OK(kjson.MembersOfKinds(r.Set, r.Stream, owner, field, want, kind, kjson.Kinds(kjson.ValueObject,
				kjson.ValueArray), marked))
			kerneltest.SameMask(t, fmt.Sprintf("%d rows, owner %d", rows, want), make([]byte, len(m.kind)),
				kerneltest.Read(r, marked), kerneltest.Bitmap(len(m.kind), func(i int) bool {
					if o := m.owner[i]; want < 0 && o >= 0 || want >= 0 && (o < 0 || m.ownerField[o] != want) {
						return false
					}
					return m.kind[i] == kjson.ValueObject || m.kind[i] == kjson.ValueArray
				}))
		}
	}
}

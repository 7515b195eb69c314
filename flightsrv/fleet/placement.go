package fleet

import (
	"cmp"
	"hash/fnv"
	"slices"

	fleetstore "github.com/vibeflight/vibeflight/catalog/fleet"
)

// A replica takes what the hash gives it while it has fewer calls in progress than
// maxLoadShare × the mean of all replicas + freeCalls, and is sent fewer calls between two
// announcements than maxLoadShare × their mean + freeSent.
const (
	maxLoadShare = 1.05
	freeCalls    = 8  // so that few calls on an idle fleet do not count as load
	freeSent     = 64 // so that few short calls do not move a table that is read often
)

// Candidate is a replica that may serve a table.
type Candidate struct {
	fleetstore.Replica
	// calls that clients were sent to it with since its load was read; an estimate for all answers of
	// the fleet
	Sent int64
}

// Order returns the replicas in the order in which they should serve a key, the best first. It is
// the order of rendezvous hashing (Thaler and Ravishankar, 1998): a replica that joins or leaves
// changes the first place of about one key in n. Replicas that exceed the cap of load follow the
// others. All replicas get the same order from the same list.
func Order(key []byte, replicas []Candidate) []Candidate {
	type ranked struct {
		Candidate
		overloaded int // 1: yes
		weight     uint64
	}
	hash, most := hashOf(key), limitOf(replicas)
	all := make([]ranked, len(replicas))
	for i, r := range replicas {
		all[i] = ranked{Candidate: r, weight: mix(hash ^ hashOf([]byte(r.ID)))}
		if most.exceeded(r) {
			all[i].overloaded = 1
		}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.overloaded, b.overloaded), cmp.Compare(b.weight, a.weight), cmp.Compare(a.ID, b.ID))
	})
	out := make([]Candidate, len(all))
	for i, r := range all {
		out[i] = r.Candidate
	}
	return out
}

// limit has the numbers of calls from which a replica is overloaded.
type limit struct{ load, sent float64 }

func limitOf(replicas []Candidate) limit {
	var load, sent int64
	for _, r := range replicas {
		load += r.Load
		sent += r.Sent
	}
	share := maxLoadShare / float64(max(1, len(replicas)))
	return limit{load: share*float64(load) + freeCalls, sent: share*float64(sent) + freeSent}
}

func (l limit) exceeded(r Candidate) bool {
	return float64(r.Load) >= l.load || float64(r.Sent) >= l.sent
}

// hashOf is FNV-1a.
func hashOf(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b) // a hash takes everything
	return h.Sum64()
}

// mix is the finalizer of MurmurHash3: each bit of x changes about half of the bits of the result.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// Rotated returns the replicas beginning with number i, counted around. Endpoint i of a table names
// them in this order, so that the endpoints are fetched from all of them.
func Rotated(replicas []Candidate, i int) []Candidate {
	if len(replicas) == 0 {
		return nil
	}
	i %= len(replicas)
	return slices.Concat(replicas[i:], replicas[:i])
}

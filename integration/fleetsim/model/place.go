package model

import "math"

// ranked is the number of replicas of a file's order that are remembered.
const ranked = 8

// placement chooses replicas as package flightsrv/fleet does: by rendezvous hashing, with a cap of
// the load. Its order is computed once for each file, because fleet.Order is too slow for millions of
// reads of thousands of replicas. A test compares the two.
type placement struct {
	hashes   []uint64 // of the IDs of the replicas
	best     []uint16 // the first replicas of each file, plus 1; 0 is not computed yet
	cap      float64
	free     float64
	freeSent float64
	load     []int32 // calls in progress of each replica, as they were announced
	total    int64
	sent     []int32 // calls that each replica has sent to each since then, at from × replicas + to; nil: not counted
	sum      []int32 // of sent, for each replica that sends
}

func newPlacement(c *Config) *placement {
	p := &placement{
		cap: c.Placement.Cap, free: c.Placement.Free,
		load: make([]int32, c.Replicas), hashes: make([]uint64, c.Replicas),
	}
	for i := range p.hashes {
		p.hashes[i] = hashOf(replicaID(i))
	}
	if c.Placement.Kind == Rendezvous && c.Placement.FreeSent > 0 && c.Placement.Age > 0 {
		p.sent, p.sum = make([]int32, c.Replicas*c.Replicas), make([]int32, c.Replicas)
	}
	p.freeSent = c.Placement.FreeSent
	if c.Placement.Kind == Rendezvous {
		p.best = make([]uint16, c.Files.Count*ranked)
	}
	return p
}

// replicaID returns the ID of a replica.
func replicaID(i int) []byte { return []byte{'r', byte(i >> 8), byte(i)} }

// fileKey returns the key of a file.
func fileKey(file int32) []byte {
	return []byte{byte(file >> 24), byte(file >> 16), byte(file >> 8), byte(file)}
}

// hashOf is FNV-1a.
func hashOf(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// mix is the finalizer of MurmurHash3.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// announce replaces the loads by the present ones.
func (p *placement) announce(load []int32, total int64) {
	copy(p.load, load)
	p.total = total
	clear(p.sent)
	clear(p.sum)
}

// send counts a call that a replica sends to another.
func (p *placement) send(from, to int) {
	if p.sent != nil {
		p.sent[from*len(p.load)+to]++
		p.sum[from]++
	}
}

// fits reports whether a replica is not overloaded, as another one sees it.
func (p *placement) fits(from, to, alive int, limit float64) bool {
	if float64(p.load[to]) >= limit {
		return false
	}
	if p.sent == nil || p.cap == 0 {
		return true
	}
	sent := float64(p.sent[from*len(p.load)+to]) * float64(alive)
	return sent < p.cap*float64(p.sum[from])+p.freeSent
}

// limit returns the number of calls in progress from which a replica is overloaded.
func (p *placement) limit(alive int) float64 {
	if p.cap == 0 {
		return math.Inf(1)
	}
	return p.cap*float64(p.total)/float64(alive) + p.free
}

// choose returns the first replica of a file's order that is eligible and not overloaded, as the
// replica from sees it. If all eligible ones are overloaded, it returns the first of them, and -1 if
// there are none. fits is false then.
func (p *placement) choose(file int32, from, alive int, eligible func(i int) bool) (best int, fits bool) {
	limit := p.limit(alive)
	first := p.best[int(file)*ranked:][:ranked]
	if first[0] == 0 {
		p.rank(file, first)
	}
	for _, r := range first {
		if r == 0 {
			break
		}
		if i := int(r - 1); p.fits(from, i, alive, limit) && eligible(i) {
			return i, true
		}
	}
	return p.scan(file, from, alive, limit, eligible)
}

// scan looks at all replicas.
func (p *placement) scan(file int32, from, alive int, limit float64, eligible func(i int) bool) (int, bool) {
	within, first := -1, -1
	var withinScore, firstScore uint64
	key := hashOf(fileKey(file))
	for i, hash := range p.hashes {
		score, fits := mix(key^hash), p.fits(from, i, alive, limit)
		if first >= 0 && score <= firstScore && (!fits || within >= 0 && score <= withinScore) || !eligible(i) {
			continue
		}
		if first < 0 || score > firstScore {
			first, firstScore = i, score
		}
		if fits && (within < 0 || score > withinScore) {
			within, withinScore = i, score
		}
	}
	if within >= 0 {
		return within, true
	}
	return first, false
}

// rank finds the first replicas of a file.
func (p *placement) rank(file int32, best []uint16) {
	var top [ranked]uint64
	n, key := 0, hashOf(fileKey(file))
	for i, hash := range p.hashes {
		score := mix(key ^ hash)
		if n == ranked && score <= top[n-1] {
			continue
		}
		n = min(n+1, ranked)
		j := n - 1
		for ; j > 0 && top[j-1] < score; j-- {
			top[j], best[j] = top[j-1], best[j-1]
		}
		top[j], best[j] = score, uint16(i+1)
	}
}

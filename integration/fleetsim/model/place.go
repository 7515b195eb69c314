package model

import "math"

// ranked is the number of replicas of a file's order that are remembered.
const ranked = 8

// placement chooses replicas by rendezvous hashing (Thaler and Ravishankar 1998): each pair of a file
// and a replica has a score, and the replicas of a file are ordered by theirs.
type placement struct {
	scores []uint64 // one for each replica
	best   []uint16 // the first replicas of each file, plus 1; 0 is not computed yet
	cap    float64
	load   []int32 // calls in progress of each replica, as they were announced
	total  int64
}

func newPlacement(c *Config) *placement {
	p := &placement{cap: c.Placement.Cap, load: make([]int32, c.Replicas), scores: make([]uint64, c.Replicas)}
	for i := range p.scores {
		p.scores[i] = mix(uint64(i) ^ 0x9e3779b97f4a7c15)
	}
	if c.Placement.Kind == Rendezvous {
		p.best = make([]uint16, c.Files.Count*ranked)
	}
	return p
}

// mix is the finalizer of MurmurHash3, by which each bit of the input changes half of the output's.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// limit returns the load that no replica may exceed with one more call.
func (p *placement) limit(alive int) int32 {
	if p.cap == 0 {
		return math.MaxInt32
	}
	return int32(math.Ceil(p.cap * float64(p.total+1) / float64(alive)))
}

// choose returns the first replica of a file that is alive and, with this call, within the cap.
func (p *placement) choose(file int32, up []bool, alive int) int {
	most := p.limit(alive)
	best := p.best[int(file)*ranked:][:ranked]
	if best[0] == 0 {
		p.rank(file, best)
	}
	for _, r := range best {
		if r == 0 {
			break
		}
		if i := int(r - 1); up[i] && p.load[i] < most {
			return i
		}
	}
	return p.scan(file, up, most)
}

// scan looks at all replicas. If the load that was announced excludes all of them, the first of the
// file's order is as good as another.
func (p *placement) scan(file int32, up []bool, most int32) int {
	within, first := -1, -1
	var withinScore, firstScore uint64
	for i, score := range p.scores {
		if !up[i] {
			continue
		}
		score = mix(score ^ uint64(file))
		if first < 0 || score > firstScore {
			first, firstScore = i, score
		}
		if p.load[i] < most && (within < 0 || score > withinScore) {
			within, withinScore = i, score
		}
	}
	if within < 0 {
		return first
	}
	return within
}

// rank finds the first replicas of a file.
func (p *placement) rank(file int32, best []uint16) {
	var top [ranked]uint64
	n := 0
	for i, score := range p.scores {
		score = mix(score ^ uint64(file))
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

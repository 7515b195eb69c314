package faults

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
)

// Plan decides which fault a request gets. Proxies call it for requests of all classes but Other,
// from several goroutines.
type Plan interface {
	// Next returns the fault of a request, or ok false for none.
	Next(r Request) (f Fault, ok bool)
}

// Script is a plan that gives faults in order. Each goes to the first request that can have it.
type Script struct {
	mu    sync.Mutex
	left  []Fault
	match func(Request) bool
}

// NewScript returns a plan of these faults, for requests that match; nil matches all.
func NewScript(match func(Request) bool, faults ...Fault) *Script {
	return &Script{left: slices.Clone(faults), match: match}
}

// Next gives the first of the faults that are left, if the request can have it.
func (s *Script) Next(r Request) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.left) == 0 || !s.left[0].Kind.applies(r) || (s.match != nil && !s.match(r)) {
		return Fault{}, false
	}
	f := s.left[0]
	s.left = s.left[1:]
	return f, true
}

// Left returns how many faults no request has got.
func (s *Script) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.left)
}

// Random is a plan that gives faults with a probability. It depends on the seed, on what is requested,
// and on how often the same was requested before. So neither time nor order change which faults come.
type Random struct {
	Seed        uint64
	Probability float64
	Faults      []Fault // chosen with equal probability from those that the request can have

	// Attempts is how many faults the same request gets at most. A client that sends it once more
	// gets the answer. 0 stands for 2.
	Attempts int

	mu   sync.Mutex
	seen map[Request]int
}

// Recoverable returns a fault of every kind that a correct reader recovers from, with short delays.
// Hang and Trickle are not among them: they take as long as the reader's patience.
func Recoverable() []Fault {
	var list []Fault
	for k := range kinds {
		if k.Recoverable() && k != Hang && k != Trickle {
			list = append(list, Fault{Kind: k, Bytes: -1})
		}
	}
	slices.SortFunc(list, func(a, b Fault) int { return cmp.Compare(a.Kind, b.Kind) })
	return list
}

// Next gives a fault if the dice of the request say so.
func (p *Random) Next(r Request) (Fault, bool) {
	p.mu.Lock()
	if p.seen == nil {
		p.seen = map[Request]int{}
	}
	attempt := p.seen[r]
	p.seen[r]++
	p.mu.Unlock()

	limit := p.Attempts
	if limit == 0 {
		limit = 2
	}
	if attempt >= limit {
		return Fault{}, false
	}
	h := fnv.New64a()
	for _, s := range []string{r.Method, "\x00", r.Path, "\x00", r.Query, "\x00", r.Range} {
		_, _ = h.Write([]byte(s))
	}
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(attempt)))
	dice := rand.New(rand.NewPCG(p.Seed, h.Sum64()))
	if dice.Float64() >= p.Probability {
		return Fault{}, false
	}
	var possible []Fault
	for _, f := range p.Faults {
		if f.Kind.applies(r) {
			possible = append(possible, f)
		}
	}
	if len(possible) == 0 {
		return Fault{}, false
	}
	return possible[dice.IntN(len(possible))], true
}

package model

import (
	"math/rand/v2"
	"testing"

	fleetstore "github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/flightsrv/fleet"
)

// TestCap: no replica that is overloaded is chosen while an eligible one is not.
func TestCap(t *testing.T) {
	for _, n := range []int{1, 2, 4, 7, 50} {
		c := small()
		c.Replicas, c.Files.Count = n, 500
		p := newPlacement(&c)
		r := rand.New(rand.NewPCG(9, uint64(n)))
		for range 2000 {
			p.total = 0
			for i := range p.load {
				p.load[i] = int32(r.IntN(1 + r.IntN(40)))
				p.total += int64(p.load[i])
			}
			dead := r.IntN(n + 1)
			eligible := func(i int) bool { return i != dead }
			limit := p.limit(n)
			chosen, _ := p.choose(int32(r.IntN(500)), 0, n, eligible)
			if chosen < 0 {
				if n > 1 {
					t.Fatalf("%d replicas: none was chosen", n)
				}
				continue
			}
			if !eligible(chosen) {
				t.Fatalf("%d replicas: replica %d is dead", n, chosen)
			}
			for i, load := range p.load {
				if eligible(i) && float64(load) < limit && float64(p.load[chosen]) >= limit {
					t.Fatalf("replica %d with %d calls was chosen, %d has %d, the limit is %v", chosen, p.load[chosen], i, load, limit)
				}
			}
		}
	}
}

// TestLoadStaysBelowTheCap: with the present load, no replica gets a call beyond the cap.
func TestLoadStaysBelowTheCap(t *testing.T) {
	const n, files, calls = 20, 100, 400
	c := small()
	c.Replicas, c.Files.Count = n, files
	p := newPlacement(&c)
	r := rand.New(rand.NewPCG(10, 10))
	var open []int
	for range 20_000 {
		if len(open) == calls {
			i := r.IntN(len(open))
			p.load[open[i]]--
			p.total--
			open[i] = open[len(open)-1]
			open = open[:len(open)-1]
		}
		before := p.limit(n)
		chosen, _ := p.choose(int32(r.IntN(1+r.IntN(files))), 0, n, func(int) bool { return true })
		if float64(p.load[chosen]) >= before {
			t.Fatalf("replica %d has %d calls and gets one more, the limit is %v", chosen, p.load[chosen], before)
		}
		p.load[chosen]++
		p.total++
		open = append(open, chosen)
	}
}

// TestRankIsTheOrderOfAllScores compares the remembered replicas with a search of all.
func TestRankIsTheOrderOfAllScores(t *testing.T) {
	c := small()
	c.Replicas, c.Files.Count = 300, 200
	p := newPlacement(&c)
	for file := range int32(200) {
		taken := map[int]bool{}
		for place := range ranked + 3 {
			eligible := func(i int) bool { return !taken[i] }
			got, _ := p.choose(file, 0, 300, eligible)
			want, _ := p.scan(file, 0, 300, 1e9, eligible)
			if got != want {
				t.Fatalf("file %d, place %d: replica %d, want %d", file, place, got, want)
			}
			taken[got] = true
		}
	}
}

// TestOrderIsThatOfTheServer compares the choice with package flightsrv/fleet.
func TestOrderIsThatOfTheServer(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for range 3000 {
		n := 1 + r.IntN(12)
		c := small()
		c.Replicas, c.Files.Count = n, 40
		p := newPlacement(&c)
		list, from := make([]fleet.Candidate, n), r.IntN(n)
		for i := range list {
			p.load[i] = int32(r.IntN(1 + r.IntN(20)))
			p.total += int64(p.load[i])
			for range r.IntN(1 + r.IntN(200/n)) {
				p.send(from, i)
			}
			list[i] = fleet.Candidate{
				Replica: fleetstore.Replica{ID: string(replicaID(i)), Load: int64(p.load[i])},
				Sent:    int64(p.sent[from*n+i]) * int64(n),
			}
		}
		file := int32(r.IntN(40))
		want := fleet.Order(fileKey(file), list)[0].ID
		got, _ := p.choose(file, from, n, func(int) bool { return true })
		if string(replicaID(got)) != want {
			t.Fatalf("file %d, loads %v: replica %q, want %q", file, p.load, replicaID(got), want)
		}
	}
}

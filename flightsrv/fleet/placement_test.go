package fleet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	fleetstore "github.com/vibeflight/vibeflight/catalog/fleet"
)

func replicas(n int) []Candidate {
	var all []Candidate
	for i := range n {
		all = append(all, Candidate{Replica: fleetstore.Replica{ID: fmt.Sprintf("replica-%d", i)}})
	}
	return all
}

func ids(all []Candidate) []string {
	var out []string
	for _, r := range all {
		out = append(out, r.ID)
	}
	return out
}

func keyOf(i int) []byte { return fmt.Appendf(nil, "roads/%d.geojson", i) }

func TestOrderIsAPermutationThatTheListDoesNotInfluence(t *testing.T) {
	all := replicas(7)
	for i := range 100 {
		want := ids(Order(keyOf(i), all))
		sorted := slices.Sorted(slices.Values(want))
		if !slices.Equal(sorted, ids(all)) {
			t.Fatalf("key %d: %v is not a permutation", i, want)
		}
		shuffled := slices.Clone(all)
		rand.Shuffle(len(shuffled), func(a, b int) { shuffled[a], shuffled[b] = shuffled[b], shuffled[a] })
		if got := ids(Order(keyOf(i), shuffled)); !slices.Equal(got, want) {
			t.Errorf("key %d: %v, in another order of the list %v", i, want, got)
		}
	}
	if got := Order(keyOf(0), nil); len(got) != 0 {
		t.Errorf("of no replicas: %v", got)
	}
}

// TestFewKeysMove checks that a replica that joins or leaves changes the first place of its own keys
// alone, and that each replica has about as many.
func TestFewKeysMove(t *testing.T) {
	const keys = 20_000
	for _, n := range []int{2, 3, 4, 10, 100} {
		before, after := replicas(n), replicas(n+1)
		joined := after[n].ID
		count, moved := map[string]int{}, 0
		for i := range keys {
			was, is := Order(keyOf(i), before)[0].ID, Order(keyOf(i), after)[0].ID
			count[is]++
			if was != is {
				moved++
				if is != joined {
					t.Fatalf("%d replicas: key %d moved from %s to %s, which was there before", n, i, was, is)
				}
			}
		}
		fair := float64(keys) / float64(n+1)
		if m := float64(moved); m < 0.75*fair || m > 1.25*fair {
			t.Errorf("%d replicas: %d of %d keys moved, want about %.0f", n, moved, keys, fair)
		}
		for id, c := range count {
			if c := float64(c); c < 0.7*fair || c > 1.3*fair {
				t.Errorf("%d replicas: %s has %.0f keys, want about %.0f", n, id, c, fair)
			}
		}
	}
}

func TestOverloadedReplicasFollow(t *testing.T) {
	tests := []struct {
		name  string
		loads []int64
		last  []int // replicas that follow the others
	}{
		{"idle", []int64{0, 0, 0, 0}, nil},
		{"one call", []int64{1, 0, 0, 0}, nil},
		{"equal", []int64{100, 100, 100, 100}, nil},
		{"within five per cent", []int64{104, 100, 100, 100}, nil},
		{"one above", []int64{200, 100, 100, 100}, []int{0}},
		{"two above", []int64{200, 0, 200, 0}, []int{0, 2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			all := replicas(len(test.loads))
			for i := range all {
				all[i].Load = test.loads[i]
			}
			for i := range 200 {
				got := Order(keyOf(i), all)
				for k, r := range got {
					at := slices.IndexFunc(all, func(x Candidate) bool { return x.ID == r.ID })
					if follows := k >= len(all)-len(test.last); follows != slices.Contains(test.last, at) {
						t.Fatalf("key %d: %v, loads %v", i, ids(got), test.loads)
					}
				}
			}
		})
	}
}

// TestCapIsRespected assigns calls one after the other to the best replica of a few hot keys. No
// replica gets more than the cap.
func TestCapIsRespected(t *testing.T) {
	all := replicas(8)
	for i := range 4000 {
		best := Order(keyOf(i%3), all)[0].ID
		limit := limitOf(all).load
		for k := range all {
			if all[k].ID == best {
				if float64(all[k].Load) >= limit {
					t.Fatalf("call %d: %s has %d calls, the cap is %.1f", i, best, all[k].Load, limit)
				}
				all[k].Load++
			}
		}
	}
}

// TestHotTableSpreads sends all calls with one key, while the loads are those of the last
// announcement. The calls spread over the replicas, and few calls stay with one.
func TestHotTableSpreads(t *testing.T) {
	const n, calls = 4, 4000
	all := replicas(n)
	few := map[string]bool{}
	for i := range int64(calls) {
		best := Order(keyOf(1), all)[0].ID
		if i < freeSent {
			few[best] = true
		}
		all[slices.IndexFunc(all, func(r Candidate) bool { return r.ID == best })].Sent++
	}
	for _, r := range all {
		if most := float64(maxLoadShare*calls/n + freeSent + 1); float64(r.Sent) > most {
			t.Errorf("%s was sent %d calls of %d, want at most %.0f", r.ID, r.Sent, calls, most)
		}
	}
	if len(few) != 1 {
		t.Errorf("the first %d calls went to %d replicas, want 1", freeSent, len(few))
	}
}

func TestRotated(t *testing.T) {
	all := replicas(3)
	for i, want := range []string{"012", "120", "201", "012"} {
		got := ""
		for _, r := range Rotated(all, i) {
			got += r.ID[len(r.ID)-1:]
		}
		if got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
	if Rotated(nil, 3) != nil {
		t.Error("of none")
	}
}

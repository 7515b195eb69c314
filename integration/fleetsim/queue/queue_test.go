package queue

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTimersFireInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var q Timers
	var want, got []float64
	for range 5000 {
		if r.IntN(3) > 0 || len(want) == 0 {
			at := float64(r.IntN(1000))
			q.Add(Timer{At: at, ID: int32(at)})
			want = append(want, at)
			continue
		}
		i := 0
		for j, at := range want {
			if at < want[i] {
				i = j
			}
		}
		next, _ := q.Next()
		e := q.Pop()
		if e.At != want[i] || e.At != next || e.ID != int32(e.At) {
			t.Fatalf("popped %+v after Next %v, want %v", e, next, want[i])
		}
		want = slices.Delete(want, i, i+1)
		got = append(got, e.At)
	}
	if len(got) < 1000 {
		t.Fatalf("%d events", len(got))
	}
}

// TestJobsShareCapacity compares the ends of jobs with a simulation in small steps.
func TestJobsShareCapacity(t *testing.T) {
	for _, test := range []struct {
		name     string
		capacity float64
		groups   []Group
	}{
		{"one job at a time is at most one core", 8, []Group{{8, 1}}},
		{"two groups below the capacity of their host", 4, []Group{{2, 1}, {2, 1}}},
		{"two groups that a host slows down", 1.5, []Group{{1, 1}, {2, 1}}},
		{"a link", 100, []Group{{100, 30}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(2, 2))
			var s Stations
			first := s.AddStation(test.capacity, test.groups...)
			other := s.AddStation(1, Group{1, 1}) // does not disturb
			var want []task
			for i := range 60 {
				want = append(want, task{
					start: r.Float64() * 20, work: 1 + 20*r.Float64(), weight: float64(1 + r.IntN(3)),
					group: r.IntN(len(test.groups)),
				})
				if test.groups[0].Capacity == 100 {
					want[i].weight = 1
				}
			}
			simulate(want, test.capacity, test.groups)
			got := ends(&s, want, first, other)
			for i, w := range want {
				if math.Abs(got[i]-w.end) > 0.05 {
					t.Errorf("job %d, %+v: ended at %.3f", i, w, got[i])
				}
			}
		})
	}
}

// task is a job of the simulation in steps.
type task struct {
	start, work, weight float64
	group               int
	left, end           float64
}

// simulate computes the ends of jobs.
func simulate(jobs []task, capacity float64, groups []Group) {
	const step = 1e-3
	for i := range jobs {
		jobs[i].left = jobs[i].work
	}
	for now, left := 0.0, len(jobs); left > 0; now += step {
		weight, rate, total := make([]float64, len(groups)), make([]float64, len(groups)), 0.0
		for _, j := range jobs {
			if j.start <= now && j.left > 0 {
				weight[j.group] += j.weight
			}
		}
		for g := range groups {
			if weight[g] > 0 {
				rate[g] = min(groups[g].Unit, groups[g].Capacity/weight[g])
				total += rate[g] * weight[g]
			}
		}
		for i := range jobs {
			if j := &jobs[i]; j.start <= now && j.left > 0 {
				j.left -= step * rate[j.group] * j.weight * min(1, capacity/total)
				if j.left <= 0 {
					j.end = now
					left--
				}
			}
		}
	}
}

// ends runs jobs on stations.
func ends(s *Stations, jobs []task, first, other int) []float64 {
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if jobs[a].start < jobs[b].start {
			return -1
		}
		return 1
	})
	got := make([]float64, len(jobs))
	for len(order) > 0 || s.Jobs(first) > 0 || s.Jobs(other) > 0 || len(s.order) > 0 {
		at, ok := s.Next()
		if len(order) > 0 && (!ok || jobs[order[0]].start < at) {
			j := jobs[order[0]]
			s.Add(first+j.group, j.start, j.work, j.weight, int32(order[0]))
			s.Add(other, j.start, 0.5, 1, -1)
			order = order[1:]
		} else if id := s.Pop(); id >= 0 {
			got[id] = at
		}
	}
	return got
}

func TestClearRemovesJobs(t *testing.T) {
	var s Stations
	g := s.AddStation(3, Group{1, 1}, Group{1, 1})
	for i := range 5 {
		s.Add(g, 0, 1, 1, int32(i))
	}
	s.Add(g+1, 0, 10, 1, 9)
	if at, ok := s.Next(); !ok || at != 5 {
		t.Fatalf("the next end is %v, %v, want 5", at, ok)
	}
	ids := s.Clear(g, 2)
	slices.Sort(ids)
	if !slices.Equal(ids, []int32{0, 1, 2, 3, 4}) {
		t.Errorf("Clear returned %v", ids)
	}
	if done := s.Done(g, 3); math.Abs(done-2) > 1e-9 {
		t.Errorf("the group has done %v, want 2", done)
	}
	if at, ok := s.Next(); !ok || at != 10 {
		t.Errorf("the next end is %v, %v, want 10", at, ok)
	}
	if id := s.Pop(); id != 9 {
		t.Errorf("job %d ended, want 9", id)
	}
	if _, ok := s.Next(); ok {
		t.Error("there is another job")
	}
}

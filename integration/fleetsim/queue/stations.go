package queue

import "math"

// Stations are resources whose jobs run at the same time and share a capacity, such as the cores of
// a host, a network link or a disk. A station has groups, such as the servers of a host, each with a
// capacity of its own.
//
// Each unit of weight of a group progresses at the same rate: at most the group's unit rate, and at
// most the group's capacity divided by the weight of its jobs. If the groups of a station could do
// more than the station's capacity, all of them are slowed down by the same factor.
//
// The virtual time of a group is the work that a job of weight 1 would have done. A job ends when it
// reaches the virtual time of its start plus its work divided by its weight, so that the arrival of
// one job does not touch the others.
type Stations struct {
	stations []station
	groups   []group
	order    []int32 // heap of the stations that have jobs, by the time of their next end
}

type station struct {
	capacity    float64
	first, last int32   // its groups
	updated     float64 // time of the virtual times of its groups
	end         float64 // of the next job
	group       int32   // of that job
	place       int32   // in order, or -1
}

type group struct {
	capacity, unit float64
	weight         float64 // of its jobs
	rate           float64 // of a unit of weight
	virtual        float64
	done           float64 // work since the start of the simulation
	jobs           heap[job]
	station        int32
}

type job struct {
	end    float64 // virtual time
	weight float64
	id     int32
}

func (j job) time() float64 { return j.end }

// Group is what Add needs to know of a group: its capacity, and the highest rate of a unit of weight.
type Group struct {
	Capacity, Unit float64
}

// AddStation adds a station and returns the numbers of its groups, which are consecutive, by the
// first of them. Capacities may be infinite.
func (s *Stations) AddStation(capacity float64, groups ...Group) (first int) {
	first = len(s.groups)
	for _, g := range groups {
		s.groups = append(s.groups, group{capacity: g.Capacity, unit: g.Unit, station: int32(len(s.stations))})
	}
	s.stations = append(s.stations, station{
		capacity: capacity, first: int32(first), last: int32(len(s.groups)), place: -1,
	})
	return first
}

// Add starts a job. Its work and its weight are positive.
func (s *Stations) Add(g int, now, work, weight float64, id int32) {
	gr := &s.groups[g]
	s.advance(gr.station, now)
	gr.jobs.push(job{gr.virtual + work/weight, weight, id})
	gr.weight += weight
	s.reschedule(gr.station, now)
}

// Next returns the time at which the next job ends, or false if there are no jobs.
func (s *Stations) Next() (at float64, ok bool) {
	if len(s.order) == 0 {
		return 0, false
	}
	return s.stations[s.order[0]].end, true
}

// Pop ends the job that is the next to end, and returns its ID. There must be a job.
func (s *Stations) Pop() (id int32) {
	st := s.order[0]
	now, g := s.stations[st].end, &s.groups[s.stations[st].group]
	s.advance(st, now)
	j := g.jobs.pop()
	g.virtual = j.end
	g.weight -= j.weight
	g.reset()
	s.reschedule(st, now)
	return j.id
}

// Clear removes the jobs of a group and returns their IDs.
func (s *Stations) Clear(g int, now float64) (ids []int32) {
	gr := &s.groups[g]
	s.advance(gr.station, now)
	for _, j := range gr.jobs {
		ids = append(ids, j.id)
	}
	gr.jobs = gr.jobs[:0]
	gr.reset()
	s.reschedule(gr.station, now)
	return ids
}

// Jobs returns the number of jobs of a group.
func (s *Stations) Jobs(g int) int { return len(s.groups[g].jobs) }

// Done returns the work that a group has done until now.
func (s *Stations) Done(g int, now float64) float64 {
	s.advance(s.groups[g].station, now)
	return s.groups[g].done
}

// reset forgets rounding errors once a group has no jobs.
func (g *group) reset() {
	if len(g.jobs) == 0 {
		g.weight, g.virtual = 0, 0
	}
}

// advance brings the virtual times of a station to now.
func (s *Stations) advance(n int32, now float64) {
	st := &s.stations[n]
	passed := now - st.updated
	if passed <= 0 {
		return
	}
	st.updated = now
	for i := st.first; i < st.last; i++ {
		if g := &s.groups[i]; len(g.jobs) > 0 {
			g.virtual += passed * g.rate
			g.done += passed * g.rate * g.weight
		}
	}
}

// reschedule computes the rates of a station and the time of its next end.
func (s *Stations) reschedule(n int32, now float64) {
	st := &s.stations[n]
	total := 0.0
	for i := st.first; i < st.last; i++ {
		if g := &s.groups[i]; len(g.jobs) > 0 {
			g.rate = min(g.unit, g.capacity/g.weight)
			total += g.rate * g.weight
		}
	}
	slower := 1.0
	if total > st.capacity {
		slower = st.capacity / total
	}
	st.end = math.Inf(1)
	for i := st.first; i < st.last; i++ {
		g := &s.groups[i]
		if len(g.jobs) == 0 {
			continue
		}
		g.rate *= slower
		if end := now + max(0, g.jobs[0].end-g.virtual)/g.rate; end < st.end {
			st.end, st.group = end, i
		}
	}
	s.place(n)
}

// place moves a station to its place in the order, from which it is removed if it has no jobs.
func (s *Stations) place(n int32) {
	st := &s.stations[n]
	i := int(st.place)
	switch idle := math.IsInf(st.end, 1); {
	case i < 0 && idle:
		return
	case i < 0:
		s.order = append(s.order, n)
		i = len(s.order) - 1
	case idle:
		last := len(s.order) - 1
		moved := s.order[last]
		s.order = s.order[:last]
		st.place = -1
		if moved == n {
			return
		}
		n = moved
	}
	s.down(s.up(i, n), n)
}

// up moves a station from place i towards the front and returns its place.
func (s *Stations) up(i int, n int32) int {
	end := s.stations[n].end
	for i > 0 {
		parent := (i - 1) / 4
		if s.stations[s.order[parent]].end <= end {
			break
		}
		s.put(i, s.order[parent])
		i = parent
	}
	s.put(i, n)
	return i
}

// down moves a station from place i towards the back.
func (s *Stations) down(i int, n int32) {
	end, size := s.stations[n].end, len(s.order)
	for {
		child := 4*i + 1
		if child >= size {
			break
		}
		for c := child + 1; c < min(child+4, size); c++ {
			if s.stations[s.order[c]].end < s.stations[s.order[child]].end {
				child = c
			}
		}
		if s.stations[s.order[child]].end >= end {
			break
		}
		s.put(i, s.order[child])
		i = child
	}
	s.put(i, n)
}

func (s *Stations) put(i int, n int32) {
	s.order[i] = n
	s.stations[n].place = int32(i)
}

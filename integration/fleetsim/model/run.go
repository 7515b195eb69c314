package model

import (
	"math"
	"math/rand/v2"

	"github.com/vibeflight/vibeflight/integration/fleetsim/lru"
	"github.com/vibeflight/vibeflight/integration/fleetsim/queue"
	"github.com/vibeflight/vibeflight/integration/fleetsim/sample"
)

const gb = 1e9

// Kinds of timers.
const (
	timerArrival = iota // of the next read
	timerTask           // the end of a delay of a read or a load
	timerDeath
	timerRestart
	timerLoad // replicas announce their load
)

// Simulation is one run.
type Simulation struct {
	c      Config
	timers queue.Timers
	jobs   queue.Stations
	now    float64

	sizes     []float32 // of tables
	zipf      *sample.Zipf
	arrivals  *rand.Rand
	files     *rand.Rand
	choices   *rand.Rand
	place     *placement
	live      []bool
	alive     []int32 // the replicas that are
	replicas  []replica
	load      []int32 // calls in progress of each replica
	total     int64
	bucket    int // group
	clientCPU int // group
	storeCPU  int // group

	reads     []read
	freeRead  int32
	loads     []load
	freeLoad  int32
	inWork    map[uint64]int32 // loads by replica and file
	leases    map[int32]*lease
	shared    *lru.Cache
	distinct  []bool
	recorded  []bool    // files whose tables are described in the store
	keepers   []uint16  // number of replicas that have the table of a file
	known     []float32 // time from which they are known, or 0
	issued    int
	finished  int
	inSystem  int
	result    Result
	counts    counts
	unlimited []bool // groups without a limit
}

// replica is the state of one server.
type replica struct {
	cpu, link, fetch, disk int // groups
	cache                  *lru.Cache
	parsing                int
	queue                  []int32 // loads that wait for a parse slot
}

// New prepares a run.
func New(c Config) (*Simulation, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &Simulation{
		c:        c,
		arrivals: rand.New(rand.NewPCG(c.Seed, 1)),
		files:    rand.New(rand.NewPCG(c.Seed, 2)),
		choices:  rand.New(rand.NewPCG(c.Seed, 3)),
		place:    newPlacement(&c),
		live:     make([]bool, c.Replicas),
		alive:    make([]int32, c.Replicas),
		replicas: make([]replica, c.Replicas),
		load:     make([]int32, c.Replicas),
		freeRead: -1, freeLoad: -1,
		inWork: map[uint64]int32{}, leases: map[int32]*lease{},
		distinct: make([]bool, c.Files.Count),
		recorded: make([]bool, c.Files.Count),
		keepers:  make([]uint16, c.Files.Count),
		known:    make([]float32, c.Files.Count),
		zipf:     sample.NewZipf(c.Files.Count, c.Reads.Zipf),
	}
	s.counts.perServer = make([]int, c.Replicas)
	if c.Placement.Age == 0 {
		s.place.load = s.load
	}
	s.drawSizes()
	s.addStations()
	for i := range s.replicas {
		s.live[i], s.alive[i] = true, int32(i)
		s.replicas[i].cache = lru.New(limit(c.Replica.CacheBytes), limit(c.Replica.Memory), s.size, s.evicted)
	}
	s.shared = lru.New(limit(c.Shared.Bytes), limit(c.Shared.Bytes), s.size, nil)
	if c.Shared.Full {
		for i := range c.Files.Count {
			s.shared.Use(int32(c.Files.Count-1-i), 1)
			s.recorded[i] = true
		}
	}
	return s, nil
}

// drawSizes gives each file a size, from the list in turn or from the distribution.
func (s *Simulation) drawSizes() {
	f := s.c.Files
	r := rand.New(rand.NewPCG(s.c.Seed, 4))
	s.sizes = make([]float32, f.Count)
	for i := range s.sizes {
		bytes := 0.0
		if len(f.Sizes) > 0 {
			bytes = f.Sizes[i%len(f.Sizes)]
		} else {
			bytes = sample.LogNormal(r, f.Median, f.Sigma)
		}
		s.sizes[i] = float32(max(1, bytes*f.Ratio))
	}
}

// size returns the bytes of a table.
func (s *Simulation) size(file int32) float64 { return float64(s.sizes[file]) }

// addStations makes the resources: the cores of each host, the links of each replica, its disk, the
// bucket, and the clients' cores.
func (s *Simulation) addStations() {
	c := &s.c
	clients := queue.Group{Capacity: limit(c.Client.Cores), Unit: 1}
	store := queue.Group{Capacity: math.Inf(1), Unit: 1}
	perHost := max(1, c.Host.Replicas)
	for first := 0; first < c.Replicas; first += perHost {
		n := min(perHost, c.Replicas-first)
		groups := make([]queue.Group, n)
		for i := range groups {
			groups[i] = queue.Group{Capacity: c.Replica.Cores, Unit: 1}
		}
		if first == 0 && c.Client.OnHost {
			groups = append(groups, clients, store)
		}
		g := s.addStation(limit(c.Host.Cores), groups...)
		for i := range n {
			s.replicas[first+i].cpu = g + i
		}
		if first == 0 && c.Client.OnHost {
			s.clientCPU, s.storeCPU = g+n, g+n+1
		}
	}
	if !c.Client.OnHost {
		s.clientCPU = s.addStation(limit(c.Client.Cores), clients)
		s.unlimited[s.clientCPU] = c.Client.Cores == 0
		s.storeCPU = s.addStation(math.Inf(1), store)
	}
	for i := range s.replicas {
		r := &s.replicas[i]
		link, fetch, disk := limit(c.Replica.Link), limit(c.Shared.Link), limit(c.Replica.Disk)
		r.link = s.addStation(link, queue.Group{Capacity: link, Unit: limit(c.Client.Link)})
		r.fetch = s.addStation(fetch, queue.Group{Capacity: fetch, Unit: fetch})
		r.disk = s.addStation(disk, queue.Group{Capacity: disk, Unit: disk})
		s.unlimited[r.link] = c.Replica.Link == 0 && c.Client.Link == 0
		s.unlimited[r.fetch] = c.Shared.Link == 0
		s.unlimited[r.disk] = c.Replica.Disk == 0
	}
	bucket := limit(c.Shared.Rate)
	s.bucket = s.addStation(bucket, queue.Group{Capacity: bucket, Unit: bucket})
	s.unlimited[s.bucket] = c.Shared.Rate == 0
	s.counts.done = make([]float64, len(s.unlimited))
}

func (s *Simulation) addStation(capacity float64, groups ...queue.Group) int {
	for range groups {
		s.unlimited = append(s.unlimited, false)
	}
	return s.jobs.AddStation(capacity, groups...)
}

// Run simulates until all reads have ended.
func (s *Simulation) Run() Result {
	if s.c.Reads.Rate > 0 {
		s.timers.Add(queue.Timer{At: s.delay(), Kind: timerArrival})
	} else {
		for range min(s.c.Reads.Clients, s.c.Reads.Count) {
			s.timers.Add(queue.Timer{At: s.think() + s.roundTrips(), Kind: timerArrival})
		}
	}
	if s.c.Deaths.PerHour > 0 {
		s.timers.Add(queue.Timer{At: s.nextDeath(), Kind: timerDeath})
	}
	if s.c.Placement.Age > 0 {
		s.timers.Add(queue.Timer{At: s.c.Placement.Age, Kind: timerLoad})
	}
	for s.finished < s.c.Reads.Count {
		timer, some := s.timers.Next()
		job, any := s.jobs.Next()
		if any && (!some || job <= timer) {
			s.now = job
			s.end(s.jobs.Pop())
		} else {
			s.now = timer
			s.fire(s.timers.Pop())
		}
	}
	return s.summarize()
}

func (s *Simulation) fire(t queue.Timer) {
	switch t.Kind {
	case timerArrival:
		if s.issued == s.c.Reads.Count {
			return
		}
		if s.c.Reads.Rate > 0 {
			s.timers.Add(queue.Timer{At: s.now + s.delay(), Kind: timerArrival})
		}
		s.arrive()
	case timerTask:
		s.end(t.ID)
	case timerDeath:
		s.kill()
		s.timers.Add(queue.Timer{At: s.now + s.nextDeath(), Kind: timerDeath})
	case timerRestart:
		s.restart(int(t.ID))
	case timerLoad:
		s.place.announce(s.load, s.total)
		s.timers.Add(queue.Timer{At: s.now + s.c.Placement.Age, Kind: timerLoad})
	}
}

// delay returns the time between two arrivals.
func (s *Simulation) delay() float64 { return s.arrivals.ExpFloat64() / s.c.Reads.Rate }

// think returns the time between two reads of a client.
func (s *Simulation) think() float64 {
	if s.c.Reads.Think == 0 {
		return 0
	}
	return s.arrivals.ExpFloat64() * s.c.Reads.Think
}

// roundTrips returns the time that the messages of a read are on their way.
func (s *Simulation) roundTrips() float64 {
	if s.c.Reads.Info {
		return 2 * s.c.Client.RoundTrip
	}
	return s.c.Client.RoundTrip
}

// work adds a job to a group. It returns the number of jobs, which is 0 if the group has no limit.
func (s *Simulation) work(group int, amount, weight float64, id int32) int32 {
	if amount <= 0 || s.unlimited[group] {
		return 0
	}
	s.jobs.Add(group, s.now, amount, weight, id)
	return 1
}

// wait adds a delay. It returns the number of timers.
func (s *Simulation) wait(seconds float64, id int32) int32 {
	if seconds <= 0 {
		return 0
	}
	s.timers.Add(queue.Timer{At: s.now + seconds, Kind: timerTask, ID: id})
	return 1
}

// end is called when one of the jobs or timers of a task has ended. A read has its index as ID, a
// load the complement of its index.
func (s *Simulation) end(id int32) {
	if id >= 0 {
		r := &s.reads[id]
		if r.pending--; r.pending == 0 {
			s.stepRead(id)
		}
		return
	}
	l := &s.loads[^id]
	if l.pending--; l.pending == 0 {
		s.stepLoad(^id)
	}
}

// reset starts to count anew after the warmup.
func (s *Simulation) reset() {
	s.counts.started, s.counts.changed = s.now, s.now
	s.counts.levels, s.counts.latency, s.counts.bytes, s.counts.present = [levels]int{}, sample.Histogram{}, Bytes{}, 0
	clear(s.counts.perServer)
	for g := range s.counts.done {
		s.counts.done[g] = s.jobs.Done(g, s.now)
	}
}

func (s *Simulation) summarize() Result {
	res, k := s.result, &s.counts
	n := float64(k.latency.Len())
	res.Replicas, res.Placement, res.Reads = s.c.Replicas, s.c.Placement.Kind, k.latency.Len()
	res.Seconds = s.now - k.started
	res.PerSecond = ratio(n, res.Seconds)
	share := func(l Level) float64 { return ratio(float64(k.levels[l]), n) }
	res.Hits = Hits{share(Mapped), share(Disk), share(Fetched), share(Parsed)}
	for _, d := range s.distinct {
		if d {
			res.Distinct++
		}
	}
	res.PerFile = ratio(float64(res.Parses), float64(res.Distinct))
	res.Bytes = k.bytes
	res.Latency = Latency{k.latency.Mean(), k.latency.Quantile(0.5), k.latency.Quantile(0.99), k.latency.Max()}
	s.count(0)
	res.Use.Present = ratio(k.present, res.Seconds)
	busiest := 0
	for i, r := range s.replicas {
		use := ratio(s.done(r.cpu), s.c.Replica.Cores*res.Seconds)
		res.Use.CPU += use / float64(s.c.Replicas)
		res.Use.CPUMax = max(res.Use.CPUMax, use)
		busiest = max(busiest, k.perServer[i])
	}
	res.Use.Busiest = ratio(float64(busiest*s.c.Replicas), n)
	if s.c.Shared.Rate > 0 {
		res.Use.Bucket = ratio(s.done(s.bucket), s.c.Shared.Rate*res.Seconds)
	}
	if s.c.Client.Cores > 0 {
		res.Use.Clients = ratio(s.done(s.clientCPU), s.c.Client.Cores*res.Seconds)
	}
	return res
}

// done returns the work of a group after the warmup.
func (s *Simulation) done(group int) float64 { return s.jobs.Done(group, s.now) - s.counts.done[group] }

// count notes a change of the number of reads in progress.
func (s *Simulation) count(change int) {
	s.counts.present += float64(s.inSystem) * (s.now - s.counts.changed)
	s.counts.changed = s.now
	s.inSystem += change
}

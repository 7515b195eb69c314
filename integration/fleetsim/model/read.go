package model

import (
	"github.com/vibeflight/vibeflight/integration/fleetsim/lru"
	"github.com/vibeflight/vibeflight/integration/fleetsim/queue"
)

// read is a call of a client. Reads that have ended are in a list by next, those that wait for a load
// too.
type read struct {
	start    float64
	file     int32
	replica  int32
	next     int32
	pending  int32   // jobs and timers
	fraction float32 // of the table that is requested
	missing  float32 // of the table that is fetched
	stage    stage
	level    Level
}

type stage uint8

// Stages of reads.
const (
	stageInfo    stage = iota // GetFlightInfo is answered
	stageShape                // GetFlightInfo waits for a load, as nothing is known of the file
	stageRetry                // the replica died
	stageLoad                 // a load of the table is waited for
	stageRequest              // the request for a part is on its way to the bucket
	stagePart                 // a part is fetched
	stageSend                 // the replica sends the rows
	stageReceive              // the client receives what is left of them
	stageDead                 // made again elsewhere; what is pending of it counts for nothing
)

// arrive starts a read. The messages to the replicas and back are on their way before that.
func (s *Simulation) arrive() {
	s.issued++
	trips := s.roundTrips()
	s.count(1)
	s.counts.present += trips
	id := s.newRead(read{
		start: s.now - trips, file: int32(s.zipf.Draw(s.files)), replica: s.balance(), fraction: 1,
	})
	r := &s.reads[id]
	if s.c.Reads.Partial > 0 && s.files.Float64() < s.c.Reads.Partial {
		r.fraction = float32(s.c.Reads.Fraction)
	}
	s.distinct[r.file] = true
	s.ask(id)
}

// ask calls the replica that the balancer chose.
func (s *Simulation) ask(id int32) {
	r := &s.reads[id]
	s.load[r.replica]++
	s.total++
	if s.c.Reads.Info && !s.recorded[r.file] {
		r.stage = stageShape
		if level, share := s.replicas[r.replica].cache.Find(r.file); level == lru.Absent || share < complete {
			s.join(id)
			return
		}
	} else if s.c.Reads.Info && s.c.Reads.Loads {
		s.prepare(r.replica, r.file)
	}
	s.inform(id)
}

// inform answers GetFlightInfo, if that is called.
func (s *Simulation) inform(id int32) {
	r := &s.reads[id]
	r.stage, r.pending = stageInfo, 1
	if s.c.Reads.Info {
		r.pending += s.work(s.replicas[r.replica].cpu, s.c.Costs.InfoSeconds, 1, id)
	}
	s.end(id)
}

// balance returns a replica that is alive.
func (s *Simulation) balance() int32 { return s.alive[s.choices.IntN(len(s.alive))] }

func (s *Simulation) newRead(r read) int32 {
	if id := s.freeRead; id >= 0 {
		s.freeRead = s.reads[id].next
		s.reads[id] = r
		return id
	}
	s.reads = append(s.reads, r)
	return int32(len(s.reads) - 1)
}

func (s *Simulation) stepRead(id int32) {
	r := &s.reads[id]
	switch r.stage {
	case stageInfo:
		if s.c.Placement.Kind == Rendezvous {
			s.load[r.replica]--
			s.total--
			r.replica = s.choose(r.replica, r.file)
			s.load[r.replica]++
			s.total++
		}
		s.serve(id)
	case stageRetry:
		r.replica = s.balance()
		s.ask(id)
	case stageRequest:
		s.fetchPart(id)
	case stagePart:
		at := &s.replicas[r.replica]
		_, share := at.cache.Find(r.file)
		s.counts.bytes.Fetched += float64(r.missing)*s.size(r.file) + s.c.Shared.Footer
		s.keep(r.replica, r.file, min(1, share+float64(r.missing)))
		s.send(id, Fetched)
	case stageSend:
		s.receive(id)
	case stageReceive:
		s.finish(id)
	case stageDead:
		r.next = s.freeRead
		s.freeRead = id
	}
}

// choose returns the replica that should serve a file, as the replica from places it.
func (s *Simulation) choose(from, file int32) int32 {
	if s.c.Placement.Age == 0 {
		s.place.total = s.total
	}
	if at := s.known[file]; s.c.Placement.Keepers && s.keepers[file] > 0 && at > 0 && s.now >= float64(at) {
		i, fits := s.place.choose(file, int(from), len(s.alive), func(i int) bool {
			_, share := s.replicas[i].cache.Find(file)
			return s.live[i] && share >= complete
		})
		if fits {
			s.place.send(int(from), i)
			return int32(i)
		}
	}
	i, _ := s.place.choose(file, int(from), len(s.alive), func(i int) bool { return s.live[i] })
	s.place.send(int(from), i)
	return int32(i)
}

// keep puts a table, or a share of it, into the cache of a replica.
func (s *Simulation) keep(replica, file int32, share float64) {
	cache := s.replicas[replica].cache
	if _, before := cache.Find(file); before < complete && share >= complete {
		s.keepers[file]++
		if s.known[file] == 0 {
			s.known[file] = float32(s.now + s.c.Placement.Known*(1+s.choices.Float64()))
		}
	}
	cache.Use(file, share)
}

// evicted is called when the cache of a replica has removed a table.
func (s *Simulation) evicted(file int32, share float64) {
	if share >= complete {
		s.keepers[file]--
	}
}

// complete is the share of a table from which it counts as complete.
const complete = 0.999

// serve finds the table at its replica.
func (s *Simulation) serve(id int32) {
	r := &s.reads[id]
	level, share := s.replicas[r.replica].cache.Find(r.file)
	switch {
	case share >= complete && level == lru.Mapped:
		s.send(id, Mapped)
	case share >= complete:
		s.send(id, Disk)
	case r.fraction < 1 && s.inShared(r.file) && s.loadOf(r.replica, r.file) < 0:
		r.stage, r.pending = stageRequest, 1
		trips := 1.0 // the ranges of the rows
		if level == lru.Absent {
			trips = 2 // the footer first
		}
		r.pending += s.wait(trips*s.c.Shared.Latency, id)
		s.end(id)
	default:
		r.stage = stageLoad
		s.join(id)
	}
}

// inShared reports whether the shared cache has a table.
func (s *Simulation) inShared(file int32) bool {
	level, _ := s.shared.Find(file)
	return s.c.Shared.Enabled && level != lru.Absent
}

// fetchPart moves the part of a table that is requested and missing from the bucket.
func (s *Simulation) fetchPart(id int32) {
	r := &s.reads[id]
	_, share := s.replicas[r.replica].cache.Find(r.file)
	r.missing = r.fraction * float32(1-share)
	bytes := float64(r.missing)*s.size(r.file) + s.c.Shared.Footer
	r.stage, r.pending = stagePart, 1
	r.pending += s.fetch(int(r.replica), bytes, id)
	s.shared.Use(r.file, 1)
	s.end(id)
}

// fetch moves bytes from the bucket to a replica: over the bucket's capacity, the replica's link and
// its CPU at the same time.
func (s *Simulation) fetch(replica int, bytes float64, id int32) int32 {
	at := &s.replicas[replica]
	return s.work(s.bucket, bytes, 1, id) + s.work(at.fetch, bytes, 1, id) +
		s.work(at.cpu, s.c.Costs.FetchSeconds+bytes/gb*s.c.Costs.FetchSecondsPerGB, 1, id)
}

// send moves the rows to the client: over the CPU of the replica and its link at the same time. A table
// that was not mapped is read from disk and checked.
func (s *Simulation) send(id int32, level Level) {
	r := &s.reads[id]
	at, c := &s.replicas[r.replica], &s.c
	r.level = max(r.level, level)
	bytes := float64(r.fraction) * s.size(r.file)
	cpu := c.Costs.ReadSeconds + bytes/gb*c.Costs.ReadSecondsPerGB
	r.stage, r.pending = stageSend, 1
	switch level {
	case Disk:
		s.counts.bytes.Disk += bytes
		r.pending += s.work(at.disk, bytes, 1, id)
		cpu += c.Costs.OpenSeconds + bytes/gb*c.Costs.CheckSecondsPerGB
	case Fetched:
		cpu += c.Costs.OpenSeconds + bytes/gb*c.Costs.CheckSecondsPerGB
	}
	if level == Mapped || level == Disk {
		at.cache.Use(r.file, 1)
	}
	r.pending += s.work(at.cpu, cpu, 1, id)
	r.pending += s.work(at.link, bytes, 1, id)
	s.end(id)
}

// receive takes the CPU of the clients. It does not overlap with send: a client can't be ahead of its
// replica, and would be if both shared a host's cores as equals.
func (s *Simulation) receive(id int32) {
	r := &s.reads[id]
	cpu := s.c.Client.CallSeconds + float64(r.fraction)*s.size(r.file)/gb*s.c.Client.SecondsPerGB
	r.stage, r.pending = stageReceive, 1
	r.pending += s.work(s.clientCPU, cpu, 1, id)
	s.end(id)
}

// finish ends a read. In a closed loop its client goes on.
func (s *Simulation) finish(id int32) {
	r := &s.reads[id]
	s.load[r.replica]--
	s.total--
	s.count(-1)
	s.finished++
	k := &s.counts
	k.latency.Add(s.now - r.start)
	k.levels[r.level]++
	k.perServer[r.replica]++
	k.bytes.Clients += float64(r.fraction) * s.size(r.file)
	if s.finished == s.c.Reads.Warmup {
		s.reset()
	}
	if s.c.Reads.Rate <= 0 && s.issued < s.c.Reads.Count {
		s.timers.Add(queue.Timer{At: s.now + s.think() + s.roundTrips(), Kind: timerArrival})
	}
	r.stage, r.next = stageDead, s.freeRead
	s.freeRead = id
}

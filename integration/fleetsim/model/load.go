package model

import (
	"math"

	"github.com/vibeflight/vibeflight/integration/fleetsim/queue"
)

// load is the work of a replica for a table that its cache does not have: the table is fetched, or
// the data file is parsed. Reads of the same table on the same replica wait for the same load. A parse
// goes on as a load after it has served its reads, until the table is uploaded.
type load struct {
	replica, file int32
	readers       int32   // list of reads, or -1; list of free loads
	pending       int32   // jobs and timers
	missing       float32 // share of the table that is fetched
	stage         loadStage
	holds         bool // the lease
}

type loadStage uint8

// Stages of loads.
const (
	loadAcquire loadStage = iota // a statement for the lease is on its way, or another replica has the lease
	loadRequest                  // the request is on its way to the bucket
	loadFetch
	loadQueue // a parse slot is waited for
	loadParse
	loadSave
	loadPut    // the request is on its way to the bucket
	loadUpload // the table is uploaded
	loadRecord // a statement for the record and the release of the lease is on its way
	loadDead   // its replica died
)

// lease is the right of a replica to parse a file. It expires only after its owner has died.
type lease struct {
	dead    bool
	expires float64
	waiting []int32 // loads that poll
}

func key(replica, file int32) uint64 { return uint64(replica)<<32 | uint64(file) }

// loadOf returns the load of a table on a replica, or -1.
func (s *Simulation) loadOf(replica, file int32) int32 {
	if id, ok := s.inWork[key(replica, file)]; ok {
		return id
	}
	return -1
}

// join lets a read wait for the load of its table, which is started if need be.
func (s *Simulation) join(id int32) {
	r := &s.reads[id]
	if l := s.loadOf(r.replica, r.file); l >= 0 {
		r.next = s.loads[l].readers
		s.loads[l].readers = id
		return
	}
	r.next = -1
	s.begin(r.replica, r.file, id)
}

// prepare loads a table that no read waits for.
func (s *Simulation) prepare(replica, file int32) {
	if _, share := s.replicas[replica].cache.Find(file); share < complete && s.loadOf(replica, file) < 0 {
		s.begin(replica, file, -1)
	}
}

// begin starts the load of a table.
func (s *Simulation) begin(replica, file, readers int32) {
	l := s.newLoad(load{replica: replica, file: file, readers: readers})
	s.inWork[key(replica, file)] = l
	switch {
	case s.inShared(file):
		s.request(l)
	case s.c.Leases.Enabled:
		s.acquire(l, s.c.Leases.Acquire)
	default:
		s.enqueue(l)
	}
}

func (s *Simulation) newLoad(l load) int32 {
	if id := s.freeLoad; id >= 0 {
		s.freeLoad = s.loads[id].readers
		s.loads[id] = l
		return id
	}
	s.loads = append(s.loads, l)
	return int32(len(s.loads) - 1)
}

func (s *Simulation) removeLoad(id int32) {
	s.loads[id] = load{readers: s.freeLoad, stage: loadDead}
	s.freeLoad = id
}

func (s *Simulation) stepLoad(id int32) {
	l := &s.loads[id]
	switch l.stage {
	case loadAcquire:
		s.tryLease(id)
	case loadRequest:
		l.stage, l.pending = loadFetch, 1
		s.shared.Use(l.file, 1)
		l.pending += s.fetch(int(l.replica), float64(l.missing)*s.size(l.file), ^id)
		s.end(^id)
	case loadFetch:
		s.counts.bytes.Fetched += float64(l.missing) * s.size(l.file)
		s.result.Fetches++
		s.loaded(id, Fetched)
		s.removeLoad(id)
	case loadParse:
		s.parsed(id)
	case loadSave:
		s.saved(id)
	case loadPut:
		s.upload(id)
	case loadUpload:
		s.counts.bytes.Upload += s.size(l.file)
		s.shared.Use(l.file, 1)
		s.record(id)
	case loadRecord:
		s.recorded[l.file] = true
		s.release(l)
		s.removeLoad(id)
	case loadDead:
		s.removeLoad(id)
	case loadQueue: // has nothing pending
	}
}

// acquire tries to get the lease after some time.
func (s *Simulation) acquire(id int32, after float64) {
	l := &s.loads[id]
	l.stage, l.pending = loadAcquire, 1
	l.pending += s.wait(after, ^id)
	s.end(^id)
}

// tryLease looks into the shared cache once more. Then it takes the lease if that is free, or polls.
func (s *Simulation) tryLease(id int32) {
	l := &s.loads[id]
	if s.inShared(l.file) {
		s.request(id)
		return
	}
	old := s.leases[l.file]
	if old != nil && (!old.dead || s.now < old.expires) {
		s.result.Waits++
		l.stage, l.pending = loadAcquire, 1
		if old.dead {
			s.poll(id, old.expires)
		} else {
			old.waiting = append(old.waiting, id)
		}
		return
	}
	if old != nil {
		s.result.Takeovers++
	}
	s.leases[l.file] = &lease{}
	l.holds = true
	s.enqueue(id)
}

// poll lets a load look again at its first poll after the given time. Polls without an effect are
// not simulated: the time that remains of an interval is drawn instead.
func (s *Simulation) poll(id int32, after float64) {
	shortest, longest := s.c.Leases.PollMin, s.c.Leases.PollMax
	// A moment is more likely to be in a long interval, in proportion to its length.
	interval := math.Sqrt(shortest*shortest + s.choices.Float64()*(longest*longest-shortest*shortest))
	rest := s.choices.Float64() * interval
	s.timers.Add(queue.Timer{At: after + rest + s.c.Leases.Acquire, Kind: timerTask, ID: ^id})
}

// release frees a lease, which those that wait for it notice at their next poll.
func (s *Simulation) release(l *load) {
	if !l.holds {
		return
	}
	for _, id := range s.leases[l.file].waiting {
		s.poll(id, s.now)
	}
	delete(s.leases, l.file)
	l.holds = false
}

// request fetches the table from the shared cache: its footer, then all the rest.
func (s *Simulation) request(id int32) {
	l := &s.loads[id]
	_, share := s.replicas[l.replica].cache.Find(l.file)
	l.missing = float32(1 - share)
	l.stage, l.pending = loadRequest, 1
	l.pending += s.wait(2*s.c.Shared.Latency, ^id)
	s.end(^id)
}

// enqueue parses the file as soon as there is a slot.
func (s *Simulation) enqueue(id int32) {
	l := &s.loads[id]
	at := &s.replicas[l.replica]
	if at.parsing == s.c.Replica.Slots {
		l.stage = loadQueue
		at.queue = append(at.queue, id)
		return
	}
	at.parsing++
	s.result.Parses++
	l.stage, l.pending = loadParse, 1
	bytes := s.size(l.file) / s.c.Files.Ratio
	cpu := s.c.Costs.ParseSeconds + bytes/gb*s.c.Costs.ParseSecondsPerGB
	l.pending += s.work(at.cpu, cpu, float64(s.c.Replica.Workers), ^id)
	s.end(^id)
}

// parsed serves the readers, frees the slot and saves the table.
func (s *Simulation) parsed(id int32) {
	s.loaded(id, Parsed)
	l := &s.loads[id]
	at := &s.replicas[l.replica]
	at.parsing--
	if len(at.queue) > 0 {
		next := at.queue[0]
		at.queue = at.queue[1:]
		s.enqueue(next)
		l = &s.loads[id]
	}
	l.stage, l.pending = loadSave, 1
	l.pending += s.work(at.cpu, s.c.Costs.SaveSeconds+s.size(l.file)/gb*s.c.Costs.SaveSecondsPerGB, 1, ^id)
	s.end(^id)
}

// saved uploads the table unless another replica has done that.
func (s *Simulation) saved(id int32) {
	l := &s.loads[id]
	if !s.c.Shared.Enabled || s.inShared(l.file) {
		s.record(id)
		return
	}
	l.stage, l.pending = loadPut, 1
	l.pending += s.wait(s.c.Shared.Latency, ^id)
	s.end(^id)
}

func (s *Simulation) upload(id int32) {
	l := &s.loads[id]
	at, bytes := &s.replicas[l.replica], s.size(l.file)
	l.stage, l.pending = loadUpload, 1
	l.pending += s.work(s.bucket, bytes, 1, ^id) + s.work(at.fetch, bytes, 1, ^id)
	l.pending += s.work(at.cpu, s.c.Costs.PutSeconds+bytes/gb*s.c.Costs.PutSecondsPerGB, 1, ^id)
	s.end(^id)
}

func (s *Simulation) record(id int32) {
	l := &s.loads[id]
	l.stage, l.pending = loadRecord, 1
	l.pending += s.work(s.storeCPU, s.c.Costs.StoreSeconds, 1, ^id)
	if s.c.Leases.Enabled {
		l.pending += s.wait(s.c.Leases.Acquire, ^id)
	}
	s.end(^id)
}

// loaded puts the table into the replica's cache and serves the reads that wait for it.
func (s *Simulation) loaded(id int32, level Level) {
	l := &s.loads[id]
	s.keep(l.replica, l.file, 1)
	delete(s.inWork, key(l.replica, l.file))
	waiting := l.readers
	l.readers = -1
	for waiting >= 0 {
		next := s.reads[waiting].next
		if s.reads[waiting].stage == stageShape {
			s.reads[waiting].level = level
			s.inform(waiting)
		} else {
			s.send(waiting, level)
		}
		waiting = next
	}
}

package model

import "github.com/vibeflight/vibeflight/integration/fleetsim/queue"

// nextDeath returns the time until the next death of a replica.
func (s *Simulation) nextDeath() float64 {
	return s.choices.ExpFloat64() * 3600 / (s.c.Deaths.PerHour * float64(s.c.Replicas))
}

// kill ends a replica. The last one stays alive, so that reads can end.
func (s *Simulation) kill() {
	if len(s.alive) == 1 {
		return
	}
	i := s.choices.IntN(len(s.alive))
	dead := s.alive[i]
	s.alive[i] = s.alive[len(s.alive)-1]
	s.alive = s.alive[:len(s.alive)-1]
	s.live[dead] = false
	s.result.Deaths++
	at := &s.replicas[dead]
	for _, g := range []int{at.cpu, at.link, at.fetch, at.disk} {
		for _, id := range s.jobs.Clear(g, s.now) {
			if id >= 0 {
				s.reads[id].pending--
			} else {
				s.loads[^id].pending--
			}
		}
	}
	at.parsing, at.queue = 0, nil
	s.loseLoads(dead)
	s.retryReads(dead)
	if s.c.Deaths.KeepsDisk {
		at.cache.Unmap()
	} else {
		at.cache.Clear()
	}
	s.timers.Add(queue.Timer{At: s.now + s.c.Deaths.Restart, Kind: timerRestart, ID: dead})
}

// loseLoads ends the loads of a replica. Its leases expire after the last time that it renewed them.
func (s *Simulation) loseLoads(dead int32) {
	for id := range s.loads {
		l := &s.loads[id]
		if l.replica != dead || l.stage == loadDead {
			continue
		}
		delete(s.inWork, key(l.replica, l.file))
		if l.holds {
			s.result.Lost++
			since := s.choices.Float64() * s.c.Leases.Renew
			lost := s.leases[l.file]
			lost.dead, lost.expires = true, s.now-since+s.c.Leases.Expiry
			for _, other := range lost.waiting {
				s.poll(other, lost.expires)
			}
			lost.waiting = nil
		}
		if l.stage = loadDead; l.pending == 0 {
			s.removeLoad(int32(id))
		}
	}
}

// retryReads makes the reads of a replica anew. The old ones end with what is pending of them.
func (s *Simulation) retryReads(dead int32) {
	for id := range len(s.reads) {
		r := s.reads[id]
		if r.replica != dead || r.stage == stageDead || r.stage == stageRetry {
			continue
		}
		s.result.Retries++
		s.load[dead]--
		s.total--
		s.reads[id].stage = stageDead
		if r.pending == 0 {
			s.reads[id].next = s.freeRead
			s.freeRead = int32(id)
		}
		again := s.newRead(read{
			start: r.start, file: r.file, fraction: r.fraction, replica: -1, stage: stageRetry, pending: 1,
		})
		s.reads[again].pending += s.wait(s.c.Deaths.Retry+s.roundTrips(), again)
		s.end(again)
	}
}

// restart lets a replica begin anew.
func (s *Simulation) restart(id int) {
	s.live[id] = true
	s.alive = append(s.alive, int32(id))
}

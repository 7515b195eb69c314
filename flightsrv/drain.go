package flightsrv

import "time"

// flushTime is how long the statuses of calls that are ended have to be sent.
const flushTime = 100 * time.Millisecond

// drain ends the server in steps: health checks report NOT_SERVING, and the other replicas of a fleet
// send it no more clients; after Config.DrainDelay, clients
// are told to leave (GOAWAY) and new calls are refused; after Config.Drain, calls in progress end. It
// does not wait for handlers of ended calls: one may be in a call that can't be interrupted.
func (s *Server) drain() {
	s.cfg.Telemetry.Health.SetDraining()
	s.health.Shutdown()
	s.service.fleet.Leave()
	time.Sleep(s.cfg.DrainDelay)
	s.load.goingAway.Store(true)
	done := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		s.service.requests.Lock()   // when the last request by HTTP has ended
		s.service.requests.Unlock() //nolint:staticcheck // it waits, and protects nothing
		close(done)
	}()
	select {
	case <-done:
		return
	case <-time.After(s.cfg.Drain):
	}
	n := s.active.kill(errGoingAway, func(*activeCall) bool { return true })
	s.cfg.Log.Warn().Dur("ms", s.cfg.Drain).Int("calls", n).
		Msg("calls are still in progress after the drain; they are cancelled")
	select {
	case <-done:
	case <-time.After(flushTime):
	}
	s.grpc.Stop()
}

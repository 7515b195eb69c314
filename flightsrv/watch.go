package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/telemetry"
)

// Times after which a component that makes no progress is stuck.
const (
	probeEvery = 5 * time.Second
	scanStale  = 2 * time.Minute // one walk over the folders, as of a network file system that hangs
	parseStale = 5 * time.Minute // no parse reads or ends, and no slot is free
	sqlEvery   = 15 * time.Second
	sqlStale   = 2 * time.Minute // longer than a query waits for a worker
)

// watch probes the components until stop is called, and lets gRPC's health service follow.
func (s *Server) watch(ctx context.Context) (stop func()) {
	h := s.cfg.Telemetry.Health
	h.SetLoaded()
	h.SetListening()
	h.OnChange(func(serving bool) {
		state := grpc_health_v1.HealthCheckResponse_NOT_SERVING
		if serving {
			state = grpc_health_v1.HealthCheckResponse_SERVING
		}
		s.health.SetServingStatus("", state) // without effect after Shutdown
	})
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, c := range s.components() {
		wg.Go(func() { h.Watch(ctx, c, func(err error) { s.logComponent(c.Name, err) }) })
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

func (s *Server) logComponent(name string, err error) {
	if err == nil {
		s.cfg.Log.Info().Str("component", name).Msg("the component works again")
		return
	}
	s.cfg.Log.Error().Err(err).Str("component", name).Msg("the component is stuck: health is NOT_SERVING")
}

// components returns what is probed.
func (s *Server) components() []telemetry.Component {
	if s.cfg.components != nil {
		return s.cfg.components
	}
	all := []telemetry.Component{
		{Name: "catalog", Every: probeEvery, Stale: 2 * probeEvery, Probe: s.probeCatalog},
		{Name: "parses", Every: probeEvery, Stale: parseStale, Probe: s.probeParses()},
	}
	if s.cfg.SQL != nil {
		all = append(all, telemetry.Component{Name: "sql", Every: sqlEvery, Stale: sqlStale, Probe: s.probeSQL})
	}
	return all
}

// probeCatalog fails if a walk over the folders takes too long.
func (s *Server) probeCatalog(context.Context) error {
	if took := s.cfg.Catalog.Progress().Scanning; took > scanStale {
		return fmt.Errorf("the walk over the folders has taken %v", took.Round(time.Second))
	}
	return nil
}

// probeParses returns a probe that fails if all slots are taken and no parse made progress since the
// last probe.
func (s *Server) probeParses() func(context.Context) error {
	last := int64(-1)
	return func(context.Context) error {
		p := s.cfg.Catalog.Progress()
		stuck := p.Full && p.Work == last
		last = p.Work
		if stuck {
			return fmt.Errorf("none of the %d parses has read anything", p.Parsing)
		}
		return nil
	}
}

// probeSQL runs a query. That all workers are busy is no failure.
func (s *Server) probeSQL(ctx context.Context) error {
	err := runProbe(ctx, s.cfg.SQL)
	if err != nil && ctx.Err() == nil && isBusy(err) {
		return nil
	}
	return err
}

func runProbe(ctx context.Context, e sql.Engine) error {
	stmt, err := e.Prepare(ctx, "SELECT 1", "")
	if err != nil {
		return err
	}
	defer stmt.Close()
	rows, err := stmt.Query(ctx, nil, 0)
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		rec, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		rec.Release()
	}
}

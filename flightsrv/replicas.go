package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/fleet"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// maxPlaces is the number of replicas that an endpoint names. More of them make a FlightInfo of many
// endpoints large, and no client tries more.
const maxPlaces = 8

// joinFleet connects the service with the other replicas, if there is a store. addresses are those
// of the listeners: without --advertise, others reach this replica by them.
func (s *service) joinFleet(addresses []string, encrypted bool) error {
	if s.cfg.Fleet == nil {
		return nil
	}
	if err := fleet.CheckID(s.cfg.Replica); err != nil {
		return fmt.Errorf("--replica: %w", err)
	}
	reached := s.locations
	if len(reached) == 0 {
		var err error
		if reached, err = parseLocations(reachable(addresses), encrypted); err != nil {
			return err
		}
	}
	var uris []string
	for _, l := range reached {
		if l.GetUri() != sameConnection {
			uris = append(uris, l.GetUri())
		}
	}
	if len(uris) == 0 {
		return errors.New("--store: the other replicas can't reach this one: say --advertise HOST:PORT")
	}
	keyOf, onDisk, has := catalog.TableKeys(s.cfg.Catalog)
	s.tableKey = keyOf
	s.fleet = fleet.New(fleet.Config{
		Store: s.cfg.Fleet, ID: s.cfg.Replica, Locations: uris, Log: s.cfg.Log,
		Load:   func() int64 { return s.load.streams.Load() },
		Tables: onDisk, Has: has, Renew: s.cfg.fleetRenew,
	})
	var err error
	if s.peers, err = fleet.NewPeers(fleet.PeerConfig{
		ID: s.cfg.Replica, Encrypted: encrypted, CA: s.cfg.PeerCA, Lost: lostPeer,
	}); err != nil {
		return err
	}
	s.fleet.OnChange(func() { s.peers.Keep(s.fleet.Callable) })
	if s.sql != nil {
		s.sql.SetTag(fleet.Tag(s.cfg.Replica))
	}
	return nil
}

// leaveFleet ends what joinFleet has begun.
func (s *service) leaveFleet() {
	s.fleet.Close()
	s.peers.Close()
}

// reachable returns the addresses that name a host.
func reachable(addresses []string) (out []string) {
	for _, a := range addresses {
		if host, _, err := net.SplitHostPort(a); err == nil && !strings.Contains(a, "://") {
			if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
				continue
			}
		}
		out = append(out, a)
	}
	return out
}

// countSent counts the calls that the client of a FlightInfo is expected to make: each endpoint is
// fetched from its first location.
func (s *service) countSent(info *flight.FlightInfo) {
	if s.fleet == nil {
		return
	}
	for _, e := range info.GetEndpoint() {
		if at := e.GetLocation(); len(at) > 0 {
			s.fleet.Sent(at[0].GetUri())
		}
	}
}

// placement is where the endpoints of a FlightInfo are fetched.
type placement struct {
	locations []*flight.Location // without a fleet
	order     []fleet.Candidate  // that have the table, or else all, the best first
	all       []fleet.Candidate  // that may serve a part of it; nil: no others
	fleet     *fleet.Fleet       // nil: there is none
}

// placementOf returns the placement of the table of an entry. wait means that the caller can wait
// for the store of the fleet for a moment.
func (s *service) placementOf(ctx context.Context, e catalog.Entry, t ticket.Ticket, wait bool) placement {
	if s.fleet == nil {
		return placement{locations: s.locations}
	}
	key, ok := s.tableKey(e, t.Options)
	if !ok {
		return s.placementByName(t, "")
	}
	order, n := s.fleet.Placement(ctx, &key, wait)
	at := placement{order: order[:n], fleet: s.fleet}
	if s.cfg.SharesTables { // the others fetch their part of it
		at.all = order
	}
	return at
}

// placementByName returns the placement of a part of a table whose key is not known, or that has
// several.
func (s *service) placementByName(t ticket.Ticket, part string) placement {
	if s.fleet == nil {
		return placement{locations: s.locations}
	}
	name := strings.Join([]string{t.Name, t.Version, part}, "\n")
	return placement{order: s.fleet.PlacementOf(name), fleet: s.fleet}
}

// spread returns the placement of n endpoints of one table. If fewer replicas have the table, others
// follow them, which fetch their parts from the shared cache.
func (p placement) spread(n int) placement {
	if len(p.order) < n && len(p.order) < len(p.all) {
		p.order = p.all[:min(n, len(p.all))]
	}
	return p
}

// of returns the locations of endpoint i. The endpoints of a table begin with one replica after the
// other, so that clients fetch them side by side. Clients that reach none of the replicas use their
// connection.
func (p placement) of(i int) []*flight.Location {
	if p.fleet == nil {
		return p.locations
	}
	var out []*flight.Location
	order := fleet.Rotated(p.order, i)
	for _, r := range order[:min(len(order), maxPlaces)] {
		for _, uri := range r.Locations {
			out = append(out, &flight.Location{Uri: uri})
		}
	}
	if len(out) == 0 {
		return nil // the same, and older clients know it
	}
	return append(out, &flight.Location{Uri: sameConnection})
}

package server

import (
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/catalog"
	fleetstore "github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/store/shared"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv"
	"github.com/vibeflight/vibeflight/flightsrv/fleet"
)

// fleetFlags say which replica of a fleet the server is.
type fleetFlags struct {
	replica string // ID; empty: host name and random digits, which open sets
	peerCA  string // file, PEM; empty: the system's certificates

	store fleetstore.Store // what the replicas agree on; nil: the server is alone
}

func (c *fleetFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&c.replica, "replica", "",
		"`ID` of this server among those that share a store; default: the name of the host and random digits")
	f.StringVar(&c.peerCA, "peer-ca", "",
		"`file`, PEM, of the certificates that sign those of the other servers; default: the system's")
}

func (c *fleetFlags) check() error {
	if c.replica == "" {
		return nil
	}
	if err := fleet.CheckID(c.replica); err != nil {
		return usage.Errorf("--replica: %w", err)
	}
	return nil
}

// open chooses the ID of the replica, and sets the store that it shares with others, if there is one.
func (c *fleetFlags) open(store *shared.Remote) {
	if c.replica == "" {
		c.replica = fleet.NewID()
	}
	if store != nil { // else the interface would not be nil
		c.store = store
	}
}

// leases returns what the catalog needs to know of the fleet, or nil if there is none.
func (c *fleetFlags) leases() *catalog.Fleet {
	if c.store == nil {
		return nil
	}
	return &catalog.Fleet{ID: c.replica, Leases: c.store}
}

// configure adds the fleet to the configuration of the server, if there is one.
func (c *fleetFlags) configure(cfg *flightsrv.Config) {
	if c.store != nil {
		cfg.Fleet, cfg.Replica, cfg.PeerCA = c.store, c.replica, c.peerCA
	}
}

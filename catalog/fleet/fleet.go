// Package fleet names what the replicas of a fleet agree on: which of them makes a table, which are
// alive, and which tables each has on its disk. A store that all replicas reach keeps it.
//
// A store that is away costs sharing and nothing else: each caller goes on alone.
package fleet

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrAway is wrapped by the errors of a store that does not answer.
	ErrAway = errors.New("the store of the fleet does not answer")
	// ErrLost says that another replica has taken over a lease, or that it was released.
	ErrLost = errors.New("the lease is lost")
)

// Times of leases and replicas. A lease is renewed three times or more before it expires, and a
// replica announces itself as often.
const (
	LeaseTime    = 15 * time.Second // after which a lease that is not renewed is free
	RenewTime    = 3 * time.Second  // between renewals, and between announcements
	PresenceTime = 15 * time.Second // after which a replica that is silent is not alive
)

// WorkKey identifies a piece of work that one replica does for all, such as the parse of one version
// of one file. It is a digest.
type WorkKey [32]byte

// TableKey identifies a parsed table, as the name of its file does.
type TableKey [32]byte

// Lease is the right of one replica to do a piece of work, until it expires.
type Lease struct {
	Key      WorkKey
	Name     string    // of the work, for people
	Owner    string    // ID of the replica
	Epoch    int64     // of the owner; a later owner of the same key has a larger one
	Progress float64   // share of the work that is done, from 0 to 1
	Expires  time.Time // by the clock of the store
}

// Leases gives each piece of work to one replica at a time. It is safe for concurrent use.
type Leases interface {
	// Acquire takes the lease of a key for the replica owner. If another replica, or another call of
	// the same one, holds it, ok is false and the lease is that of the holder. A lease that has
	// expired is taken over, with a larger epoch.
	Acquire(ctx context.Context, key WorkKey, owner, name string) (l Lease, ok bool, err error)
	// Renew extends a lease and records l.Progress. It returns ErrLost if the lease has another
	// owner or epoch, or has expired and was taken over.
	Renew(ctx context.Context, l Lease) error
	// Release frees a lease. It does nothing if the lease is lost.
	Release(ctx context.Context, l Lease) error
	// Holder returns the lease of a key, or false if no replica holds one that has not expired.
	Holder(ctx context.Context, key WorkKey) (Lease, bool, error)
}

// Replica is a server of the fleet.
type Replica struct {
	ID        string
	Locations []string  // Flight URIs that clients and other replicas reach it by, the best first
	Load      int64     // calls in progress
	Seen      time.Time // of its last announcement, by the clock of the store
}

// Members knows the replicas that are alive and the tables that they have. It is safe for concurrent
// use.
type Members interface {
	// Announce records that a replica is alive. Seen is ignored.
	Announce(ctx context.Context, r Replica) error
	// Leave removes a replica and what is known of its tables.
	Leave(ctx context.Context, id string) error
	// Replicas returns the replicas that announced themselves within PresenceTime, ordered by ID.
	Replicas(ctx context.Context) ([]Replica, error)
	// Keep records which tables a replica has on its disk: those added, without those dropped.
	Keep(ctx context.Context, id string, added, dropped []TableKey) error
	// Keepers returns the IDs of the live replicas that have a table, ordered.
	Keepers(ctx context.Context, table TableKey) ([]string, error)
}

// Store is all that the replicas agree on.
type Store interface {
	Leases
	Members
}

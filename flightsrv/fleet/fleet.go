// Package fleet is what a server knows of the other replicas of its fleet: which are alive, which of
// them should serve a table, and how to pass a call on to one of them.
//
// The store of the fleet is asked in the background alone. While it is away, the last answer is used
// for fleetstore.PresenceTime; then the replica is alone. No call of a client fails for it.
package fleet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	fleetstore "github.com/vibeflight/vibeflight/catalog/fleet"
)

// Config describes this replica and its store.
type Config struct {
	Store     fleetstore.Members
	ID        string                         // of this replica
	Locations []string                       // Flight URIs that clients and other replicas reach it by, the best first
	Load      func() int64                   // calls in progress
	Tables    func() []fleetstore.TableKey   // that this replica has on its disk; nil: none
	Has       func(fleetstore.TableKey) bool // whether a table is one of them now; nil: none is
	Log       zerolog.Logger

	Renew    time.Duration // between two looks at the store; default fleetstore.RenewTime
	Presence time.Duration // that a list of replicas is used; default fleetstore.PresenceTime
}

// Times and limits of what is known of others.
const (
	// goneTime is how long a replica that left, or fell silent, is still sent the calls for what it
	// has: it may be draining.
	goneTime = time.Minute
	// rememberedTime is how long a handle of such a replica gives the error that names it. Handles
	// are no longer valid after that.
	rememberedTime = time.Hour
	maxRemembered  = 1024 // replicas
	// resyncEvery is the time between two full reports of the tables on disk.
	resyncEvery = 10 * time.Minute
	keepAtOnce  = 1000 // tables in one call to the store
	leaveTime   = time.Second
)

// TagBytes is the length of the tag that handles of a replica begin with.
const TagBytes = 8

// Tag returns the tag of a replica: the beginning of the digest of its ID.
func Tag(id string) string {
	sum := sha256.Sum256([]byte("vibeflight replica\n" + id))
	return string(sum[:TagBytes])
}

// Fleet is the view that one replica has of all. It is safe for concurrent use. Start, Leave and Close
// do nothing on nil.
type Fleet struct {
	cfg     Config
	self    fleetstore.Replica
	keepers *keepers
	changed func() // the list is new; may be nil

	stop context.CancelFunc // of the loop; nil: it is not started
	wg   sync.WaitGroup

	mu      sync.Mutex
	leaving bool
	doubled bool                     // another server has the same ID
	list    []fleetstore.Replica     // the others that are alive, ordered by ID
	seen    time.Time                // when the list was read; zero: never
	err     error                    // of the last call to the store
	others  map[string]*otherReplica // by tag
	// calls that clients were sent with since seen, by the first location of the replica
	sent map[string]int64

	// Of the loop.
	reported map[fleetstore.TableKey]struct{} // tables that the store knows this replica to have
	resynced time.Time                        // of the last full report
	renewed  time.Time                        // of the last announcement
	entered  bool                             // what an earlier process reported is removed
}

// otherReplica is another replica that the store has named.
type otherReplica struct {
	fleetstore.Replica
	gone time.Time // since when it is not in the list; zero: it is
}

// New returns the fleet of a replica that is alone until Start.
func New(cfg Config) *Fleet {
	cfg.Renew = cmp.Or(cfg.Renew, fleetstore.RenewTime)
	cfg.Presence = cmp.Or(cfg.Presence, fleetstore.PresenceTime)
	f := &Fleet{
		cfg: cfg, self: fleetstore.Replica{ID: cfg.ID, Locations: cfg.Locations},
		others: map[string]*otherReplica{}, sent: map[string]int64{}, reported: map[fleetstore.TableKey]struct{}{},
	}
	f.keepers = newKeepers(cfg.Store.Keepers, cfg.Renew)
	return f
}

// OnChange sets a function that the loop calls after each look at the store, before Start.
func (f *Fleet) OnChange(do func()) { f.changed = do }

// Start announces this replica, and follows the others, until Close.
func (f *Fleet) Start() {
	if f == nil {
		return
	}
	var ctx context.Context
	ctx, f.stop = context.WithCancel(context.Background())
	f.wg.Go(func() { f.follow(ctx) })
}

// Close ends the loop. It does not leave the fleet.
func (f *Fleet) Close() {
	if f == nil {
		return
	}
	if f.stop != nil {
		f.stop()
	}
	f.wg.Wait()
	f.keepers.wait()
}

// Leave tells the others that this replica is going away. It answers calls, and follows the others,
// until Close.
func (f *Fleet) Leave() {
	if f == nil {
		return
	}
	f.mu.Lock()
	left := f.leaving
	f.leaving = true
	f.mu.Unlock()
	if left {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if err := f.cfg.Store.Leave(ctx, f.cfg.ID); err != nil {
		f.cfg.Log.Warn().Err(err).Msg("the store of the fleet does not know that this replica leaves; it will notice")
	}
}

// ID is the ID of this replica.
func (f *Fleet) ID() string { return f.cfg.ID }

// Replicas returns the replicas that are alive, ordered by ID: this one too, unless it is leaving.
func (f *Fleet) Replicas() []fleetstore.Replica {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []fleetstore.Replica
	if !f.seen.IsZero() && time.Since(f.seen) <= f.cfg.Presence {
		all = slices.Clone(f.list)
	}
	if f.leaving {
		return all
	}
	at, _ := slices.BinarySearchFunc(all, f.self.ID, func(r fleetstore.Replica, id string) int {
		return strings.Compare(r.ID, id)
	})
	return slices.Insert(all, at, f.self)
}

// Made returns the replica that made a handle. It returns nil if that is this one, or none that is
// known: then the handle is invalid. gone means that the replica has left or is silent for so long
// that it is not called any more.
func (f *Fleet) Made(handle []byte) (r *fleetstore.Replica, gone bool) {
	if len(handle) < TagBytes {
		return nil, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.others[string(handle[:TagBytes])]
	if o == nil {
		return nil, false
	}
	found := o.Replica
	return &found, !o.gone.IsZero() && time.Since(o.gone) > goneTime
}

// Find returns the replica with an ID, or false if the store has not named it, or it is gone.
func (f *Fleet) Find(id string) (fleetstore.Replica, bool) {
	r, gone := f.Made([]byte(Tag(id)))
	if r == nil || gone {
		return fleetstore.Replica{}, false
	}
	return *r, true
}

// Callable reports whether the replica with an ID may be called.
func (f *Fleet) Callable(id string) bool {
	_, ok := f.Find(id)
	return ok
}

// Placement returns the live replicas in the order in which they should serve a table. The first n
// should: those that have it, or all if none is known to have it or all that have it are overloaded.
// wait means that the caller can wait for an answer of the store for a moment.
func (f *Fleet) Placement(ctx context.Context, key *fleetstore.TableKey, wait bool) (order []Candidate, n int) {
	all := f.candidates()
	order = Order(key[:], all)
	have := f.keepers.of(ctx, *key, wait && f.Answers())
	own := f.cfg.Has != nil && f.cfg.Has(*key)
	var kept, others []Candidate
	for _, r := range order {
		if slices.Contains(have, r.ID) || r.ID == f.cfg.ID && own {
			kept = append(kept, r)
		} else {
			others = append(others, r)
		}
	}
	if len(kept) == 0 || limitOf(all).exceeded(kept[0]) {
		return order, len(order)
	}
	return append(kept, others...), len(kept)
}

// Keeper returns the ID of the best other replica that has a table, or "" if this one has it or none
// is known to have it.
func (f *Fleet) Keeper(ctx context.Context, key *fleetstore.TableKey) string {
	if f.cfg.Has != nil && f.cfg.Has(*key) {
		return ""
	}
	have := f.keepers.of(ctx, *key, f.Answers())
	for _, r := range Order(key[:], f.candidates()) {
		if r.ID != f.cfg.ID && slices.Contains(have, r.ID) {
			return r.ID
		}
	}
	return ""
}

// PlacementOf is Placement for a table, or a part of one, that has a name and no key.
func (f *Fleet) PlacementOf(name string) []Candidate { return Order([]byte(name), f.candidates()) }

// candidates returns the replicas that are alive. This replica sends an equal share of all calls.
func (f *Fleet) candidates() []Candidate {
	live := f.Replicas()
	out := make([]Candidate, len(live))
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, r := range live {
		out[i] = Candidate{Replica: r}
		if len(r.Locations) > 0 {
			out[i].Sent = f.sent[r.Locations[0]] * int64(len(live))
		}
	}
	return out
}

// Sent counts a call that a client is sent to a replica with. location is the replica's first one.
func (f *Fleet) Sent(location string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent[location]++
}

// Answers reports whether the store has answered the last call of the loop.
func (f *Fleet) Answers() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err == nil && !f.seen.IsZero()
}

// Stats describes the fleet for the action stats.
type Stats struct {
	ID           string    `json:"id"`            // of this replica
	StoreAnswers bool      `json:"store_answers"` // to the last look
	Leaving      bool      `json:"leaving,omitempty"`
	TablesOnDisk int       `json:"tables_on_disk"` // that the others know of
	Replicas     []Replica `json:"replicas"`       // that are alive
}

// Replica is a replica in Stats.
type Replica struct {
	ID        string   `json:"id"`
	Locations []string `json:"locations,omitempty"`
	Calls     int64    `json:"calls"` // in progress
}

// Stats returns the present numbers.
func (f *Fleet) Stats() Stats {
	s := Stats{ID: f.cfg.ID, StoreAnswers: f.Answers()}
	for _, r := range f.Replicas() {
		if r.ID == f.cfg.ID {
			r.Load = f.cfg.Load()
		}
		s.Replicas = append(s.Replicas, Replica{r.ID, r.Locations, r.Load})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Leaving, s.TablesOnDisk = f.leaving, len(f.reported)
	return s
}

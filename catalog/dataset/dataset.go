// Package dataset makes one table of many files.
//
// The members of a dataset are the entries that its patterns match, in the order of their names. A
// dataset is read in units. A large member is a unit of its own, with the table and the cache of
// its own entry. Consecutive small members are a pack: their rows are one table, which is cached as
// a whole.
//
// For each unit there is a record: the rows, columns and boxes of its members. With the records of
// all units, the schema and the number of rows are known, and no file is opened before its rows are
// read. A member that is new or has changed is parsed alone; the rows of the others of its pack are
// copied from the former pack.
package dataset

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/load"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
)

// Spec describes a dataset, as an operator does.
type Spec struct {
	Name  string
	Files []string // patterns of paths, or of names of entries that begin with a root's alias
	// Filename is the name of a column with the path of each row's file; "": no such column.
	Filename string
	// SkipErrors leaves out the files that cannot be read or do not fit, and counts them.
	SkipErrors bool
	Options    map[string]any // of the formats of its files
}

// Config configures Sets. All fields but Options are required.
type Config struct {
	Formats readers.Registry
	Options func(name string) map[string]any // the operator's options for a file; may be nil
	Loader  *load.Loader
	Cache   *tables.Cache
	Archive *persist.Archive
	Limits  readers.Limits
	// MaxFileBytes is the size of the largest file that is parsed; 0: no limit.
	MaxFileBytes int64
	// Suspect is called with a member whose file turned out to have changed, for each root once.
	Suspect func(e *tree.Entry)
	Log     zerolog.Logger
}

// Sets are the datasets of a catalog. It is safe for concurrent use.
type Sets struct {
	Config
	sets   map[string]*set
	parsed atomic.Int64
	wg     sync.WaitGroup // records that are being stored
}

// set is one dataset.
type set struct {
	*Sets
	Spec
	globs    []glob
	recordID string // begins the key of its records

	turn  chan struct{}   // held while a view is planned
	tried map[digest]bool // units of the last plan; nil: it ended before they were known

	mu      sync.Mutex
	known   map[digest]*record  // by unit
	at      map[memberKey]place // where the rows of a member were last
	stored  map[digest]bool     // records that the store has
	loaded  bool                // the store was read
	views   map[viewKey]*View   // that were planned last
	recent  []viewKey           // of views, the most recently used last
	steps   atomic.Int64        // units that the present plan has
	total   atomic.Int64        // units that it needs
	choices map[string]*choice  // formats and options of members
}

// New returns the datasets of the specifications, whose patterns Resolve has checked.
func New(cfg Config, resolved *Resolution) *Sets {
	s := &Sets{Config: cfg, sets: map[string]*set{}}
	s.Limits = s.Limits.WithDefaults()
	for i, spec := range resolved.specs {
		s.sets[spec.Name] = &set{
			Sets: s, Spec: spec, globs: resolved.globs[i], recordID: recordID(spec, resolved.globs[i]),
			turn: make(chan struct{}, 1), known: map[digest]*record{}, at: map[memberKey]place{},
			stored: map[digest]bool{}, views: map[viewKey]*View{}, choices: map[string]*choice{},
		}
	}
	return s
}

// Warm reads what an earlier process has found out about the members, which the first call would
// wait for.
func (s *Sets) Warm(ctx context.Context) {
	for _, d := range s.sets {
		select {
		case d.turn <- struct{}{}:
			_ = d.loadRecords(ctx) // a plan reads them again
			<-d.turn
		case <-ctx.Done():
			return
		}
	}
}

// Parsed returns the number of small members that were parsed since New.
func (s *Sets) Parsed() int64 { return s.parsed.Load() }

// Wait waits until the records of all units are stored.
func (s *Sets) Wait() { s.wg.Wait() }

// Progress returns the share of the units of a dataset that the present plan has, from 0 to 1.
func (s *Sets) Progress(name string) float64 {
	d := s.sets[name]
	if d == nil || d.total.Load() == 0 {
		return 0
	}
	return float64(d.steps.Load()) / float64(d.total.Load())
}

// Open returns the view of a dataset's entry, with the options that a client gives for its files.
// It parses the members that are not known yet.
func (s *Sets) Open(ctx context.Context, e tree.Entry, given map[string]any) (*View, error) {
	return s.sets[e.Name].open(ctx, e, given)
}

// Known is Open for a caller that does not wait for a parse. It returns nil if one is needed.
func (s *Sets) Known(e tree.Entry, given map[string]any) *View {
	d := s.sets[e.Name]
	return d.view(viewKeyOf(e, given))
}

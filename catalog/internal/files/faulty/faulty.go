// Package faulty is a file system for tests that breaks as told: operations fail, and the power
// goes.
//
// It works on real files of another file system, so locks and mappings are real. Beside them it
// keeps what a disk would have: what a file held when it was last synced, which names a folder had
// when it was last synced, and what happened since. Crash decides what happened since as a power
// loss may:
//
//	writes to a file      each on its own: kept, lost, or torn, which is some sectors of it kept
//	names of a folder     created, renamed, removed, in order: some first ones kept, the others lost
//	a Sync that failed    as if the power had gone, for this file: a later Sync does not bring back what the first one lost
//
// Folders themselves, and times of modification, are outside of it: the first last, the second are
// those of the copy. Links and whatever else is no regular file do not survive. Sync and SyncDir
// are not passed on, since the disk is the one drawn here, so tests are fast.
package faulty

import (
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
)

// ErrCrashed is what every operation gives after the crash.
var ErrCrashed = errors.New("the machine crashed")

// Op is a set of kinds of operations.
type Op uint32

// The operations of files.FS and files.File; those that both have are one.
const (
	MkdirAll Op = 1 << iota
	Create
	Open
	Rename
	Remove
	ReadDir
	Stat
	Touch
	SyncDir
	Free
	Read
	Write
	Truncate
	Sync
	Map
	Lock
	Close

	All = Close<<1 - 1
	// what a disk that is full or read-only refuses
	Changes = MkdirAll | Create | Rename | Remove | Touch | SyncDir | Write | Truncate | Sync
)

// Fault makes operations fail.
type Fault struct {
	Ops         Op
	Nth         int     // which of those to come fails, the first is 1; 0: each one, with the probability
	Probability float64 // 1: all
	Err         error   // what they give, in a *fs.PathError
	Short       bool    // a Write writes some of its bytes first
}

// FS is a files.FS that breaks.
type FS struct {
	inner files.FS

	mu      sync.Mutex // around each operation
	random  *rand.Rand
	steps   int
	crashAt int // -1: never
	faults  []Fault
	folders map[string]*folder
}

// New gives a file system on another one. All that is random follows from seed.
func New(inner files.FS, seed uint64) *FS {
	return &FS{inner: inner, random: rand.New(rand.NewPCG(seed, 0)), crashAt: -1, folders: map[string]*folder{}}
}

// Inject adds a fault.
func (f *FS) Inject(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, fault)
}

// Heal ends all faults, but no crash.
func (f *FS) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// CrashAt lets operation n, counted from 0, and all after it fail with ErrCrashed.
func (f *FS) CrashAt(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.crashAt = n
}

// Steps gives how many operations there were, for a sweep over all of them with CrashAt.
func (f *FS) Steps() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.steps
}

// step counts an operation and gives the fault it meets, if any. f.mu is held.
func (f *FS) step(op Op, name string) *Fault {
	n := f.steps
	f.steps++
	if f.crashAt >= 0 && n >= f.crashAt {
		return &Fault{Err: pathError(op, name, ErrCrashed)}
	}
	for i := range f.faults {
		fault := &f.faults[i]
		if fault.Ops&op == 0 {
			continue
		}
		if fault.Nth == 0 && f.random.Float64() >= fault.Probability {
			continue
		}
		if fault.Nth > 0 {
			if fault.Nth--; fault.Nth > 0 {
				continue
			}
			fault.Ops = 0 // it happens once
		}
		return &Fault{Err: pathError(op, name, fault.Err), Short: fault.Short}
	}
	return nil
}

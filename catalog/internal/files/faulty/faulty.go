// Package faulty is a file system for tests. It makes chosen operations fail, and simulates a power
// loss.
//
// It works on real files of another file system, so locks and mappings are real. In addition it
// records the state of a simulated disk: the contents of files and the names in folders at the last
// sync, and all later changes. Crash decides at random which later changes survive:
//
//	writes to a file      each is kept, lost or torn (only some of its sectors are kept), independently
//	names of a folder     created, renamed, removed, in order: the first n changes are kept, the others lost
//	a Sync that failed    as after a power loss of this file: a later Sync does not bring back lost writes
//
// Folders and modification times are not simulated: folders are durable, and times are those of the
// copy. Links and other irregular files do not survive. Sync and SyncDir do not reach the real
// disk, so tests are fast.
package faulty

import (
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
)

// ErrCrashed is the error of every operation after the crash.
var ErrCrashed = errors.New("the machine crashed")

// Op is a set of kinds of operations.
type Op uint32

// The operations of files.FS and files.File. Operations that both have share a constant.
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
	// Changes are the operations that fail on a full or read-only disk.
	Changes = MkdirAll | Create | Rename | Remove | Touch | SyncDir | Write | Truncate | Sync
)

// Fault makes operations fail.
type Fault struct {
	Ops Op
	// the number of the matching operation that fails, from 1; 0: each one, with the probability
	Nth         int
	Probability float64 // 1: always
	Err         error   // the error, inside a *fs.PathError
	Short       bool    // a Write first writes some of its bytes
}

// FS is a files.FS with faults.
type FS struct {
	inner files.FS

	mu      sync.Mutex // locked during each operation
	random  *rand.Rand
	steps   int
	crashAt int // -1: never
	faults  []Fault
	folders map[string]*folder
}

// New returns a file system on top of another one. All random choices follow from seed.
func New(inner files.FS, seed uint64) *FS {
	return &FS{inner: inner, random: rand.New(rand.NewPCG(seed, 0)), crashAt: -1, folders: map[string]*folder{}}
}

// Inject adds a fault.
func (f *FS) Inject(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, fault)
}

// Heal removes all faults. It does not undo a crash.
func (f *FS) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// CrashAt makes operation n, counted from 0, and all later ones fail with ErrCrashed.
func (f *FS) CrashAt(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.crashAt = n
}

// Steps returns the number of operations so far. A test can sweep over all of them with CrashAt.
func (f *FS) Steps() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.steps
}

// step counts an operation and returns its fault, if any. The caller holds f.mu.
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

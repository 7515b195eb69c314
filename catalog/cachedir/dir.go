// Package cachedir manages the folder of the cache. Each parsed table is one immutable file, named
// by the table's key.
//
//	<path>/<64 hex digits of the key>.arrow   a complete table, synced before it gets this name
//	<path>/.tmp-<pid>-<16 hex digits>         a table that is being written; its writer holds a lock (flock)
//
// The package knows names, sizes, times of use and a budget. It does not know what a file contains.
// It neither changes nor counts anything else in the folder, such as a folder or a link with the
// name of a table.
//
// Several servers may use one folder, without a common lock. A rename makes a name appear, and an
// unlink removes it; an open file stays readable. The index in memory is therefore only a hint. Get
// opens the file itself, and sizes are read again before an eviction.
//
// The modification time of a file is the time of its last use, accurate to a minute, so the order
// of eviction outlives a restart. The folder can be removed at any time: tables in use stay
// readable, and the next Create makes the folder again. On a read-only disk Get works and Create
// returns an error.
package cachedir

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
)

// Key is the digest of everything that determines a table. Two files with the same key hold the
// same table.
type Key [32]byte

// String returns the key as 64 hexadecimal digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// ErrClosed is the error of calls on a closed Dir.
var ErrClosed = errors.New("the cache folder is closed")

// Dir is one server's view of the folder. It is safe for concurrent use.
type Dir struct {
	fs     files.FS
	path   string
	budget int64
	log    zerolog.Logger
	now    func() time.Time

	// room is locked while this Dir adds or removes names of tables, and while it lists the folder.
	// A listing is therefore never older than the index that it updates. It is locked before mu.
	// Get does not lock it, because unlinking many gigabytes takes time.
	room sync.Mutex

	mu     sync.Mutex
	closed bool
	index  map[Key]*entry
	temps  map[*Temp]struct{} // temporary files of this Dir
	// bytes of the temporary files of other servers, at the last listing
	others   int64
	lastTick int64     // the last result of tick, in ns since 1970
	listed   time.Time // when the folder was last listed
	count    counters
}

// entry is what is known about the file of a key. It stays in the index while the file exists or a
// TableFile of this Dir uses it.
type entry struct {
	bytes    int64
	used     int64     // in ns since 1970, from tick
	mtime    time.Time // as last read from the disk
	holds    int       // uses by this Dir
	missing  bool      // no such file: evicted by another server, dropped, or not yet looked for
	evicting bool      // being evicted; no new use may begin
}

type counters struct{ hits, misses, commits, evictions, evicted int64 }

// Open opens the folder, which it creates if necessary. It removes the files of writers that died,
// and evicts tables until the rest fits in the budget, in bytes. It returns an error if the folder
// cannot be listed. It only logs when the folder cannot be changed.
func Open(fsys files.FS, path string, budget int64, log zerolog.Logger) (*Dir, error) {
	return open(fsys, path, budget, log, time.Now)
}

func open(fsys files.FS, path string, budget int64, log zerolog.Logger, now func() time.Time) (*Dir, error) {
	d := &Dir{
		fs: fsys, path: path, budget: max(0, budget), log: log.With().Str("folder", path).Logger(), now: now,
		index: map[Key]*entry{}, temps: map[*Temp]struct{}{},
	}
	if err := fsys.MkdirAll(path); err != nil {
		return nil, fmt.Errorf("make the cache folder: %w", err)
	}
	d.room.Lock()
	defer d.room.Unlock()
	if err := d.scan(); err != nil {
		return nil, err
	}
	d.trim()
	return d, nil
}

// Close removes the files that are still being written. Files in use stay readable until they are
// released.
func (d *Dir) Close() error {
	d.mu.Lock()
	d.closed = true
	var temps []*Temp
	for t := range d.temps {
		if t.File != nil { // else Create notices d.closed
			temps = append(temps, t)
		}
	}
	d.mu.Unlock()
	var errs []error
	for _, t := range temps {
		errs = append(errs, t.Abort())
	}
	return errors.Join(errs...)
}

// tick returns the time of a use: now, or just after the last one if the clock was set back. The
// caller holds d.mu.
func (d *Dir) tick() int64 {
	d.lastTick = max(d.lastTick+1, d.now().UnixNano())
	return d.lastTick
}

const (
	tableSuffix = ".arrow"
	tempPrefix  = ".tmp-"
)

func (d *Dir) tablePath(k Key) string { return filepath.Join(d.path, k.String()+tableSuffix) }

func (d *Dir) tempPath(random uint64) string {
	return filepath.Join(d.path, fmt.Sprintf("%s%d-%016x", tempPrefix, os.Getpid(), random))
}

// tableKey returns the key in the name of a table, and false for any other name.
func tableKey(name string) (k Key, ok bool) {
	digits, ok := strings.CutSuffix(name, tableSuffix)
	if !ok || len(digits) != 2*len(k) {
		return k, false
	}
	if _, err := hex.Decode(k[:], []byte(digits)); err != nil {
		return k, false
	}
	return k, k.String() == digits // false for digits in upper case
}

// isTemp reports whether tempPath can return the name.
func isTemp(name string) bool {
	rest, ok := strings.CutPrefix(name, tempPrefix)
	pid, random, cut := strings.Cut(rest, "-")
	return ok && cut && pid != "" && strings.Trim(pid, "0123456789") == "" && len(random) == 16 &&
		strings.Trim(random, "0123456789abcdef") == ""
}

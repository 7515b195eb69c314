// Package cachedir keeps the cache's folder: one immutable file per parsed table, named by the
// table's key.
//
//	<path>/<64 hex digits of the key>.arrow   a table: whole, and on the disk before it got this name
//	<path>/.tmp-<pid>-<16 hex digits>         a table being written, by whoever has the file's lock (flock)
//
// It knows names, sizes, times of use and a budget, and nothing of what is in a file. Whatever else
// lies in the folder is left alone and not counted, be it a folder or a link that has the name of a
// table.
//
// Any number of servers may use one folder. They share no lock: a name appears by one rename and
// goes by one unlink, and whoever has the file open then keeps it. So the index in memory is a
// hint. Get asks the folder itself; sizes are read again before anything is evicted.
//
// A file's time of modification is the time of its last use, to a minute, so that the order of
// eviction outlives a restart. The folder can be removed at any time: tables in use stay readable,
// and the next Create makes it again. On a disk that cannot be written, Get works and Create says
// why it does not.
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

// Key is the digest of all that a table is a function of: two files of one key hold the same table.
type Key [32]byte

// String is the key in 64 hexadecimal digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// ErrClosed is what a closed Dir answers.
var ErrClosed = errors.New("the cache folder is closed")

// Dir is one server's view of the folder. It is safe for use by several goroutines.
type Dir struct {
	fs     files.FS
	path   string
	budget int64
	log    zerolog.Logger
	now    func() time.Time

	// room is held while names of tables come or go through this Dir, and while the folder is
	// listed, so that a listing is never older than the index it is merged into. It is locked
	// before mu, and Get does without it: an unlink of many gigabytes takes its time.
	room sync.Mutex

	mu       sync.Mutex
	closed   bool
	index    map[Key]*entry
	temps    map[*Temp]struct{} // of this Dir
	others   int64              // bytes of the temporary files of other servers, when last listed
	lastTick int64              // the last time of use that was given, in ns since 1970
	listed   time.Time          // when the folder was, last
	count    counters
}

// entry is what is known of the file of a key. It is in the index as long as there is the file, or
// somebody who holds one.
type entry struct {
	bytes   int64
	used    int64     // in ns since 1970, as tick gave it
	mtime   time.Time // as last seen on the disk
	holds   int       // by this Dir
	missing bool      // there is no such file: another server evicted it, or it was dropped, or nobody looked yet
	going   bool      // being evicted: nobody may begin to hold it
}

type counters struct{ hits, misses, commits, evictions, evicted int64 }

// Open makes the folder if there is none, removes what writers that died left in it, and evicts
// what is beyond the budget, in bytes. It gives an error if there is no folder that can be listed;
// that it cannot be changed is logged.
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

// Close removes the files that are still being written. Files that are held stay readable until
// they are released.
func (d *Dir) Close() error {
	d.mu.Lock()
	d.closed = true
	var temps []*Temp
	for t := range d.temps {
		if t.File != nil { // else Create is about to see that we are closed
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

// tick gives the time of a use: now, or just after the last one if the clock was set back. d.mu is
// held.
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

// tableKey gives the key that a name stands for, if it is the name of a table.
func tableKey(name string) (k Key, ok bool) {
	digits, ok := strings.CutSuffix(name, tableSuffix)
	if !ok || len(digits) != 2*len(k) {
		return k, false
	}
	if _, err := hex.Decode(k[:], []byte(digits)); err != nil {
		return k, false
	}
	return k, k.String() == digits // not in upper case
}

// isTemp reports whether a name is one that tempPath gives.
func isTemp(name string) bool {
	rest, ok := strings.CutPrefix(name, tempPrefix)
	pid, random, cut := strings.Cut(rest, "-")
	return ok && cut && pid != "" && strings.Trim(pid, "0123456789") == "" && len(random) == 16 &&
		strings.Trim(random, "0123456789abcdef") == ""
}

package persist

import (
	"sync"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/readers/source"
)

// maxTableKeys is the number of tables whose keys are remembered, with about 200 bytes each.
const maxTableKeys = 1 << 16

// tableKeys remembers the keys of the tables that were saved, opened or described last. The content
// of a file is part of the key, so that it can't be computed from a job alone.
type tableKeys struct {
	mu sync.Mutex
	of map[tableJob]cachedir.Key
}

// tableJob identifies the table of a job.
type tableJob struct {
	store.Key
	format   string
	identity source.Identity
}

func tableJobOf(j job.Job) tableJob { return tableJob{StoreKey(j), j.Format.Name, j.Entry.Identity} }

// add remembers the key of a job's table.
func (k *tableKeys) add(j job.Job, key cachedir.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil || len(k.of) >= maxTableKeys {
		k.of = map[tableJob]cachedir.Key{}
	}
	k.of[tableJobOf(j)] = key
}

// TableKey returns the key of the file of a job's table, in any cache folder, if it is known. It
// reads nothing.
func (a *Archive) TableKey(j job.Job) (key cachedir.Key, ok bool) {
	if j.Maker != nil {
		return a.tableKey(j, j.Maker.Digest()), true
	}
	a.keys.mu.Lock()
	defer a.keys.mu.Unlock()
	key, ok = a.keys.of[tableJobOf(j)]
	return key, ok
}

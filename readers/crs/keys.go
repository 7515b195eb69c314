package crs

import (
	"cmp"
	"hash/maphash"
	"iter"
	"slices"
)

// keys finds the numbers of what has a key. It has no pointer to each key, as a map would.
type keys struct {
	seed    maphash.Seed
	entries []keyEntry // by hash, then number
}

type keyEntry struct {
	hash   uint64
	number int32
}

// newKeys holds the keys that fill adds.
func newKeys(fill func(add func(key string, number int))) keys {
	k := keys{seed: maphash.MakeSeed()}
	fill(func(key string, number int) {
		k.entries = append(k.entries, keyEntry{maphash.String(k.seed, key), int32(number)})
	})
	slices.SortFunc(k.entries, func(a, b keyEntry) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.number, b.number))
	})
	k.entries = slices.Compact(k.entries)
	return k
}

// numbers returns those of a key, ascending. Another key may have the same hash: the caller
// compares.
func (k *keys) numbers(key string) iter.Seq[int] {
	hash := maphash.String(k.seed, key)
	at, _ := slices.BinarySearchFunc(k.entries, hash, func(e keyEntry, h uint64) int {
		return cmp.Compare(e.hash, h)
	})
	return func(yield func(int) bool) {
		for ; at < len(k.entries) && k.entries[at].hash == hash; at++ {
			if !yield(int(k.entries[at].number)) {
				return
			}
		}
	}
}

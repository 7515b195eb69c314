package catalog

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Limits of the search for close names, which anybody can set off with a name that is not there.
const (
	maxAskedBytes = 256    // of the name asked for
	maxCompared   = 10_000 // names looked at: the neighbours in their order
)

// closest gives up to n of the names that are most like the one asked for, closest first: by edit
// distance, letters of both cases being equal, where a name whose last component, with or without
// extension, is the one asked for counts as distance 1. Names that differ in more than half of
// their bytes are none. names are sorted.
func closest(asked string, names []string, n int) []string {
	if len(asked) > maxAskedBytes {
		return nil
	}
	type candidate struct {
		name     string
		distance int
	}
	var best []candidate
	at, _ := slices.BinarySearch(names, asked)
	first := max(0, min(at-maxCompared/2, len(names)-maxCompared))
	lower := strings.ToLower(asked)
	for _, name := range names[first:min(len(names), first+maxCompared)] {
		if name == asked { // it was there a moment ago
			continue
		}
		limit := max(3, len(lower)/2)
		if len(best) == n {
			limit = best[n-1].distance
		}
		d := likeness(lower, strings.ToLower(name), limit)
		if d > limit || len(best) == n && d == limit {
			continue
		}
		i, _ := slices.BinarySearchFunc(best, d, func(c candidate, d int) int { return cmp.Compare(c.distance, d+1) })
		best = slices.Insert(best, i, candidate{name, d})
		best = best[:min(n, len(best))]
	}
	out := make([]string, len(best))
	for i, c := range best {
		out[i] = c.name
	}
	return out
}

func likeness(asked, name string, limit int) int {
	base := path.Base(name)
	if asked == base || asked == strings.TrimSuffix(base, path.Ext(base)) ||
		asked == strings.TrimSuffix(name, path.Ext(name)) {
		return 1
	}
	return distance(asked, name, limit)
}

// distance is the edit distance of a and b in bytes (Wagner and Fischer 1974), or limit+1 where it
// is more than limit.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal, least := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
			least = min(least, row[j+1])
		}
		if least > limit {
			return limit + 1
		}
	}
	return min(row[len(b)], limit+1)
}

// nearest is the name with the smallest edit distance, or "" if there is none.
func nearest(asked string, names []string) string {
	asked = asked[:min(len(asked), maxAskedBytes)]
	var name string
	best := -1
	for _, s := range names {
		limit := len(asked) + len(s)
		if best >= 0 {
			limit = best - 1
		}
		if d := distance(strings.ToLower(asked), strings.ToLower(s), limit); d <= limit {
			name, best = s, d
		}
		if best == 0 {
			break
		}
	}
	return name
}

// Package nearest finds the names that a mistyped one may stand for.
package nearest

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Limits of the search, which any client can cause by asking for a name that does not exist.
const (
	maxAskedBytes = 256    // of the requested name
	MaxCompared   = 10_000 // names compared: the neighbors in sorted order
)

// Paths returns up to n of the names closest to the requested one, closest first.
//
// The distance is the edit distance, ignoring case. If the requested name has no folder or no
// extension, it is compared with names without theirs too, whose distance is greater by 1. Names that
// differ in more than half of their bytes are left out. names must be sorted.
func Paths(asked string, names []string, n int) []string {
	if len(asked) > maxAskedBytes {
		return nil
	}
	type candidate struct {
		name     string
		distance int
	}
	var best []candidate
	at, _ := slices.BinarySearch(names, asked)
	first := max(0, min(at-MaxCompared/2, len(names)-MaxCompared))
	lower := strings.ToLower(asked)
	for _, name := range names[first:min(len(names), first+MaxCompared)] {
		if name == asked { // it existed a moment ago
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
	short := name
	if !strings.Contains(asked, "/") {
		short = base
	}
	if path.Ext(asked) == "" {
		short = strings.TrimSuffix(short, path.Ext(short))
	}
	d := distance(asked, name, limit)
	if short != name && limit > 0 {
		d = min(d, 1+distance(asked, short, limit-1))
	}
	return d
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
		diagonal, smallest := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
			smallest = min(smallest, row[j+1])
		}
		if smallest > limit {
			return limit + 1
		}
	}
	return min(row[len(b)], limit+1)
}

// Name returns the name with the smallest edit distance, or "" if names is empty.
func Name(asked string, names []string) string {
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

// Close returns the name that a mistyped one probably stands for, or "": it differs in a third of its
// letters at most.
func Close(asked string, names []string) string {
	name := Name(asked, names)
	limit := max(1, len(asked)/3)
	if asked == "" || len(asked) > maxAskedBytes ||
		distance(strings.ToLower(asked), strings.ToLower(name), limit+1) > limit {
		return ""
	}
	return name
}

package crs

import (
	"strings"
	"sync"
)

// byName is the systems that have a name, by that name in canonical form.
var byName = sync.OnceValue(func() map[string][]int {
	names := map[string][]int{}
	add := func(name string, i int) {
		key := canonical(name)
		if n := len(names[key]); n == 0 || names[key][n-1] != i {
			names[key] = append(names[key], i)
		}
	}
	for i, s := range registry().systems {
		add(s.Name, i)
		for _, alias := range s.aliases {
			add(alias, i)
		}
	}
	return names
})

// canonical is a name in lower case without blanks and punctuation, which are what the spellings of
// one name differ by: "WGS 84 / UTM zone 33N", "WGS_84_UTM_zone_33N".
func canonical(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case strings.ContainsRune(" _-/().,&'\"", r):
			return -1
		}
		return r
	}, name)
}

package crs

import (
	"strings"
	"sync"
)

// namesOfSystems are the systems by their names and aliases in canonical form.
var namesOfSystems = sync.OnceValue(func() *keys {
	k := newKeys(func(add func(key string, number int)) {
		for i := range registry().count() {
			s := registry().system(i)
			add(canonical(s.Name), i)
			for alias := range s.aliases() {
				add(canonical(alias), i)
			}
		}
	})
	return &k
})

// isCalled reports whether a name in canonical form is one of the system.
func (s *System) isCalled(name string) bool {
	if canonical(s.Name) == name {
		return true
	}
	for alias := range s.aliases() {
		if canonical(alias) == name {
			return true
		}
	}
	return false
}

// byName returns the numbers of the systems that have a name or an alias.
func byName(name string) []int {
	var found []int
	name = canonical(name)
	for i := range namesOfSystems().numbers(name) {
		if s := registry().system(i); s.isCalled(name) {
			found = append(found, i)
		}
	}
	return found
}

// canonical returns a name in lower case without blanks and punctuation, which are what the
// spellings of one name differ by: "WGS 84 / UTM zone 33N", "WGS_84_UTM_zone_33N".
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

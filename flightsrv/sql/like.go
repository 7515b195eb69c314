package sql

import (
	"strings"
	"unicode/utf8"
)

// like reports whether name matches a search pattern of Flight SQL: % matches any text, _ one
// character, and \ escapes both. Case matters. A trailing \ matches itself.
func like(pattern, name string) bool {
	// The position of the last %, and how much of name it has matched. Only the last one must be
	// retried, so this ends within len(pattern) * len(name) steps.
	back, taken := -1, 0
	p, n := 0, 0
	for n < len(name) {
		c, size, literal := next(pattern[p:])
		r, width := utf8.DecodeRuneInString(name[n:])
		switch {
		case size > 0 && c == '%' && !literal:
			p += size
			back, taken = p, n
		case size > 0 && (c == '_' && !literal || c == r):
			p += size
			n += width
		case back >= 0:
			_, width := utf8.DecodeRuneInString(name[taken:])
			taken += width
			p, n = back, taken
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '%' {
		p++
	}
	return p == len(pattern)
}

// next returns the first character of a pattern, its length in bytes, and whether it is escaped.
func next(pattern string) (c rune, size int, literal bool) {
	c, size = utf8.DecodeRuneInString(pattern)
	if c != '\\' || size == len(pattern) {
		return c, size, false
	}
	c, more := utf8.DecodeRuneInString(pattern[size:])
	return c, size + more, true
}

// matches is [like]; no pattern matches everything.
func matches(pattern *string, name string) bool { return pattern == nil || like(*pattern, name) }

// matchesFold is [matches] without regard to the case of ASCII letters, unless the pattern is a search.
func matchesFold(pattern *string, name string) bool {
	if pattern == nil || strings.Contains(*pattern, "%") {
		return matches(pattern, name)
	}
	return like(foldASCII(*pattern), foldASCII(name))
}

// foldASCII converts ASCII letters to lower case, as DuckDB does.
func foldASCII(text string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}, text)
}

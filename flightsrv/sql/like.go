package sql

import "unicode/utf8"

// like reports that name matches a search pattern of Flight SQL: % stands for any text, _ for one
// character, and \ takes either as it is. Case matters. A pattern that ends in \ means that
// character.
func like(pattern, name string) bool {
	// Where a % was met last, and how much of name it has taken. No more than the last one need
	// ever be tried again: so this ends within len(pattern) * len(name) steps.
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

// next gives the first character of a pattern and its bytes, and whether it stands for itself
// whatever it is.
func next(pattern string) (c rune, size int, literal bool) {
	c, size = utf8.DecodeRuneInString(pattern)
	if c != '\\' || size == len(pattern) {
		return c, size, false
	}
	c, more := utf8.DecodeRuneInString(pattern[size:])
	return c, size + more, true
}

// matches is like, where no pattern at all lets everything pass.
func matches(pattern *string, name string) bool { return pattern == nil || like(*pattern, name) }

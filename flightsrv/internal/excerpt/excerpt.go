// Package excerpt shortens texts of clients for errors and logs.
package excerpt

import "unicode/utf8"

// Of returns the first 40 bytes of v, for errors.
func Of(v []byte) string {
	const maxBytes = 40
	if len(v) <= maxBytes {
		return string(v)
	}
	return Clip(string(v), maxBytes)
}

// Clip returns at most n bytes of s, cut between characters, and an ellipsis if something is
// missing.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

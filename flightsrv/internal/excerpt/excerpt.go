// Package excerpt shortens texts of clients for errors and logs.
package excerpt

import "unicode/utf8"

// Of is at most 40 bytes of v, for errors.
func Of(v []byte) string {
	const most = 40
	if len(v) <= most {
		return string(v)
	}
	return Clip(string(v), most)
}

// Clip cuts s between characters so that it has at most n bytes beside the ellipsis that then ends
// it.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

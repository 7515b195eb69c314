package sqltext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a token.
type kind int

const (
	space   kind = iota
	comment      // -- to the end of its line, or /* */, which may be nested
	word         // a keyword or a name without quotes
	quoted       // a name in double quotes
	literal      // a text in single quotes, with an E before it or not, or between $tag$
	other        // one character, or a number
)

// token is the bytes [start, end) of a text.
type token struct {
	kind       kind
	start, end int
	closed     bool // its end is in the text; else more text may belong to it
}

// next returns the token that begins at a byte.
func next(text string, at int) token {
	t := token{start: at, closed: true}
	rest := text[at:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "--"):
		t.kind = comment
		n := strings.IndexByte(rest, '\n')
		t.end, t.closed = ends(at, n, len(text))
	case strings.HasPrefix(rest, "/*"):
		t.kind = comment
		t.end, t.closed = nested(text, at)
	case c == '\'':
		t.kind = literal
		t.end, t.closed = until(text, at+1, '\'', false)
	case c == '"':
		t.kind = quoted
		t.end, t.closed = until(text, at+1, '"', false)
	case (c == 'e' || c == 'E') && strings.HasPrefix(rest[1:], "'"):
		t.kind = literal
		t.end, t.closed = until(text, at+2, '\'', true)
	case c == '$':
		return dollar(text, at)
	case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v':
		t.kind, t.end = space, at+len(rest)-len(strings.TrimLeft(rest, " \t\r\n\f\v"))
	case begins(rest):
		t.kind, t.end = word, at+wordLength(rest)
	default:
		t.kind = other
		_, size := utf8.DecodeRuneInString(rest)
		t.end = at + size
		if c >= '0' && c <= '9' {
			t.end = at + wordLength(rest)
		}
	}
	return t
}

// ends returns the end of a token whose last byte is n bytes after its start; n < 0: it is not there.
func ends(start, n, length int) (end int, closed bool) {
	if n < 0 {
		return length, false
	}
	return start + n + 1, true
}

// until returns the byte after the closing quote. A doubled quote is one of the text; so is one after
// a backslash, with escapes.
func until(text string, at int, quote byte, escapes bool) (end int, closed bool) {
	for ; at < len(text); at++ {
		switch {
		case escapes && text[at] == '\\':
			at++
		case text[at] == quote && at+1 < len(text) && text[at+1] == quote:
			at++
		case text[at] == quote:
			return at + 1, true
		}
	}
	return len(text), false
}

// nested returns the byte after a comment.
func nested(text string, at int) (end int, closed bool) {
	for depth := 0; at < len(text); {
		switch {
		case strings.HasPrefix(text[at:], "/*"):
			depth++
			at += 2
		case strings.HasPrefix(text[at:], "*/"):
			depth--
			at += 2
			if depth == 0 {
				return at, true
			}
		default:
			at++
		}
	}
	return len(text), false
}

// dollar returns a text between $tag$ and $tag$, or the sign of a parameter.
func dollar(text string, at int) token {
	end := at + 1
	if end < len(text) && begins(text[end:]) {
		end += wordLength(text[end:])
	}
	if end >= len(text) || text[end] != '$' {
		return token{kind: other, start: at, end: at + 1, closed: end < len(text)}
	}
	tag := text[at : end+1]
	n := strings.Index(text[end+1:], tag)
	if n < 0 {
		return token{kind: literal, start: at, end: len(text)}
	}
	return token{kind: literal, start: at, end: end + 1 + n + len(tag), closed: true}
}

// begins reports whether a text begins with a word.
func begins(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return r == '_' || unicode.IsLetter(r)
}

// wordLength returns the bytes of the letters, digits and "_" at the start of a text.
func wordLength(text string) int {
	for i, r := range text {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) {
			return i
		}
	}
	return len(text)
}

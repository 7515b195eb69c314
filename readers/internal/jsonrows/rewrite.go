package jsonrows

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// rewriter rewrites a value whose tokens are not all JSON as JSON:
//
//	True, NULL                        in lower case
//	+1  01  .5  1.                    1  1  0.5  1.0
//	NaN, Infinity in a list or object null; not in a geometry
//	control characters in a text      escaped
//	[1, 2,]                           without the last comma
//	"type": "POINT" of a geometry     in the standard's case
//	"1.5" in an array of a geometry   1.5
//
// Quotes and brackets are those of a value that LooseSkip accepted.
type rewriter struct {
	src  []byte
	at   int
	dst  []byte
	open []byte              // brackets
	key  string              // the last one of the current object
	name func(string) string // of types of geometries, by their names in any case; nil: it is no geometry
	done string              // how the last token that was not JSON was rewritten
}

// Rewrite returns the JSON, and a description of the change. ok is false if a token has no obvious
// reading. name is nil unless the value is a geometry: then it returns the name of a type that is
// spelled in any case, or "".
func Rewrite(src []byte, name func(string) string) (written []byte, done string, ok bool) {
	r := rewriter{src: src, name: name, dst: make([]byte, 0, len(src))}
	for r.at < len(src) {
		if !r.token() {
			return nil, "", false
		}
	}
	return r.dst, r.done, true
}

func (r *rewriter) token() bool {
	switch c := r.src[r.at]; {
	case IsBlank(c):
		r.at++
		return true
	case c == '"':
		return r.text()
	case c == '{' || c == '[':
		r.open = append(r.open, c)
	case c == '}' || c == ']':
		if n := len(r.dst); n > 0 && r.dst[n-1] == ',' {
			r.dst, r.done = r.dst[:n-1], "read without the last comma"
		}
		r.open = r.open[:len(r.open)-1]
	case !isDelimiter(c):
		return r.word()
	}
	r.dst = append(r.dst, r.src[r.at])
	r.at++
	return true
}

// word writes a number, a literal, or a token in the place of one.
func (r *rewriter) word() bool {
	end := r.at
	for end < len(r.src) && !isDelimiter(r.src[end]) {
		end++
	}
	text := string(r.src[r.at:end])
	r.at = end
	written, ok := text, true
	switch lower := strings.ToLower(text); lower {
	case "true", "false", "null":
		written = lower
	default:
		if _, named := NumberNames[lower]; named {
			written, ok = "null", r.name == nil && len(r.open) > 0
		} else {
			written, ok = plainNumber(text)
		}
	}
	if written != text {
		r.done = "read as " + written
	}
	r.dst = append(r.dst, written...)
	return ok
}

// plainNumber writes a number in JSON's syntax.
func plainNumber(text string) (string, bool) {
	sign, rest := "", text
	switch {
	case strings.HasPrefix(text, "-"):
		sign, rest = "-", text[1:]
	case strings.HasPrefix(text, "+"):
		rest = text[1:]
	}
	integer := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	rest = rest[len(integer):]
	fraction := ""
	if strings.HasPrefix(rest, ".") {
		digits := rest[1 : len(rest)-len(strings.TrimLeft(rest[1:], "0123456789"))]
		rest, fraction = rest[1+len(digits):], "."+digits
		if digits == "" {
			fraction = ".0"
		}
		if integer+digits == "" {
			return "", false
		}
	} else if integer == "" {
		return "", false
	}
	if integer = strings.TrimLeft(integer, "0"); integer == "" {
		integer = "0"
	}
	if rest != "" { // an exponent
		if rest[0]|0x20 != 'e' {
			return "", false
		}
		if _, err := strconv.Atoi(rest[1:]); err != nil {
			return "", false
		}
	}
	return sign + integer + fraction + rest, true
}

// text writes a string.
func (r *rewriter) text() bool {
	start := r.at
	for r.at++; r.src[r.at] != '"'; r.at++ {
		if r.src[r.at] == '\\' {
			r.at++
		}
	}
	r.at++
	raw := r.src[start:r.at]
	if !utf8.Valid(raw) {
		return false
	}
	inner := string(raw[1 : len(raw)-1])
	top := byte(0)
	if len(r.open) > 0 {
		top = r.open[len(r.open)-1]
	}
	isKey := top == '{' && len(r.dst) > 0 && (r.dst[len(r.dst)-1] == '{' || r.dst[len(r.dst)-1] == ',')
	switch {
	case isKey:
		r.key = inner
	case r.name != nil && top == '{' && r.key == "type":
		if name := r.name(inner); name != "" {
			inner = name
		}
	case r.name != nil && top == '[':
		number, ok := plainNumber(strings.TrimSpace(inner))
		if ok {
			r.dst = append(r.dst, number...)
		}
		return ok
	}
	r.dst = append(r.dst, '"')
	for i := range len(inner) {
		if c := inner[i]; c < ' ' {
			r.dst = append(r.dst, `\u00`...)
			r.dst = append(r.dst, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
			r.done = "read with control characters"
		} else {
			r.dst = append(r.dst, c)
		}
	}
	r.dst = append(r.dst, '"')
	return true
}

package cql2

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is a kind of token.
type tokenKind uint8

const (
	end        tokenKind = iota
	word                 // an identifier or a keyword
	quotedWord           // an identifier in double quotes
	number               // without a sign
	text                 // a character literal
	symbol               // an operator, a parenthesis, a comma
)

// token is a token of a text.
type token struct {
	kind tokenKind
	text string // without quotes
	at   int    // byte of its start
}

// is reports whether a token is a symbol, or a keyword in any case.
func (t token) is(s string) bool {
	return (t.kind == symbol || t.kind == word) && strings.EqualFold(t.text, s)
}

// lex returns the tokens of a text. The last one is end.
func lex(in string) ([]token, error) {
	var tokens []token
	for at := 0; ; {
		for at < len(in) && strings.IndexByte(" \t\r\n\f", in[at]) >= 0 {
			at++
		}
		if at == len(in) {
			return append(tokens, token{kind: end, at: at}), nil
		}
		t, n, err := lexOne(in, at)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, t)
		at += n
	}
}

// lexOne returns the token at a place, and its length.
func lexOne(in string, at int) (token, int, error) {
	rest := in[at:]
	switch c := rest[0]; {
	case c == '\'' || c == '"':
		return lexQuoted(rest, at)
	case c >= '0' && c <= '9' || c == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		n := numberLen(rest)
		return token{number, rest[:n], at}, n, nil
	case strings.HasPrefix(rest, "<>") || strings.HasPrefix(rest, "<=") || strings.HasPrefix(rest, ">="):
		return token{symbol, rest[:2], at}, 2, nil
	case strings.IndexByte("=<>()+-*/%^,", c) >= 0:
		return token{symbol, rest[:1], at}, 1, nil
	}
	n := 0
	for n < len(rest) {
		r, size := utf8.DecodeRuneInString(rest[n:])
		if !isWord(r, n == 0) {
			break
		}
		n += size
	}
	if n == 0 {
		r, _ := utf8.DecodeRuneInString(rest)
		return token{}, 0, errorAt(Place{Byte: at}, "%q is not a part of any expression", r)
	}
	return token{word, rest[:n], at}, n, nil
}

// isWord reports whether a character may be in an identifier.
func isWord(r rune, first bool) bool {
	if r == '_' || r == ':' || unicode.IsLetter(r) {
		return true
	}
	return !first && (r == '.' || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))
}

// lexQuoted returns a text in quotes. A quote in it is written twice, or after a backslash. Other
// backslashes are kept: LIKE reads them.
func lexQuoted(rest string, at int) (token, int, error) {
	quote := rest[0]
	kind := text
	if quote == '"' {
		kind = quotedWord
	}
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '\\' && i+1 < len(rest) && rest[i+1] == quote:
			i++
			b.WriteByte(quote)
		case c == quote && i+1 < len(rest) && rest[i+1] == quote:
			i++
			b.WriteByte(quote)
		case c == quote:
			return token{kind, b.String(), at}, i + 1, nil
		default:
			b.WriteByte(c)
		}
	}
	return token{}, 0, errorAt(Place{Byte: at}, "a text without its closing %c", quote)
}

// numberLen returns the length of the number at the start of a text.
func numberLen(s string) int {
	digits := func(i int) int {
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i
	}
	n := digits(0)
	if n < len(s) && s[n] == '.' {
		n = digits(n + 1)
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		k := n + 1
		if k < len(s) && (s[k] == '+' || s[k] == '-') {
			k++
		}
		if last := digits(k); last > k {
			n = last
		}
	}
	return n
}

package dbf

import (
	"bytes"
	"math"
)

// special reads the spellings of NaN and infinity by various programs, in any case.
func special(text []byte) (v float64, ok bool) {
	negative := false
	if text[0] == '-' || text[0] == '+' {
		negative = text[0] == '-'
		text = text[1:]
	}
	if v, ok = named(text); !ok {
		v, ok = msvc(text, negative)
	}
	if negative && v == v {
		v = -v
	}
	return v, ok
}

// named reads the words of C99, of Java, and of Microsoft's C library since 2015.
func named(text []byte) (v float64, ok bool) {
	const longest = "nan(snan)"
	if len(text) > len(longest) {
		return 0, false
	}
	switch string(bytes.ToLower(text)) {
	case "nan", "nan(ind)", "nan(snan)":
		return nan, true
	case "inf", "infinity":
		return math.Inf(1), true
	}
	return 0, false
}

// msvc reads what Microsoft's C library before 2015 prints without a sign: a digit, the separator
// of the locale, and "#INF", "#QNAN", "#SNAN" or "#IND" in place of decimals. If a number has more
// decimals, zeros follow. If it has fewer, the text is cut, and its last letter is "rounded up" if
// the one after that is above '4':
//
//	decimals  1    2    3     4      5       6
//	infinity  1.$  1.#J 1.#IO 1.#INF 1.#INF0 1.#INF00
//	NaN       1.$  1.#R 1.#QO 1.#QNB 1.#QNAN 1.#QNAN0
//	NaN       1.$  1.#T 1.#SO 1.#SNB 1.#SNAN 1.#SNAN0
//	NaN      -1.$ -1.#J -1.#IO -1.#IND -1.#IND0 -1.#IND00
//
// "#IND" is always negative, so "#J" and "#IO" are infinity without a sign. With a sign they may be
// either, and are read as NaN.
func msvc(text []byte, negative bool) (v float64, ok bool) {
	if len(text) < 2 || text[0] != '1' || text[1] != '.' && text[1] != ',' {
		return 0, false
	}
	switch string(bytes.ToUpper(bytes.TrimRight(text[2:], "0"))) {
	case "#INF":
		return math.Inf(1), true
	case "#J", "#IO":
		if !negative {
			return math.Inf(1), true
		}
		return nan, true
	case "$", "#QNAN", "#SNAN", "#IND", "#R", "#T", "#QO", "#SO", "#QNB", "#SNB":
		return nan, true
	}
	return 0, false
}

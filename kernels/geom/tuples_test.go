package geom_test

import (
	"math"
	"strconv"
	"strings"

	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
)

// tuple is a position as a test expects it.
type tuple struct {
	ordinates [4]float64
	count     int
	malformed int // the offset of the byte, or -1
	hard      bool
}

// numberStep is the automaton of the numbers of both grammars: the state after c, or 0 if no
// number goes on with it. The states are
//
//	s sign   0 a leading zero   i integer   . point after digits     , point after none
//	f fraction   e letter   x sign of the exponent   d its digits
func numberStep(state, c byte, lenient bool) byte {
	digit := '0' <= c && c <= '9'
	switch state {
	case ' ', 's':
		switch {
		case state == ' ' && (c == '-' || lenient && c == '+'):
			return 's'
		case c == '0' && !lenient:
			return '0'
		case digit:
			return 'i'
		case c == '.' && lenient:
			return ','
		}
	case '0', 'i':
		switch {
		case state == 'i' && digit:
			return 'i'
		case c == '.':
			return '.'
		case c == 'e' || c == 'E':
			return 'e'
		}
	case '.', ',', 'f':
		switch {
		case digit:
			return 'f'
		case (c == 'e' || c == 'E') && (state == 'f' || state == '.' && lenient):
			return 'e'
		}
	case 'e', 'x', 'd':
		switch {
		case digit:
			return 'd'
		case state == 'e' && (c == '-' || c == '+'):
			return 'x'
		}
	}
	return 0
}

// numberEnds says whether a number may end in state.
func numberEnds(state byte, lenient bool) bool {
	return strings.IndexByte("0ifd", state) >= 0 || state == '.' && lenient
}

// tupleAt reads the position that begins at byte at, byte by byte.
func tupleAt(text []byte, at int, style kgeom.PositionStyle) tuple {
	nan := math.NaN()
	t := tuple{ordinates: [4]float64{nan, nan, nan, nan}, malformed: -1}
	fail := func(i int) tuple {
		return tuple{ordinates: [4]float64{nan, nan, nan, nan}, malformed: i, hard: t.hard}
	}
	wkt := style == kgeom.PositionWKT
	if at < 0 || at >= len(text) || !wkt && text[at] != '[' {
		return fail(max(at, 0))
	}
	i := at
	if !wkt {
		i++
	}
	blanks := func() {
		for i < len(text) && strings.IndexByte(" \t\r\n", text[i]) >= 0 {
			i++
		}
	}
	blanks()
	if !wkt && i < len(text) && text[i] == ']' || wkt &&
		strings.EqualFold(string(text[min(i, len(text)):min(i+5, len(text))]), "EMPTY") &&
		(i+5 == len(text) || (text[i+5]|0x20)-'a' > 25) {
		return t
	}
	for {
		from, state := i, byte(' ')
		for i < len(text) {
			next := numberStep(state, text[i], wkt)
			if next == 0 {
				break
			}
			state = next
			i++
		}
		number := string(text[from:i])
		t.hard = t.hard || len(number) > 1024 || kerneltest.Significant(number) > 19 || t.count >= 4
		if !numberEnds(state, wkt) {
			return fail(i)
		}
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return fail(from)
		}
		if t.count < 4 {
			t.ordinates[t.count] = v
		}
		t.count++
		behind := i
		blanks()
		switch {
		case i == len(text):
			return fail(i)
		case !wkt && text[i] == ',':
			i++
			blanks()
		case !wkt && text[i] == ']', wkt && (text[i] == ',' || text[i] == ')'):
			if t.count < 2 {
				return fail(i)
			}
			return t
		case !wkt || i == behind:
			return fail(i)
		}
	}
}

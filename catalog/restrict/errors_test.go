package restrict

import (
	"errors"
	"strings"
	"testing"
)

// byteError is an error at a byte of a filter.
type byteError int

func (p byteError) Error() string { return "wrong" }
func (p byteError) At() int       { return int(p) }

func TestFilterError(t *testing.T) {
	long := strings.Repeat("a + ", 100)
	for _, c := range []struct {
		name, filter string
		err          error
		want         string
	}{
		{"no place", "a > 1", errors.New("wrong"), "where: wrong"},
		{"unknown place", "a > 1", byteError(-1), "where: wrong"},
		{"behind the end", "a > 1", byteError(6), "where: wrong"},
		{"the start", "a > 1", byteError(0), "where: byte 0: wrong\n  a > 1\n  ^"},
		{"the end", "a >", byteError(3), "where: byte 3: wrong\n  a >\n     ^"},
		{"a line", "a > 1 AND\r\n\tb > 2 AND\r\nc", byteError(12), "where: byte 12: wrong\n   b > 2 AND\n   ^"},
		{"characters", "é = 'ü' x", byteError(10), "where: byte 10: wrong\n  é = 'ü' x\n          ^"},
		{"inside of a character", "é", byteError(1), "where: byte 1: wrong\n  é\n  ^"},
		{
			"a long line", long, byteError(200),
			"where: byte 200: wrong\n  " + long[140:260] + "\n  " + strings.Repeat(" ", 60) + "^",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (&FilterError{c.filter, c.err}).Error(); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Package units reads and prints sizes and counts as people write them: 512MiB, 1.23 GB, 1,234
// rows.
package units

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Size is a number of bytes as people write it: "512MiB", "2GB", "1.5GiB", "4096". It implements
// pflag.Value.
type Size int64

// units of Size; two letters are powers of 1000, three are powers of 1024 (IEC 80000-13).
var units = [...]struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"kB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
}

// Set reads a size. It ignores the case of units. It refuses a lone K, M or G, which may mean
// powers of 1000 or of 1024.
func (s *Size) Set(text string) error {
	number, unit := text, int64(1)
	for _, u := range units {
		if n := len(text) - len(u.name); n > 0 && strings.EqualFold(text[n:], u.name) {
			number, unit = strings.TrimRight(text[:n], " "), u.bytes
			break
		}
	}
	// Only a short decimal: big.Rat would also accept 1e999999999 and 1/3.
	value, ok := new(big.Rat).SetString(number)
	if len(number) > 24 || strings.Trim(number, "0123456789.") != "" || !ok {
		return fmt.Errorf("%q is no size; write it as 512MiB, 2GB, 4GiB or in bytes", text)
	}
	value.Mul(value, new(big.Rat).SetInt64(unit))
	whole := new(big.Int).Quo(value.Num(), value.Denom())
	if !whole.IsInt64() {
		return errors.New("more than 8 EiB")
	}
	*s = Size(whole.Int64())
	return nil
}

// String returns the size in the largest binary unit that gives a whole number. Set reads it as the
// same size.
func (s Size) String() string {
	for _, u := range [...]int{3, 2, 1, 0} {
		if b := units[u].bytes; s != 0 && int64(s)%b == 0 {
			return strconv.FormatInt(int64(s)/b, 10) + units[u].name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// Type is the name of the value in help.
func (s Size) Type() string { return "size" }

// Bytes formats a size with three digits: "1.23 GB".
func Bytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	names := [...]string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	v, unit := float64(n), 0
	for v >= 999.5 {
		v, unit = v/1000, unit+1
	}
	digits := 0
	switch { // three digits after rounding: 9.996 is 10.0
	case v < 9.995:
		digits = 2
	case v < 99.95:
		digits = 1
	}
	return fmt.Sprintf("%.*f %s", digits, v, names[unit])
}

// Count formats a number with separators of thousands: "1,234,567".
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Counted formats a number of things: "1 table", "1,234 tables".
func Counted(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Count(n) + " " + thing + "s"
}

package filegdb

import (
	"encoding/binary"
	"errors"
	"math"
)

// epochDays is the number of days from 1899-12-30, from which times count, to 1970-01-01.
const epochDays = 25569

const (
	daySeconds = 86400
	maxSeconds = 1 << 53 / 1000 // so that milliseconds are exact
)

var (
	errTime      = errors.New("expected a number of days in the range of dates")
	errTimeOfDay = errors.New("expected a time of day, 0 to 1")
	errOffset    = errors.New("expected an offset of at most 14 hours from UTC")
)

// seconds returns the seconds from 1970-01-01 to a number of days from 1899-12-30.
func seconds(b []byte) (float64, error) {
	days := math.Float64frombits(binary.LittleEndian.Uint64(b))
	s := float64((days-epochDays)*3600) * 24
	if !(math.Abs(s) <= maxSeconds) {
		return 0, errTime
	}
	return s, nil
}

// milliseconds returns a date and time; it is rounded to seconds unless it is precise.
func milliseconds(b []byte, precise bool) (int64, error) {
	s, err := seconds(b)
	if !precise {
		return int64(math.Floor(s+0.5)) * 1000, err
	}
	return int64(math.Floor(s*1000 + 0.5)), err
}

// offsetMilliseconds returns a date and time with an offset from UTC, in minutes.
func offsetMilliseconds(b []byte) (int64, error) {
	ms, err := milliseconds(b, true)
	if err != nil {
		return 0, err
	}
	offset := int64(int16(binary.LittleEndian.Uint16(b[8:])))
	if offset < -14*60 || offset > 14*60 {
		return 0, errOffset
	}
	return ms - offset*60_000, nil
}

// days returns a date.
func days(b []byte) (int32, error) {
	s, err := seconds(b)
	if err != nil {
		return 0, err
	}
	day := math.Floor((s + 0.5) / daySeconds)
	if day < math.MinInt32 || day > math.MaxInt32 {
		return 0, errTime
	}
	return int32(day), nil
}

// timeOfDay returns the milliseconds of a share of a day.
func timeOfDay(b []byte) (int32, error) {
	s := float64(math.Float64frombits(binary.LittleEndian.Uint64(b))*3600) * 24
	if !(s >= 0 && s <= daySeconds) {
		return 0, errTimeOfDay
	}
	return min(int32(math.Floor(s*1000+0.5)), daySeconds*1000-1), nil
}

const hexDigits = "0123456789ABCDEF"

// appendGUID appends 16 bytes as {12345678-9ABC-DEF0-1234-567890ABCDEF}.
func appendGUID(dst, b []byte) []byte {
	dst = append(dst, '{')
	for i, k := range [16]int{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15} {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[b[k]>>4], hexDigits[b[k]&15])
	}
	return append(dst, '}')
}

// nan is the canonical NaN.
var nan = math.Float64frombits(0x7ff8000000000000)

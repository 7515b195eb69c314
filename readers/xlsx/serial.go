package xlsx

import (
	"math"
	"time"
)

// epoch is the date system of a workbook (section 18.17.4.1).
type epoch uint8

const (
	epoch1900 epoch = iota // serial 1 is 1900-01-01, and 60 is 1900-02-29, which never was
	epoch1904              // serial 0 is 1904-01-01
)

const (
	dayMillis  = 24 * 60 * 60 * 1000
	leapSerial = 60        // in the system of 1900
	maxSerial  = 2_958_466 // after 9999-12-31 there
	days1904   = 1462
)

// appendSerial appends the date, time or both of a number in ISO 8601, to the millisecond. ok is
// false for an invalid number. A time has less than a day.
func appendSerial(dst []byte, v float64, f format, e epoch) (_ []byte, ok bool) {
	if f == formatTime {
		if v < 0 || v >= 1 {
			return dst, false
		}
		return appendClock(dst, int64(math.Round(v*dayMillis))%dayMillis), true
	}
	if e == epoch1904 {
		v += days1904
	}
	if !(v >= 0 && v < maxSerial) {
		return dst, false
	}
	millis := int64(math.Round(v * dayMillis))
	day, clock := millis/dayMillis, millis%dayMillis
	switch {
	case e == epoch1900 && day == leapSerial:
		return dst, false
	case e == epoch1900 && day < leapSerial:
		day++
	}
	first := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	at := first.AddDate(0, 0, int(day))
	if at.Year() > 9999 {
		return dst, false
	}
	dst = at.AppendFormat(dst, "2006-01-02")
	if f&formatTime != 0 || clock != 0 {
		dst = appendClock(append(dst, 'T'), clock)
	}
	return dst, true
}

// appendClock appends a time of day, with a fraction if it has one.
func appendClock(dst []byte, millis int64) []byte {
	at := time.UnixMilli(millis).UTC()
	if millis%1000 != 0 {
		return at.AppendFormat(dst, "15:04:05.000")
	}
	return at.AppendFormat(dst, "15:04:05")
}

// Package temporal tells which texts are dates and times, and which days and seconds they mean.
//
//	date     = year "-" month "-" day / year "/" month "/" day
//	datetime = date ("T" / " ") time [zone]
//	time     = hour ":" minute [":" second ["." 1*digit]]
//	zone     = "Z" / ("+" / "-") hour [[":"] minute]
//
// The grammar is that of RFC 3339 with the freedoms that files take: slashes, a blank, no seconds,
// no or short zones. It is strict: years have four digits and all other fields two, letters are
// capitals, without surrounding text. Fields are in range, so that 2020-02-30, 24:00 and 23:59:60
// are no times: a leap second has no place among the seconds since the epoch. The calendar is the
// proleptic Gregorian one, which has a year 0000. An offset of -00:00 is one of zero.
package temporal

// Kind is what a text denotes.
type Kind uint8

const (
	Date  Kind = iota
	Naive      // date and time without zone
	Zoned      // date and time with zone
	Time       // time of day
)

// Value is a date or time as written. Fields of no meaning for its kind are 0.
type Value struct {
	Kind     Kind
	Digits   uint8  // how many digits of a fraction of a second are written, 255 for more
	Offset   int32  // of a Zoned, seconds east of UTC
	Seconds  int64  // of the fields as written, offset not applied: since 1970-01-01T00:00:00, of a Time since midnight
	Fraction uint64 // of a second, in nanoseconds: the first 9 digits
}

// Days returns how many days after 1970-01-01 the value's date is.
func (v Value) Days() int32 {
	return int32((v.Seconds - modulo(v.Seconds, secondsPerDay)) / secondsPerDay)
}

const secondsPerDay = 24 * 60 * 60

// Parse reads a text that is a date or time from its first byte to its last.
func Parse(text []byte) (v Value, ok bool) {
	if len(text) < len("12:34") || text[0]-'0' > 9 {
		return Value{}, false
	}
	if text[2] == ':' {
		v.Kind = Time
		rest, ok := v.clock(text)
		return v, ok && len(rest) == 0
	}
	if len(text) < len("2006-01-02") {
		return Value{}, false
	}
	days, ok := date(text)
	if !ok {
		return Value{}, false
	}
	v.Seconds = days * secondsPerDay
	if text = text[len("2006-01-02"):]; len(text) == 0 {
		return v, true
	}
	if len(text) < len("T12:34") || text[0] != 'T' && text[0] != ' ' {
		return Value{}, false
	}
	v.Kind = Naive
	rest, ok := v.clock(text[1:])
	if !ok || len(rest) == 0 {
		return v, ok
	}
	v.Kind = Zoned
	v.Offset, ok = zone(rest)
	return v, ok
}

// date returns the days since 1970-01-01 of the first ten bytes.
func date(text []byte) (days int64, ok bool) {
	separator := text[4]
	if separator != '-' && separator != '/' || text[7] != separator {
		return 0, false
	}
	century, year, month, day := pair(text, 0), pair(text, 2), pair(text, 5), pair(text, 8)
	if century > 99 || year > 99 || month-1 > 11 || day-1 > 30 {
		return 0, false
	}
	year += 100 * century
	if day > 28 && day > daysIn(year, month) {
		return 0, false
	}
	return daysSince1970(int64(year), int64(month), int64(day)), true
}

// clock adds the time of day at the start of text, of at least 5 bytes, and returns what follows
// it.
func (v *Value) clock(text []byte) (rest []byte, ok bool) {
	hour, minute := pair(text, 0), pair(text, 3)
	if hour > 23 || text[2] != ':' || minute > 59 {
		return nil, false
	}
	v.Seconds += int64(60 * (60*hour + minute))
	text = text[len("12:34"):]
	if len(text) == 0 || text[0] != ':' {
		return text, true
	}
	if len(text) < len(":56") {
		return nil, false
	}
	second := pair(text, 1)
	if second > 59 {
		return nil, false
	}
	v.Seconds += int64(second)
	text = text[len(":56"):]
	if len(text) == 0 || text[0] != '.' {
		return text, true
	}
	return v.fraction(text[1:])
}

// fraction adds the digits at the start of text, one at least, and returns what follows them.
func (v *Value) fraction(text []byte) (rest []byte, ok bool) {
	const nanoDigits = 9
	n := 0
	for ; n < len(text) && text[n]-'0' <= 9; n++ {
		if n < nanoDigits {
			v.Fraction = 10*v.Fraction + uint64(text[n]-'0')
		}
	}
	for i := n; i < nanoDigits; i++ {
		v.Fraction *= 10
	}
	v.Digits = uint8(min(n, 255))
	return text[n:], n > 0
}

// zone returns the seconds east of UTC of a text that is a zone to its last byte.
func zone(text []byte) (offset int32, ok bool) {
	if len(text) == 1 {
		return 0, text[0] == 'Z'
	}
	var hour, minute uint
	switch {
	case text[0] != '+' && text[0] != '-':
		return 0, false
	case len(text) == len("+01"):
	case len(text) == len("+0100"):
		minute = pair(text, 3)
	case len(text) == len("+01:00") && text[3] == ':':
		minute = pair(text, 4)
	default:
		return 0, false
	}
	hour = pair(text, 1)
	if hour > 23 || minute > 59 {
		return 0, false
	}
	offset = int32(60 * (60*hour + minute))
	if text[0] == '-' {
		offset = -offset
	}
	return offset, true
}

// pair returns the number that the two digits from byte i on spell, or 100 if one of them is no
// digit.
func pair(text []byte, i int) uint {
	tens, ones := uint(text[i]-'0'), uint(text[i+1]-'0')
	if tens > 9 || ones > 9 {
		return 100
	}
	return 10*tens + ones
}

func daysIn(year, month uint) uint {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// daysSince1970 counts in years that begin in March, so that a leap day is the last one of its
// year. After Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, days_from_civil.
func daysSince1970(year, month, day int64) int64 {
	const march0000 = 719468 // days from 0000-03-01 to 1970-01-01
	month -= 3
	if month < 0 {
		month += 12
		year--
	}
	year += 400 // none is negative from here on
	days := 365*year + year/4 - year/100 + year/400 + (153*month+2)/5 + day - 1
	return days - march0000 - 146097 // days of 400 years
}

func modulo(a, b int64) int64 { return (a%b + b) % b }

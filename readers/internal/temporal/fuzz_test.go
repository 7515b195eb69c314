package temporal

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

var grammar = regexp.MustCompile(`^(?:(\d{4})([-/])(\d\d)([-/])(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.(\d+))?)?)(Z|[-+]\d\d(?::?\d\d)?)?)?|(\d\d:\d\d(?::\d\d(?:\.(\d+))?)?))$`)

// FuzzParse compares with a regular expression for the shape and package time for the ranges.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"2020-02-29", "2020/02/29 12:34", "2020-02-29T12:34:56.789+01:30",
		"2020-02-29T12:34:56Z", "23:59:59.9", "2020-01/02", "12:34", "2020-01-02T12:34-0800",
		"2020-01-02T12:34+0060", "2020-01-02T12:34+24",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := Parse(text)
		want, kind, wantOK := oracle(string(text))
		if ok != wantOK {
			t.Fatalf("%q: got %+v, %t, want %v, %t", text, got, ok, want, wantOK)
		}
		if ok && (got.Kind != kind || got.Seconds-int64(got.Offset) != want.Unix() ||
			got.Fraction != uint64(want.Nanosecond())) {
			t.Fatalf("%q: got %+v, want %v of kind %d", text, got, want, kind)
		}
	})
}

func oracle(text string) (at time.Time, kind Kind, ok bool) {
	m := grammar.FindStringSubmatch(text)
	if m == nil || m[2] != m[4] {
		return at, 0, false
	}
	date, clock, zone, fraction := m[1]+"-"+m[3]+"-"+m[5], m[6], m[8], m[7]
	switch {
	case m[9] != "":
		date, clock, fraction, kind = "1970-01-01", m[9], m[10], Time
	case zone != "":
		kind = Zoned
	case clock != "":
		kind = Naive
	default:
		clock = "00:00"
	}
	if strings.Count(clock, ":") == 1 {
		clock += ":00"
	}
	if len(fraction) > 9 {
		clock = clock[:len("12:34:56.")+9]
	}
	zone = strings.ReplaceAll(zone, ":", "")
	if len(zone) == len("+01") {
		zone += "00"
	}
	if zone == "" || zone == "Z" {
		zone = "+0000"
	}
	if zone[1:3] > "23" || zone[3:] > "59" { // package time lets 24 hours and 60 minutes pass
		return at, 0, false
	}
	at, err := time.Parse("2006-01-02T15:04:05-0700", date+"T"+clock+zone)
	return at, kind, err == nil
}

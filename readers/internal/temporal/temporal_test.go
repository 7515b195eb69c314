package temporal

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// seconds of a time that Go reads by layout 2006-01-02 15:04:05.
func seconds(t *testing.T, text string) int64 {
	t.Helper()
	at, err := time.Parse(time.DateTime, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.Unix()
}

func TestParse(t *testing.T) {
	noon := seconds(t, "2020-02-29 12:34:56")
	minute := seconds(t, "2020-02-29 12:34:00")
	for _, c := range []struct {
		text string
		want Value
	}{
		{"1970-01-01", Value{}},
		{"1969/12/31", Value{Seconds: -86400}},
		{"0000-01-01", Value{Seconds: -62167219200}},
		{"0000-02-29", Value{Seconds: -62167219200 + 59*86400}},
		{"9999-12-31", Value{Seconds: 253402214400}},
		{"2000-02-29", Value{Seconds: seconds(t, "2000-02-29 00:00:00")}},
		{"2020-02-29T12:34", Value{Kind: Naive, Seconds: minute}},
		{"2020/02/29 12:34", Value{Kind: Naive, Seconds: minute}},
		{"2020-02-29 12:34:56", Value{Kind: Naive, Seconds: noon}},
		{"2020-02-29T12:34:56.5", Value{Kind: Naive, Seconds: noon, Digits: 1, Fraction: 500000000}},
		{"2020-02-29T12:34:56.123456789", Value{Kind: Naive, Seconds: noon, Digits: 9, Fraction: 123456789}},
		{"2020-02-29T12:34:56.1234567899", Value{Kind: Naive, Seconds: noon, Digits: 10, Fraction: 123456789}},
		{"2020-02-29T12:34:56." + strings.Repeat("0", 300), Value{Kind: Naive, Seconds: noon, Digits: 255}},
		{"2020-02-29T12:34:56." + strings.Repeat("0", 255) + "Z", Value{Kind: Zoned, Seconds: noon, Digits: 255}},
		{"2020-02-29T12:34:56.000Z", Value{Kind: Zoned, Seconds: noon, Digits: 3}},
		{"2020-02-29T12:34:56Z", Value{Kind: Zoned, Seconds: noon}},
		{"2020-02-29T12:34Z", Value{Kind: Zoned, Seconds: minute}},
		{"2020-02-29T12:34:56+00:00", Value{Kind: Zoned, Seconds: noon}},
		{"2020-02-29T12:34:56-00:00", Value{Kind: Zoned, Seconds: noon}},
		{"2020-02-29T12:34:56+01:30", Value{Kind: Zoned, Seconds: noon, Offset: 5400}},
		{"2020-02-29T12:34:56.25-0330", Value{
			Kind: Zoned, Seconds: noon, Offset: -12600, Digits: 2,
			Fraction: 250000000,
		}},
		{"2020/02/29 12:34-08", Value{Kind: Zoned, Seconds: minute, Offset: -28800}},
		{"2020-02-29T12:34:56+23:59", Value{Kind: Zoned, Seconds: noon, Offset: 86340}},
		{"0000-01-01T00:00:00-23:59", Value{Kind: Zoned, Seconds: -62167219200, Offset: -86340}},
		{"00:00", Value{Kind: Time}},
		{"23:59", Value{Kind: Time, Seconds: 86340}},
		{"12:34:56", Value{Kind: Time, Seconds: 45296}},
		{"12:34:56.789", Value{Kind: Time, Seconds: 45296, Digits: 3, Fraction: 789000000}},
	} {
		if got, ok := Parse([]byte(c.text)); !ok || got != c.want {
			t.Errorf("%s: got %+v, %t, want %+v", c.text, got, ok, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", "1", "12", "2020", "12345", "Main St", "12 Main Street", "1234 Main Street", "\xb2020-01-02",
		"2020-02-30", "2019-02-29", "1900-02-29", "2100-02-29", "2020-04-31", "2020-13-01", "2020-00-01",
		"2020-01-00", "2020-01-32",
		"2020-01/02", "2020/01-02", "2020.01.02", "2020-1-2", "2020-01-2", "20200102", "020-01-02",
		"12020-01-02", "+2020-01-02", "-2020-01-02",
		"2020-01-02 ", " 2020-01-02", "2020-01-02T", "2020-01-02Z", "2020-01-02+01:00", "2020-01-02T1",
		"2020-01-02T12", "2020-01-02T12:", "2020-01-02T12:3",
		"2020-01-02t12:34", "2020-01-02  12:34", "2020-01-02\t12:34", "2020-01-02T12:34z", "2020-01-02T12:34 Z",
		"2020-01-02T12:34:56 +01:00",
		"2020-01-02T24:00", "2020-01-02T23:60", "2020-01-02T23:59:60", "2020-01-02T23:59:60Z",
		"2020-01-02T12:34:", "2020-01-02T12:34:5",
		"2020-01-02T12:34:56.", "2020-01-02T12:34:56.Z", "2020-01-02T12:34:56,5", "2020-01-02T12:34.5",
		"2020-01-02T12:34:56.5x",
		"2020-01-02T12:34:56+", "2020-01-02T12:34:56+1", "2020-01-02T12:34:56+01:", "2020-01-02T12:34:56+01:0",
		"2020-01-02T12:34:56+010",
		"2020-01-02T12:34:56+24:00", "2020-01-02T12:34:56+01:60", "2020-01-02T12:34:56+01-00",
		"2020-01-02T12:34:56+01:00:00", "2020-01-02T12:34:56ZZ",
		"2020-01-02T12:34:56+0x:00", "2020-01-02T12:34:56UTC", "2020-0a-02", "2o20-01-02", "2020-01-0:",
		"2020-01-02T12-34",
		"24:00", "12:60", "12:34:60", "1:23", "123:4", "12:3", "12:34:", "12:34:5", "12:34:56.", "12:34Z",
		"12:34:56+01:00", "12:34 ", "T12:34", "12:34 PM", "12:34:56:78",
	} {
		if got, ok := Parse([]byte(text)); ok {
			t.Errorf("%q: got %+v, want nothing", text, got)
		}
	}
}

// TestParseDates compares each day of the years 0 to 9999 with package time.
func TestParseDates(t *testing.T) {
	day := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	for ; day.Year() <= 9999; day = day.AddDate(0, 0, 1) {
		text := day.AppendFormat(nil, "2006-01-02")
		if v, ok := Parse(text); !ok || v.Seconds != day.Unix() || int64(v.Days())*secondsPerDay != v.Seconds ||
			v.Kind != Date {
			t.Fatalf("%s: got %+v, %t, want %d", text, v, ok, day.Unix())
		}
	}
}

// TestParseTimes compares random times, some of them impossible, with package time.
func TestParseTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200000 {
		date := fmt.Sprintf("%04d-%02d-%02d", r.IntN(10000), r.IntN(14), r.IntN(33))
		clock := fmt.Sprintf("%02d:%02d:%02d", r.IntN(25), r.IntN(61), r.IntN(61))
		layout, text := "2006-01-02T15:04:05", date+"T"+clock
		if digits := r.IntN(10); digits > 0 {
			text += "." + fmt.Sprintf("%09d", r.IntN(1e9))[:digits]
		}
		if r.IntN(2) == 0 {
			layout += "Z07:00"
			text += fmt.Sprintf("%c%02d:%02d", "+-"[r.IntN(2)], r.IntN(25), r.IntN(60))
		}
		want, err := time.Parse(layout, text)
		_, offset := want.Zone()
		got, ok := Parse([]byte(text))
		switch {
		case strings.Contains(text, "+24:") || strings.Contains(text, "-24:"): // package time takes 24 hours
			if ok {
				t.Fatalf("%s: got %+v, want nothing", text, got)
			}
		case ok != (err == nil):
			t.Fatalf("%s: got %t, package time says %v", text, ok, err)
		case ok && (got.Seconds-int64(got.Offset) != want.Unix() || got.Fraction != uint64(want.Nanosecond()) ||
			int(got.Offset) != offset):
			t.Fatalf("%s: got %+v, want %v", text, got, want)
		}
	}
}

func TestDays(t *testing.T) {
	for _, c := range []struct {
		text string
		want int32
	}{
		{"1970-01-01", 0},
		{"1969-12-31", -1},
		{"1969-12-31T23:59:59", -1},
		{"1970-01-02T00:00:01", 1},
		{"0000-01-01", -719528},
		{"9999-12-31", 2932896},
	} {
		if v, ok := Parse([]byte(c.text)); !ok || v.Days() != c.want {
			t.Errorf("%s: got %d, %t, want %d", c.text, v.Days(), ok, c.want)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, text := range []string{
		"2020-02-29", "2020-02-29T12:34:56.789Z", "12:34:56", "NW 7th Ave",
		"1234 Main Street",
	} {
		b.Run(text, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Parse([]byte(text))
			}
		})
	}
}

package temporal

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestUTC compares with Parse: a text is read alike, or left to it.
func TestUTC(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 20000 {
		at := time.Unix(r.Int64N(1<<36)-1<<35, r.Int64N(1e9)).UTC()
		text := []byte(at.Format([]string{
			"2006-01-02T15:04:05Z", "2006-01-02T15:04:05.000Z",
			"2006-01-02T15:04:05", "2006-01-02T15:04:05.000",
		}[i%4]))
		if i%3 == 0 {
			text[r.IntN(len(text))] = "0123456789-:TZ."[r.IntN(15)]
		}
		us, ok := UTC(text)
		v, parsed := Parse(text)
		want := v.Seconds*1_000_000 + int64(v.Fraction)/1000
		switch {
		case ok && (!parsed || v.Kind != Zoned && v.Kind != Naive || v.Offset != 0 || us != want):
			t.Fatalf("%s: got %d, want %d, %v", text, us, want, parsed)
		case !ok && i%3 != 0 && parsed:
			t.Fatalf("%s is not read", text)
		}
	}
	for _, text := range []string{"", "2024-02-30T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00,123Z"} {
		if us, ok := UTC([]byte(text)); ok {
			t.Errorf("%s: got %d", text, us)
		}
	}
}

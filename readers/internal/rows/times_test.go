package rows

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

var dateTexts = []string{
	"2024-02-29", "2023/12/31", "0000-01-01", "9999-12-31", "1969-12-31", "1970-01-01", "2024-01-31",
	"2024-04-30", "2100-02-28", "2024-02-28", "2024-02-01",
}

// TestDates compares days found by months with those of every text by itself, in columns with nulls
// and empty texts.
func TestDates(t *testing.T) {
	bad := []string{
		"2024-02-30", "2023-02-29", "2024-13-01", "2024-00-10", "2024-01-00", "2024-04-31",
		"2024-01/01", "2024-01-1", "2024-01-01 ", "x", "12:34", "2024-01-01T00:00",
	}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		k := NewSink()
		k.Fields, k.Bare = true, true
		c := k.Column(geoarrow.RoleAttribute, []byte("a"))
		for range r.IntN(20) {
			c.Pad(k.Rows)
			switch n := r.IntN(20); {
			case n == 0 && seed%2 == 0:
				c.AddText([]byte(bad[r.IntN(len(bad))]))
			case n == 1:
				c.AddEmpty()
			case n > 3:
				c.AddText([]byte(dateTexts[r.IntN(len(dateTexts))]))
			}
			k.Commit(0)
		}
		if c.Kinds&geoarrow.FactString == 0 {
			continue
		}
		c.Pad(k.Rows)
		column := geoarrow.Column{
			Facts: geoarrow.Facts{Kinds: c.Kinds}, Nulls: c.nulls, Valid: c.valid,
			Offsets: c.Ends, Values: c.Text,
		}
		facts, days, empty := dateFacts(&column, k.Rows, true)
		want, times, wantEmpty := temporalFacts(&column, k.Rows, true)
		if days == nil {
			if want.Kinds == geoarrow.FactDate {
				t.Fatalf("seed %d: %q are no dates", seed, c.Text)
			}
			continue
		}
		plain := make([]int32, k.Rows)
		for i, v := range times {
			plain[i] = int32(v.Seconds / 86400)
		}
		if facts != want || empty != wantEmpty || !reflect.DeepEqual(days, plain) {
			t.Fatalf("seed %d: %q\ngot  %v %v, %d empty\nwant %v %v, %d empty", seed, c.Text, days, facts,
				empty, plain, want, wantEmpty)
		}
	}
}

// TestEmpty: an empty text is a null in a column of anything but text.
func TestEmpty(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []string // "": empty, "-": null
		want   string
	}{
		{"only empty", []string{"", "-", ""}, "utf8 0 1 0"},
		{"text", []string{"", "-", "a"}, "utf8 0 1 0"},
		{"dates", []string{"", "-", "2024-01-01"}, "date32 1 1 0"},
		{"dates without nulls", []string{"2024-01-01", ""}, "date32 0 1"},
		{"times", []string{"12:34", "", "12:34:56.789"}, "time32 0 1 0"},
		{"numbers after", []string{"", "7"}, "int32 1 0"},
		{"numbers before", []string{"7", ""}, "int32 0 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := NewSink()
			k.Fields, k.Bare = true, true
			col := k.Column(geoarrow.RoleAttribute, []byte("a"))
			for _, v := range c.values {
				col.Pad(k.Rows)
				switch v {
				case "":
					col.AddEmpty()
				case "-":
				case "7":
					col.AddNumber(number.Num{Int: 7, Float: 7}, []byte("7"))
				default:
					col.AddText([]byte(v))
				}
				k.Commit(0)
			}
			out, err := k.Columns(0)
			if err != nil {
				t.Fatal(err)
			}
			a := out.Attributes[0]
			got := a.Type.Name()
			for i := range out.Rows {
				null := 0
				if a.Nulls > 0 && a.Valid[i>>3]>>(i&7)&1 == 0 {
					null = 1
				}
				got += fmt.Sprintf(" %d", null)
			}
			if got != c.want {
				t.Errorf("%q: got %s, want %s", c.values, got, c.want)
			}
		})
	}
}

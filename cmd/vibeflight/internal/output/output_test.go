package output

import (
	"strings"
	"testing"
	"time"
)

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"a.geojson":       "a.geojson",
		"a\nb\tc":         "a b c",
		"\x1b[31mred":     "\ufffd[31mred", // it would steer the terminal
		"bidi\u202etxt":   "bidi\ufffdtxt", // it would turn the rest around
		"Zürich 東京 \xff.": "Zürich 東京 \ufffd.",
	} {
		if got := OneLine(text); got != want {
			t.Errorf("oneLine(%q): got %q, want %q", text, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "abc": "abc", "abcd": "ab…", "äöüß": "äö…",
		"äöü": "äöü", "a\xff\xff\xff": "a\xff…",
	} {
		if got := Clip(text, 3); got != want {
			t.Errorf("clip(%q, 3): got %q, want %q", text, got, want)
		}
	}
}

func TestGrid(t *testing.T) {
	g := &Grid{
		Header: []string{"NAME", "N", "LAST"}, Right: []bool{false, true, false},
		Rows: [][]string{{"a", "10", "x"}, {"é", "7", ""}},
	}
	tests := []struct {
		name    string
		width   int
		columns int
		want    string
	}{
		{"all", 0, 3, "NAME   N  LAST\na     10  x\né      7  \n"},
		{"just", 14, 3, "NAME   N  LAST\na     10  x\né      7  \n"},
		{"last one left out", 13, 2, "NAME   N\na     10\né      7\n"},
		{"the first one is always there", 1, 1, "NAME\na\né\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			columns, err := g.Write(&b, tt.width)
			if err != nil || columns != tt.columns || b.String() != tt.want {
				t.Errorf("write(width %d): got %d columns, %v\n%s\nwant %d\n%s", tt.width, columns, err,
					b.String(), tt.columns, tt.want)
			}
		})
	}
}

func TestProgressLine(t *testing.T) {
	p := &Progress{label: "x", unit: " rows"}
	tests := []struct {
		name        string
		done, total int64
		want        string
	}{
		{"nothing known", 0, 0, "x  2s"},
		{"no total", 4e6, -1, "x  4,000,000 rows  2,000,000/s  2s"},
		{"a quarter", 1e6, 4e6, "x  ██████··················  25%  1,000,000 of 4,000,000 rows  500,000/s  6s left"},
		{"more than all", 5e6, 4e6, "x  ████████████████████████ 100%  5,000,000 of 4,000,000 rows  2,500,000/s  " +
			"0s left"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p.Set(tt.done, tt.total)
			if got := p.line(2 * time.Second); got != tt.want {
				t.Errorf("done %d of %d: got %q, want %q", tt.done, tt.total, got, tt.want)
			}
		})
	}
}

// A parse shows its part of the file; the first row ends that, and the rate is that of the rows
// alone.
func TestProgressOfAParse(t *testing.T) {
	p := &Progress{label: "x", unit: " rows", start: time.Now().Add(-4 * time.Second)}
	part := 0.0
	p.Parsing(func() float64 { return part })
	check := func(since time.Duration, want string) {
		t.Helper()
		if got := p.line(since); got != want {
			t.Errorf("after %v: got %q, want %q", since, got, want)
		}
	}
	check(time.Second, "x  1s")
	part = 0.25
	check(time.Second, "x  ██████··················  25% parsed  3s left")
	part = 1.5 // a sibling's bytes may come on top
	check(4*time.Second, "x  ████████████████████████ 100% parsed  0s left")
	p.Set(10, 100)
	first := 4 * time.Second
	p.first.Store(&first)
	check(5*time.Second, "x  ██······················  10%  10 of 100 rows  10/s  9s left")
}

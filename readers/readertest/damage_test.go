package readertest

import (
	"errors"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
)

// deviating returns the outcome of a file with these deviations.
func deviating(list ...readers.Deviation) *result {
	t := &readers.Table{}
	for _, d := range list {
		t.Summary.Deviations.Add(d)
	}
	return &result{table: t}
}

// TestReadsMore is what repair may make of a file that fail reads.
func TestReadsMore(t *testing.T) {
	passed := readers.Deviation{Offset: 10, Row: 2, Rule: "element-case", Done: "not read"}
	read := readers.Deviation{Offset: 10, Row: 2, Rule: "element-case", Done: "read as Placemark"}
	inside := readers.Deviation{Offset: 20, Row: 2, Rule: "typed-value", Done: "value is null"}
	behind := readers.Deviation{Offset: 30, Row: 2, Rule: "unknown-geometry", Done: "not read"}
	guess := readers.Deviation{Offset: 10, Row: 2, Rule: "guessed-geometry", Done: "geometry is null"}
	nextRow := behind
	nextRow.Row++
	for _, c := range []struct {
		name         string
		fail, repair *result
		want         bool
	}{
		{"an element that fail counts", deviating(passed), deviating(read), true},
		{"one that fail passes", deviating(), deviating(read), true},
		{"deviations inside of it", deviating(passed, behind), deviating(read, inside, nextRow), true},
		{"a place that is read otherwise", deviating(guess), deviating(read), true},
		{"no deviation", deviating(), deviating(), false},
		{"the same deviation", deviating(passed), deviating(passed), false},
		{"more deviations, but nothing is read", deviating(), deviating(inside), false},
		{"a deviation before what is read", deviating(), deviating(inside, read), false},
		{"a deviation elsewhere is gone", deviating(inside), deviating(read), false},
		{"fewer deviations", deviating(passed), deviating(), false},
		{"an error", deviating(passed), &result{err: errors.New("x")}, false},
	} {
		if got := c.repair.readsMore(c.fail); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

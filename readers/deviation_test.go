package readers_test

import (
	"reflect"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
)

// TestDeviations appends the deviations of a part, whose rows count from its first one, to those of
// the rows before it.
func TestDeviations(t *testing.T) {
	at := func(row int64) readers.Deviation { return readers.Deviation{Offset: 10 * row, Row: row, Rule: "r"} }
	var all, part readers.Deviations
	all.Add(at(1))
	for row := range int64(readers.MaxDeviations) {
		part.Add(at(row))
	}
	part.Shift(5)
	all.Append(&part)

	if all.Count != readers.MaxDeviations+1 || all.Rules["r"] != all.Count {
		t.Errorf("got count %d, by rule %v, want %d", all.Count, all.Rules, readers.MaxDeviations+1)
	}
	if len(all.First) != readers.MaxDeviations {
		t.Fatalf("got %d places, want %d", len(all.First), readers.MaxDeviations)
	}
	got := []int64{all.First[0].Row, all.First[1].Row, all.First[2].Row}
	if want := []int64{1, 5, 6}; !reflect.DeepEqual(got, want) {
		t.Errorf("got rows %v, want %v", got, want)
	}
	var none readers.Deviations
	none.Append(&readers.Deviations{})
	if !none.IsEmpty() || none.Rules != nil {
		t.Errorf("got %+v, want an empty value", none)
	}
}

package csv_test

import (
	"maps"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestSweep reads random files, half of them invalid.
func TestSweep(t *testing.T) {
	readertest.Sweep{
		Format: csv.Format(), Documents: 1000, Document: newSweepDocument, Variants: variants, Inferred: true,
		Table: sameModes,
	}.CPU(t)
}

// sameModes reads a file without deviations with another value of on_error: the rows are the same.
func sameModes(t testing.TB, in readertest.Input, table *readers.Table) {
	t.Helper()
	deviations := table.Summary.Deviations
	if table.Summary.Skipped.Count > 0 || deviations.Count > deviations.Rules["guessed-geometry"] {
		return
	}
	other := map[any]string{nil: "skip", "skip": "fail", "null": "fail", "repair": "skip"}
	in.Options = maps.Clone(in.Options)
	in.Options["on_error"] = other[in.Options["on_error"]]
	in.Limits.BatchRows, in.Limits.BatchBytes = 0, 0
	again, err := readertest.Parse(t, csv.Format(), in)
	if err != nil || readertest.Rows(again) != readertest.Rows(table) {
		t.Errorf("on_error %v, got: %v\nwant:\n%s", in.Options["on_error"], err, readertest.Rows(table))
	}
}

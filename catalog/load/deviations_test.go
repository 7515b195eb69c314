package load

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/readers"
)

// TestLogDeviations expects a warning about deviations and skipped rows, and no warning without
// them.
func TestLogDeviations(t *testing.T) {
	var out bytes.Buffer
	log := zerolog.New(&out)

	logDeviations(log, "a.csv", &readers.Summary{})
	if out.Len() > 0 {
		t.Fatalf("got %s, want nothing", out.String())
	}
	var sum readers.Summary
	for row := range int64(5) {
		sum.Deviations.Add(readers.Deviation{
			Offset: 10 * row, Row: row, Rule: "ragged-record",
			Done: "missing fields are null",
		})
	}
	logDeviations(log, "a.csv", &sum)
	got := out.String()
	for _, want := range []string{`"level":"warn"`, `"deviations":5`, `"ragged-record":5`, `"byte":20,"row":2`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
	if strings.Contains(got, `"byte":30`) {
		t.Errorf("got %s, want %d places at most", got, loggedDeviations)
	}
}

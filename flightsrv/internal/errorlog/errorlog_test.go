package errorlog

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// TestCounts logs a thousand errors of one kind. One is logged, and the first of the next period says
// how many were not.
func TestCounts(t *testing.T) {
	var out bytes.Buffer
	s := &Sampler{Period: time.Hour}
	kind := Kind{"DoGet", "InvalidArgument"}
	log := func() {
		s.Event(zerolog.New(&out), kind).Msg("call")
	}
	for range 1000 {
		log()
	}
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 1 {
		t.Errorf("%d lines of 1000 errors", n)
	}
	s.Event(zerolog.New(&out), Kind{"DoPut", "InvalidArgument"}).Msg("call")
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 2 {
		t.Errorf("%d lines of two kinds", n)
	}
	out.Reset()
	s.sampler(kind).Burst += 1000 // as if the period were over
	log()
	var line struct{ Suppressed int }
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Suppressed != 999 {
		t.Errorf("%s, %v", out.Bytes(), err)
	}
}

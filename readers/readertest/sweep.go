package readertest

import (
	"os"
	"strconv"
	"testing"
)

// Sweep reads random documents, one for each seed, until one differs:
//
//	VIBEFLIGHT_SWEEP       n documents; else most, and a twentieth of them under -short
//	VIBEFLIGHT_SWEEP_SEED  from this seed on; else from 0
//
// read fails the test if a document differs, and reports whether it is a table. Of a hundred
// documents or more some must be tables, or nothing was compared.
func Sweep(t *testing.T, most int, read func(seed uint64) bool) {
	t.Helper()
	documents, first := SweepRange(t, most)
	tables := 0
	for seed := first; seed < first+documents; seed++ {
		if read(uint64(seed)) {
			tables++
		}
		if t.Failed() {
			t.Fatalf("VIBEFLIGHT_SWEEP=1 VIBEFLIGHT_SWEEP_SEED=%d reads it again", seed)
		}
	}
	t.Logf("%d documents from seed %d on, %d of them tables", documents, first, tables)
	if documents >= 100 && tables == 0 {
		t.Error("no document is a table")
	}
}

// SweepRange returns the number of documents that a sweep reads, and the seed of the first one.
func SweepRange(t *testing.T, most int) (documents, first int) {
	t.Helper()
	if testing.Short() {
		most /= 20
	}
	return sweepVariable(t, "VIBEFLIGHT_SWEEP", most), sweepVariable(t, "VIBEFLIGHT_SWEEP_SEED", 0)
}

func sweepVariable(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s=%s: want a number", name, text)
	}
	return n
}

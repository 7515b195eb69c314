package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/integration/fleetsim/model"
)

const few = `{"files": {"count": 500}, "reads": {"count": 5000}}`

// write makes a file of a test and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "parameters.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTableHasAColumnForEachFleet(t *testing.T) {
	var out bytes.Buffer
	err := run([]string{"-replicas", "1,4", "-placement", "random,rendezvous", write(t, few)}, &out, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(got) != len(lines)+1 {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(lines)+1, out.String())
	}
	if head := strings.Fields(got[0]); strings.Join(head, " ") != "replicas 1 1 4 4" {
		t.Errorf("the head is %q", got[0])
	}
	if second := strings.Fields(got[1]); strings.Join(second, " ") != "placement random rendezvous random rendezvous" {
		t.Errorf("the second line is %q", got[1])
	}
}

func TestJSONHasTheResults(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"-json", "-replicas", "2", "-seed", "3", write(t, few)}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Runs []model.Result `json:"runs"`
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	results := answer.Runs
	if len(results) != 1 {
		t.Fatalf("%d results", len(results))
	}
	if r := results[0]; r.Replicas != 2 || r.Reads != 5000 || r.Parses != r.Distinct {
		t.Errorf("%+v", r)
	}
}

func TestReadsPerReplica(t *testing.T) {
	base, err := parameters([]string{write(t, few)})
	if err != nil {
		t.Fatal(err)
	}
	results, err := simulate(base, []int{1, 3}, []string{model.Random}, true)
	if err != nil {
		t.Fatal(err)
	}
	if results[0].Reads != 5000 || results[1].Reads != 15000 {
		t.Errorf("%d and %d reads", results[0].Reads, results[1].Reads)
	}
}

func TestUnknownParametersAreRefused(t *testing.T) {
	for _, text := range []string{`{"replica": {"core": 3}}`, `{"reads": {"count": "many"}}`, `{`, `{"replicas": -1}`} {
		if err := run([]string{write(t, text)}, io.Discard, io.Discard); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
	for _, args := range [][]string{
		{"-replicas", "two"}, {"-placement", "near"}, {"missing.json"}, {"-compare", "missing.json"},
	} {
		if err := run(args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// TestCompareFindsWrongPredictions compares the simulation with its own results, which are changed.
func TestCompareFindsWrongPredictions(t *testing.T) {
	const config = `{"replicas": 2, "files": {"count": 500}, "reads": {"count": 5000}}`
	base, err := parameters([]string{write(t, config)})
	if err != nil {
		t.Fatal(err)
	}
	results, err := simulate(base, []int{2}, []string{model.Rendezvous}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		factor float64
		parses int
		wrong  bool
	}{
		{"the same", 1, 0, false},
		{"14 % more", 1.14, 0, false},
		{"20 % fewer reads", 0.8, 0, true},
		{"twice the reads", 2, 0, true},
		{"each file parsed twice", 1, results[0].Parses, true},
		{"nothing measured", 0, 0, true},
	} {
		r := report{Figures: json.RawMessage(`{}`), Runs: []fleetRun{{Phase: "empty caches", Config: json.RawMessage(config)}}}
		m := &r.Runs[0].Measured
		m.Reads, m.PerSecond, m.Parses = 5000, test.factor*results[0].PerSecond, results[0].Parses+test.parses
		m.Fetches, m.P50, m.P99 = results[0].Fetches, results[0].Latency.P50, results[0].Latency.P99
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err = run([]string{"-compare", write(t, string(text))}, &out, io.Discard)
		if (err != nil) != test.wrong || strings.Contains(out.String(), "WRONG") != test.wrong {
			t.Errorf("%s: error %v\n%s", test.name, err, out.String())
		}
	}
}

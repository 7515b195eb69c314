package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/vibeflight/vibeflight/integration/fleetsim/model"
)

// report is a file that integration/bench/fleets.py has written.
type report struct {
	Date    string          `json:"date"`
	Machine string          `json:"machine"`
	Figures json.RawMessage `json:"figures"` // parameters that all runs share
	Runs    []fleetRun      `json:"runs"`
}

// fleetRun is a run of a real fleet.
type fleetRun struct {
	Phase    string          `json:"phase"`
	Config   json.RawMessage `json:"config"` // parameters of this run
	Measured struct {
		Reads     int     `json:"reads"`
		PerSecond float64 `json:"per_second"`
		P50       float64 `json:"p50_seconds"`
		P99       float64 `json:"p99_seconds"`
		Parses    int     `json:"parses"`
		Fetches   int     `json:"fetches"`
		CPU       float64 `json:"server_cpu_seconds"`
	} `json:"measured"`
}

// quantity is something that is predicted and measured.
type quantity struct {
	Replicas   int     `json:"replicas"`
	Placement  string  `json:"placement"`
	Phase      string  `json:"caches"`
	Name       string  `json:"quantity"`
	Predicted  float64 `json:"predicted"`
	Measured   float64 `json:"measured"`
	Difference float64 `json:"difference"`
	Checked    bool    `json:"checked"`
	format     string
}

// compare simulates the runs of a report and prints what was predicted next to what was measured. It
// returns an error if a quantity that is checked differs by more than a share of what was measured.
func compare(out io.Writer, path string, within float64, asJSON bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if len(r.Runs) == 0 {
		return fmt.Errorf("%s: no runs", path)
	}
	var all []quantity
	wrong := 0
	for i, run := range r.Runs {
		c, result, err := predict(r.Figures, run)
		if err != nil {
			return fmt.Errorf("%s: run %d: %w", path, i, err)
		}
		for _, q := range quantities(c, result, run) {
			q.Replicas, q.Placement, q.Phase = result.Replicas, result.Placement, run.Phase
			if q.Difference = q.Predicted/q.Measured - 1; q.Measured == 0 {
				q.Difference = 1
			}
			if q.Checked && math.Abs(q.Difference) > within {
				wrong++
			}
			all = append(all, q)
		}
	}
	if asJSON {
		err = encode(out, map[string]any{"date": r.Date, "machine": r.Machine, "within": within, "runs": all})
	} else {
		err = writeQuantities(out, all, within)
	}
	if err == nil && wrong > 0 {
		err = fmt.Errorf("%d predictions differ by more than %.0f %%", wrong, within*100)
	}
	return err
}

func writeQuantities(out io.Writer, all []quantity, within float64) error {
	t := newTable("replicas", "placement", "caches", "quantity", "predicted", "measured", "difference", "")
	for _, q := range all {
		note := ""
		if !q.Checked {
			note = "not checked"
		} else if math.Abs(q.Difference) > within {
			note = "WRONG"
		}
		t.add(
			fmt.Sprint(q.Replicas), q.Placement, q.Phase, q.Name, fmt.Sprintf(q.format, q.Predicted),
			fmt.Sprintf(q.format, q.Measured), fmt.Sprintf("%+.1f %%", q.Difference*100), note,
		)
	}
	return t.write(out)
}

// predict simulates a run. The result of a run with full caches follows a warmup, whose parses and
// fetches do not count.
func predict(figures json.RawMessage, run fleetRun) (c model.Config, result model.Result, err error) {
	if c, err = parameters(nil); err != nil {
		return c, result, err
	}
	if err = decode(figures, &c); err != nil {
		return c, result, err
	}
	if err = decode(run.Config, &c); err != nil {
		return c, result, err
	}
	s, err := model.New(c)
	if err != nil {
		return c, result, err
	}
	return c, s.Run(), nil
}

// quantities are what is compared of a run. Latencies depend on how the system schedules threads, which
// is not modelled, so they are only shown.
func quantities(c model.Config, result model.Result, run fleetRun) []quantity {
	m := run.Measured
	add := func(q []quantity, name, format string, predicted, measured float64, checked bool) []quantity {
		return append(q, quantity{
			Name: name, format: format, Predicted: predicted, Measured: measured, Checked: checked,
		})
	}
	q := add(nil, "reads per second", "%.1f", result.PerSecond, m.PerSecond, true)
	if c.Reads.Warmup == 0 {
		local := func(parses, fetches int) float64 { return 100 * (1 - float64(parses+fetches)/float64(m.Reads)) }
		q = add(q, "parses", "%.0f", float64(result.Parses), float64(m.Parses), true)
		q = add(q, "neither parsed nor fetched, %", "%.2f",
			local(result.Parses, result.Fetches), local(m.Parses, m.Fetches), true)
		if m.Fetches > 0 {
			q = add(q, "tables fetched", "%.0f", float64(result.Fetches), float64(m.Fetches), false)
		}
	}
	cpu := result.Use.CPU * c.Replica.Cores * float64(c.Replicas) * result.Seconds / float64(result.Reads)
	q = add(q, "CPU of replicas for a read, ms", "%.2f", 1e3*cpu, 1e3*m.CPU/float64(m.Reads), false)
	q = add(q, "median, ms", "%.2f", 1e3*result.Latency.P50, 1e3*m.P50, false)
	return add(q, "p99, ms", "%.2f", 1e3*result.Latency.P99, 1e3*m.P99, false)
}

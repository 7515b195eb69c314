package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/vibeflight/vibeflight/integration/fleetsim/model"
)

// line is a row of the table: what it is, and its value in a result.
type line struct {
	name  string
	value func(r model.Result) string
}

var lines = []line{
	{"replicas", func(r model.Result) string { return fmt.Sprint(r.Replicas) }},
	{"placement", func(r model.Result) string { return r.Placement }},
	{"reads", func(r model.Result) string { return fmt.Sprint(r.Reads) }},
	{"reads per second", func(r model.Result) string { return fmt.Sprintf("%.1f", r.PerSecond) }},
	{"from mapped tables", func(r model.Result) string { return percent(r.Hits.Mapped) }},
	{"from the local disk", func(r model.Result) string { return percent(r.Hits.Disk) }},
	{"from the shared cache", func(r model.Result) string { return percent(r.Hits.Shared) }},
	{"from a parse", func(r model.Result) string { return percent(r.Hits.Parse) }},
	{"distinct files", func(r model.Result) string { return fmt.Sprint(r.Distinct) }},
	{"parses", func(r model.Result) string { return fmt.Sprint(r.Parses) }},
	{"parses per file", func(r model.Result) string { return fmt.Sprintf("%.3f", r.PerFile) }},
	{"tables fetched", func(r model.Result) string { return fmt.Sprint(r.Fetches) }},
	{"waits for a lease", func(r model.Result) string { return fmt.Sprint(r.Waits) }},
	{"deaths", func(r model.Result) string { return fmt.Sprint(r.Deaths) }},
	{"reads made again", func(r model.Result) string { return fmt.Sprint(r.Retries) }},
	{"GB to clients", func(r model.Result) string { return gigabytes(r.Bytes.Clients) }},
	{"GB from the bucket", func(r model.Result) string { return gigabytes(r.Bytes.Fetched) }},
	{"GB uploaded", func(r model.Result) string { return gigabytes(r.Bytes.Upload) }},
	{"GB read from disk", func(r model.Result) string { return gigabytes(r.Bytes.Disk) }},
	{"median, ms", func(r model.Result) string { return milliseconds(r.Latency.P50) }},
	{"p99, ms", func(r model.Result) string { return milliseconds(r.Latency.P99) }},
	{"CPU, mean", func(r model.Result) string { return percent(r.Use.CPU) }},
	{"CPU, busiest replica", func(r model.Result) string { return percent(r.Use.CPUMax) }},
	{"bucket", func(r model.Result) string { return percent(r.Use.Bucket) }},
	{"reads of the busiest", func(r model.Result) string { return fmt.Sprintf("%.2f × mean", r.Use.Busiest) }},
}

func percent(share float64) string { return fmt.Sprintf("%.2f %%", share*100) }

func gigabytes(bytes float64) string { return fmt.Sprintf("%.2f", bytes/1e9) }

func milliseconds(seconds float64) string { return fmt.Sprintf("%.2f", seconds*1e3) }

// writeTable prints a column for each result.
func writeTable(out io.Writer, results []model.Result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t", l.name)
		for _, r := range results {
			fmt.Fprintf(w, "%s\t", l.value(r))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/integration/fleetsim/model"
)

// table is text in columns, the first row being the head.
type table struct {
	rows [][]string
}

func newTable(head ...string) *table { return &table{[][]string{head}} }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write prints the columns, of which those after the first are aligned to the right.
func (t *table) write(out io.Writer) error {
	width := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	var text strings.Builder
	for _, row := range t.rows {
		line := ""
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				line += cell + pad
			} else {
				line += "  " + pad + cell
			}
		}
		text.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// lines are the rows of the table of results: a name, and the value in a result.
var lines = []struct {
	name  string
	value func(r model.Result) string
}{
	{"placement", func(r model.Result) string { return r.Placement }},
	{"reads", func(r model.Result) string { return fmt.Sprint(r.Reads) }},
	{"reads per second", func(r model.Result) string { return fmt.Sprintf("%.1f", r.PerSecond) }},
	{"from mapped tables", func(r model.Result) string { return percent(r.Hits.Mapped) }},
	{"from the local disk", func(r model.Result) string { return percent(r.Hits.Disk) }},
	{"from the shared cache", func(r model.Result) string { return percent(r.Hits.Shared) }},
	{"from a parse", func(r model.Result) string { return percent(r.Hits.Parse) }},
	{"distinct files", func(r model.Result) string { return fmt.Sprint(r.Distinct) }},
	{"parses", func(r model.Result) string { return fmt.Sprint(r.Parses) }},
	{"parses per file", func(r model.Result) string { return fmt.Sprintf("%.4f", r.PerFile) }},
	{"tables fetched", func(r model.Result) string { return fmt.Sprint(r.Fetches) }},
	{"waits for a lease", func(r model.Result) string { return fmt.Sprint(r.Waits) }},
	{"deaths", func(r model.Result) string { return fmt.Sprint(r.Deaths) }},
	{"parses lost by deaths", func(r model.Result) string { return fmt.Sprint(r.Lost) }},
	{"reads made again", func(r model.Result) string { return fmt.Sprint(r.Retries) }},
	{"GB to clients", func(r model.Result) string { return gigabytes(r.Bytes.Clients) }},
	{"GB from the shared cache", func(r model.Result) string { return gigabytes(r.Bytes.Fetched) }},
	{"GB uploaded", func(r model.Result) string { return gigabytes(r.Bytes.Upload) }},
	{"GB read from disks", func(r model.Result) string { return gigabytes(r.Bytes.Disk) }},
	{"median, ms", func(r model.Result) string { return milliseconds(r.Latency.P50) }},
	{"p99, ms", func(r model.Result) string { return milliseconds(r.Latency.P99) }},
	{"CPU, mean", func(r model.Result) string { return percent(r.Use.CPU) }},
	{"CPU, busiest replica", func(r model.Result) string { return percent(r.Use.CPUMax) }},
	{"shared cache's bandwidth", func(r model.Result) string { return percent(r.Use.Bucket) }},
	{"reads of the busiest replica / mean", func(r model.Result) string { return fmt.Sprintf("%.2f", r.Use.Busiest) }},
}

func percent(share float64) string { return fmt.Sprintf("%.2f %%", share*100) }

func gigabytes(bytes float64) string { return fmt.Sprintf("%.2f", bytes/1e9) }

func milliseconds(seconds float64) string { return fmt.Sprintf("%.2f", seconds*1e3) }

// writeResults prints a column for each result.
func writeResults(out io.Writer, results []model.Result) error {
	head := []string{"replicas"}
	for _, r := range results {
		head = append(head, fmt.Sprint(r.Replicas))
	}
	t := newTable(head...)
	for _, l := range lines {
		row := []string{l.name}
		for _, r := range results {
			row = append(row, l.value(r))
		}
		t.add(row...)
	}
	return t.write(out)
}
